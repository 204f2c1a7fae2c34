//! Models of providers, by name: hosted ones, and servers on this machine.
//!
//! [`model`] takes a name such as `anthropic::claude-sonnet-4-5`, `groq::llama-3.3-70b-versatile`
//! or `gemini::gemini-2.5-flash` and gives a model that behaves like every other of enact's: tools
//! and parallel calls, reasoning that goes back to the provider, usage with cached tokens, response
//! schemas, errors with kinds, and retries after failures that may pass.
//!
//! ```no_run
//! # fn main() -> Result<(), enact::model::ModelError> {
//! // The key is in GEMINI_API_KEY.
//! let model = enact::model("gemini::gemini-2.5-flash")?;
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
mod keys;
mod name;
pub mod openai;
mod portable;
mod prices;
mod probe;
mod provider;

use std::sync::Arc;

use enact_core::LanguageModel;
use enact_core::model::{ModelError, Retrying};

pub use self::anthropic::Anthropic;
pub use self::genai::client::Genai;
pub use self::hosted::is_hosted;
pub use self::http::{Client, credentials};
pub use self::keys::{KeySource, keep_keys};
pub use self::name::{resolve, split};
pub use self::openai::OpenAi;
pub use self::prices::{PRICES_AS_OF, prices, prices_at};
pub use self::probe::{WithCapabilities, probe};
pub use self::provider::Provider;

/// The model of this name, such as `anthropic::claude-sonnet-4-5` or in short `claude-sonnet-4-5` (see
/// [`resolve`]), with the key and the address that the environment names for its provider. It [asks again](Retrying) after failures that may pass;
/// [`Provider::model`] gives one that does not.
///
/// ```no_run
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use enact::{ReAct, Tools};
///
/// // The key is in ANTHROPIC_API_KEY.
/// let model = enact::model("anthropic::claude-sonnet-4-5")?;
/// let agent = ReAct::builder("question -> answer").model(model).build()?;
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// When there is no such provider, or the environment has no key for it.
pub fn model(name: &str) -> Result<Arc<dyn LanguageModel>, ModelError> {
    let Some((provider, model)) = resolve(name) else {
        return Err(name::incomplete(name));
    };
    let model = Provider::named(provider)?.model(model)?;
    Ok(Arc::new(Retrying::new(model)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_by_its_name_is_retried() {
        // A local server needs no key.
        let model = model("ollama::qwen3").unwrap();
        assert_eq!(model.name(), "qwen3");
        assert!(format!("{model:?}").starts_with("Retrying"), "{model:?}");
    }

    #[test]
    fn a_name_without_a_known_provider_is_refused() {
        for name in ["qwen3", "nobody::qwen3"] {
            assert!(model(name).is_err(), "{name}");
        }
    }
}
