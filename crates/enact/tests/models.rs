//! Wrappers around models: others when one fails, limits, a cache, recordings.

use enact::model::{Message, Request};

mod models {
    mod cache;
    mod fallback;
    mod limits;
    mod recording;
}

fn ask(text: &str) -> Request {
    Request::new([Message::user(text)].into_iter().collect())
}
