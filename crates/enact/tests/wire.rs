//! The OpenAI-compatible client against a server that decides every byte.
#![cfg(feature = "providers")]
#![expect(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test fails by panicking"
)]

use enact::model::openai::OpenAi;
use enact::model::{Message, Request};
use enact_test_server::TestServer;

mod wire {
    mod failures;
    mod lengths;
    mod refusals;
    mod replies;
    mod requests;
    mod retries;
}

fn client(server: &TestServer) -> OpenAi {
    OpenAi::new("test-model")
        .with_base_url(server.base_url())
        .unwrap()
}

fn ask(text: &str) -> Request {
    Request::new([Message::user(text)].into_iter().collect())
}
