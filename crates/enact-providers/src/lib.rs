//! Models of providers, by name: hosted ones, and servers on this machine.
//!
//! [`model`] takes a name such as `anthropic::claude-sonnet-4-5`, `groq::llama-3.3-70b-versatile`
//! or `gemini::gemini-2.5-flash` and gives a model that behaves like every other of enact's: tools
//! and parallel calls, reasoning that goes back to the provider, usage with cached tokens, response
//! schemas, errors with kinds.
//!
//! ```no_run
//! # fn main() -> Result<(), enact::model::ModelError> {
//! use enact::model::Retrying;
//!
//! // The key is in GEMINI_API_KEY.
//! let model = Retrying::new(enact_providers::model("gemini::gemini-2.5-flash")?);
//! # Ok(())
//! # }
//! ```
//!
//! Who is asked how:
//!
//! - Providers that speak OpenAI's or Anthropic's protocol are asked by enact's own clients
//!   ([`OpenAi`], [`Anthropic`]), local servers
//!   (`ollama`, `llamacpp`) included.
//! - The others, such as Gemini, Vertex AI, Bedrock and OpenAI's responses, are asked through
//!   [genai](https://docs.rs/genai): [`Genai`].
//!
//! [`Provider`] tells which there are, where their keys are looked for, and what models they have.
//! [`probe()`] finds out what a model behind a server really does.

pub mod anthropic;
mod genai;
mod hosted;
mod http;
pub mod openai;
mod probe;
mod provider;

use std::sync::Arc;

use enact_core::LanguageModel;
use enact_core::model::ModelError;

pub use self::anthropic::Anthropic;
pub use self::genai::client::Genai;
pub use self::hosted::is_hosted;
pub use self::openai::OpenAi;
pub use self::probe::{WithCapabilities, probe};
pub use self::provider::Provider;

/// What stands between a provider and its model.
const SEPARATOR: &str = "::";

/// The provider and the model of a name, if it names a provider.
///
/// ```
/// assert_eq!(enact_providers::split("groq::llama"), Some(("groq", "llama")));
/// assert_eq!(enact_providers::split("llama"), None);
/// ```
pub fn split(name: &str) -> Option<(&str, &str)> {
    name.split_once(SEPARATOR)
}

/// The model of this name, such as `gemini::gemini-2.5-flash`, with the key and the address that
/// the environment names for its provider.
///
/// # Errors
/// When there is no such provider, or the environment has no key for it.
pub fn model(name: &str) -> Result<Arc<dyn LanguageModel>, ModelError> {
    let Some((provider, model)) = split(name) else {
        return Err(provider::unknown(name));
    };
    Provider::named(provider)?.model(model)
}
