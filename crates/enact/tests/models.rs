//! Wrappers around models: others when one fails, limits, a cache.

use enact::model::{Message, Request};

mod models {
    mod cache;
    mod fallback;
    mod limits;
}

fn ask(text: &str) -> Request {
    Request::new([Message::user(text)].into_iter().collect())
}
