//! Models of providers, by name: hosted ones, and local servers.
//!
//! [`model`] takes a name such as `anthropic::claude-sonnet-4-5`, `groq::llama-3.3-70b-versatile`
//! or `gemini::gemini-2.5-flash` and returns a model with all features of enact: tools and parallel
//! calls, reasoning that is returned to the provider, usage with cached tokens, response schemas,
//! classified errors, and retries after temporary failures.
//!
//! ```no_run
//! # fn main() -> Result<(), enact::model::ModelError> {
//! // The key is in GEMINI_API_KEY.
//! let model = enact::model("gemini::gemini-2.5-flash")?;
//! # Ok(())
//! # }
//! ```
//!
//! How providers are accessed:
//!
//! - Providers with OpenAI's or Anthropic's protocol, including local servers
//!   (`ollama`, `llamacpp`), are accessed with enact's own clients
//!   ([`OpenAi`], [`Anthropic`]).
//! - The others, such as Gemini, Vertex AI, Bedrock and OpenAI's Responses API, are accessed through
//!   [genai](https://docs.rs/genai): [`Genai`].
//!
//! [`Provider`] lists the providers, the variables of their keys, and their models. [`probe()`]
//! determines the actual capabilities of a model.

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

/// The model with this name, such as `anthropic::claude-sonnet-4-5` or `claude-sonnet-4-5` for short (see
/// [`resolve`]), with the key and the address in the environment. It [retries](Retrying) after temporary
/// failures; [`Provider::model`] returns one that doesn't.
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
/// If the provider doesn't exist, or the environment has no key for it.
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
