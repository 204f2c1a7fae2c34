//! Wrappers around models: others when one fails, limits, a cache, recordings.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use enact::model::{Message, Request};

mod models {
    mod cache;
    mod fallback;
    mod limits;
    mod probing;
    mod recording;
}

fn ask(text: &str) -> Request {
    Request::new([Message::user(text)].into_iter().collect())
}
