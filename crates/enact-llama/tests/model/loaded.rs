//! The model file of the tests.

use std::num::NonZeroU32;
use std::path::PathBuf;

use enact::model::{Message, ModelOptions, Prompt, Request};
use enact_llama::{Loading, LocalModel};

pub(crate) fn file() -> PathBuf {
    match std::env::var_os("ENACT_TEST_MODEL") {
        Some(file) => file.into(),
        None => panic!(
            "ENACT_TEST_MODEL names no model file: run the tests with \
             ENACT_TEST_MODEL=$(.ci/local-model)"
        ),
    }
}

/// With a context of this many tokens.
pub(crate) fn loading(context_tokens: u32) -> Loading {
    LocalModel::file(file()).with_context_tokens(NonZeroU32::new(context_tokens).unwrap())
}

pub(crate) fn load(context_tokens: u32) -> LocalModel {
    loading(context_tokens).load().unwrap()
}

/// At most this many tokens, the likeliest ones.
pub(crate) fn at_most(tokens: u32) -> ModelOptions {
    let mut options = ModelOptions::default();
    options.max_tokens = Some(tokens);
    options
}

/// A question to be answered in at most this many tokens.
pub(crate) fn asking(question: &str, tokens: u32) -> Request {
    let messages = [
        Message::System {
            text: "You are a helpful assistant.".to_owned(),
        },
        Message::user(question),
    ];
    Request::new(Prompt::from_iter(messages)).with_options(at_most(tokens))
}
