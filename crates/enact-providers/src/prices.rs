//! Prices of some providers' models, from their public price lists.

use enact_core::LanguageModel;
use enact_core::model::{Price, Prices};

use crate::hosted::host;

/// The date of the built-in prices.
pub const PRICES_AS_OF: &str = "2026-11";

/// The models of a provider: USD per million input, cached and output tokens. For a model whose price
/// depends on the length of the prompt, this is the lowest price.
struct List {
    host: &'static str,
    models: &'static [(&'static str, f64, Option<f64>, f64)],
}

const LISTS: [List; 7] = [
    List {
        host: "api.openai.com",
        models: &[
            ("gpt-4.1", 2.0, Some(0.5), 8.0),
            ("gpt-4.1-mini", 0.4, Some(0.1), 1.6),
            ("gpt-4.1-nano", 0.1, Some(0.025), 0.4),
            ("gpt-4o", 2.5, Some(1.25), 10.0),
            ("gpt-4o-2024-05-13", 5.0, None, 15.0),
            ("gpt-4o-mini", 0.15, Some(0.075), 0.6),
            ("gpt-5", 1.25, Some(0.125), 10.0),
            ("gpt-5-mini", 0.25, Some(0.025), 2.0),
            ("gpt-5-nano", 0.05, Some(0.005), 0.4),
            ("gpt-5-pro", 15.0, None, 120.0),
            ("gpt-5.1", 1.25, Some(0.125), 10.0),
            ("gpt-5.2", 1.75, Some(0.175), 14.0),
            ("gpt-5.3", 1.75, Some(0.175), 14.0),
            ("gpt-5.4", 2.5, Some(0.25), 15.0),
            ("gpt-5.4-mini", 0.75, Some(0.075), 4.5),
            ("gpt-5.4-nano", 0.2, Some(0.02), 1.25),
            ("gpt-5.5", 5.0, Some(0.5), 30.0),
            ("gpt-5.6-luna", 0.2, Some(0.02), 1.2),
            ("gpt-5.6-sol", 4.0, Some(0.4), 20.0),
            ("gpt-5.6-terra", 2.0, Some(0.2), 12.0),
            ("gpt-6-astra", 10.0, Some(1.0), 50.0),
            ("gpt-6-luna", 0.1, Some(0.01), 0.5),
            ("gpt-6-sol", 2.0, Some(0.2), 10.0),
            ("gpt-6.1-sol", 2.0, Some(0.1), 10.0),
            ("gpt-6.1-terra", 1.0, Some(0.05), 5.0),
            ("o3", 2.0, Some(0.5), 8.0),
            ("o3-mini", 1.1, Some(0.55), 4.4),
            ("o3-pro", 20.0, None, 80.0),
            ("o4-mini", 1.1, Some(0.275), 4.4),
        ],
    },
    List {
        host: "api.anthropic.com",
        models: &[
            ("claude-3-5-haiku", 0.8, Some(0.08), 4.0),
            ("claude-3-7-sonnet", 3.0, Some(0.3), 15.0),
            ("claude-fable-5", 10.0, Some(1.0), 50.0),
            ("claude-fable-5-1", 10.0, Some(0.25), 50.0),
            ("claude-fable-5-2", 8.0, Some(0.2), 40.0),
            ("claude-haiku-4-5", 1.0, Some(0.1), 5.0),
            ("claude-haiku-5-5", 0.1, Some(0.01), 0.5),
            ("claude-opus-4", 15.0, Some(1.5), 75.0),
            ("claude-opus-4-0", 15.0, Some(1.5), 75.0),
            ("claude-opus-4-1", 15.0, Some(1.5), 75.0),
            ("claude-opus-4-5", 5.0, Some(0.5), 25.0),
            ("claude-opus-4-6", 5.0, Some(0.5), 25.0),
            ("claude-opus-4-7", 5.0, Some(0.5), 25.0),
            ("claude-opus-4-8", 5.0, Some(0.5), 25.0),
            ("claude-opus-5", 5.0, Some(0.5), 25.0),
            ("claude-opus-5-5", 4.0, Some(0.2), 20.0),
            ("claude-sonnet-4", 3.0, Some(0.3), 15.0),
            ("claude-sonnet-4-0", 3.0, Some(0.3), 15.0),
            ("claude-sonnet-4-5", 3.0, Some(0.3), 15.0),
            ("claude-sonnet-4-6", 3.0, Some(0.3), 15.0),
            ("claude-sonnet-5", 2.0, Some(0.2), 10.0),
            ("claude-sonnet-5-5", 2.0, Some(0.1), 10.0),
        ],
    },
    List {
        host: "generativelanguage.googleapis.com",
        models: &[
            ("gemini-2.5-flash", 0.3, Some(0.03), 2.5),
            ("gemini-2.5-flash-lite", 0.1, Some(0.01), 0.4),
            ("gemini-2.5-pro", 1.25, Some(0.125), 10.0),
            ("gemini-3-flash", 0.5, Some(0.05), 3.0),
            ("gemini-3-pro", 2.0, Some(0.2), 12.0),
            ("gemini-3.1-flash-lite", 0.25, Some(0.025), 1.5),
            ("gemini-3.1-pro", 2.0, Some(0.2), 12.0),
            ("gemini-3.5-flash", 1.5, Some(0.15), 9.0),
            ("gemini-3.5-flash-lite", 0.3, Some(0.03), 2.5),
            ("gemini-3.6-flash", 1.5, Some(0.15), 7.5),
            ("gemini-3.7-flash", 1.5, Some(0.15), 7.5),
            ("gemini-3.8-flash", 1.5, Some(0.15), 7.5),
            ("gemini-4-argon", 4.0, Some(0.2), 20.0),
        ],
    },
    List {
        host: "api.deepseek.com",
        models: &[
            ("deepseek-chat", 0.27, Some(0.07), 1.1),
            ("deepseek-reasoner", 0.55, Some(0.14), 2.19),
            ("deepseek-v4-flash", 0.3, Some(0.006), 1.2),
            ("deepseek-v4-pro", 1.32, Some(0.044), 3.96),
        ],
    },
    List {
        host: "api.mistral.ai",
        models: &[
            ("codestral-2508", 0.3, Some(0.03), 0.9),
            ("devstral-2512", 0.4, Some(0.04), 2.0),
            ("magistral-medium", 2.0, None, 5.0),
            ("magistral-small", 0.5, None, 1.5),
            ("ministral-8b-latest", 0.15, Some(0.015), 0.15),
            ("mistral-large-2512", 0.5, Some(0.05), 1.5),
            ("mistral-large-4", 0.7, Some(0.07), 2.1),
            ("mistral-medium-3-5", 1.5, Some(0.15), 7.5),
            ("mistral-medium-latest", 1.5, Some(0.15), 7.5),
            ("mistral-small-2603", 0.15, Some(0.015), 0.6),
            ("mistral-small-latest", 0.15, Some(0.015), 0.6),
        ],
    },
    List {
        host: "api.x.ai",
        models: &[
            ("grok-3", 3.0, Some(0.75), 15.0),
            ("grok-3-mini", 0.3, Some(0.075), 0.5),
            ("grok-4", 3.0, Some(0.75), 15.0),
            ("grok-4-1-fast-non-reasoning", 0.2, Some(0.05), 0.5),
            ("grok-4-1-fast-reasoning", 0.2, Some(0.05), 0.5),
            ("grok-4.3", 1.25, Some(0.2), 2.5),
            ("grok-4.5", 2.0, Some(0.3), 6.0),
            ("grok-4.6", 2.0, Some(0.5), 6.0),
            ("grok-4.7", 2.0, Some(0.5), 6.0),
            ("grok-code-fast-1", 0.2, Some(0.02), 1.5),
        ],
    },
    List {
        host: "api.groq.com",
        models: &[
            ("llama-3.1-8b-instant", 0.05, None, 0.08),
            ("llama-3.3-70b-versatile", 0.59, None, 0.79),
            (
                "meta-llama/llama-4-scout-17b-16e-instruct",
                0.11,
                None,
                0.34,
            ),
            ("openai/gpt-oss-120b", 0.15, Some(0.075), 0.6),
            ("openai/gpt-oss-20b", 0.075, Some(0.0375), 0.3),
            ("qwen/qwen3-32b", 0.29, None, 0.59),
        ],
    },
];

/// The built-in price of a provider's models at this address, in USD and as of
/// [`PRICES_AS_OF`]: an estimate, since providers change their prices. `None` at any other address,
/// such as a local server or a proxy.
///
/// ```
/// let prices = enact_providers::prices_at("https://api.openai.com/v1").unwrap_or_default();
/// assert!(prices.get("gpt-4o-mini").is_some());
/// assert!(enact_providers::prices_at("http://localhost:11434/v1").is_none());
/// ```
pub fn prices_at(base_url: &str) -> Option<Prices> {
    let host = host(base_url)?;
    let list = LISTS.iter().find(|list| list.host == host)?;
    let models = list.models.iter();
    Some(
        models.fold(Prices::new(), |prices, (name, input, cached, output)| {
            prices.with(
                *name,
                Price {
                    input: *input,
                    cached_input: *cached,
                    output: *output,
                },
            )
        }),
    )
}

/// The built-in price of this model, for [`prices`](enact_core::Builder::prices) of an agent: in USD,
/// as of [`PRICES_AS_OF`], and an estimate. Empty if it is unknown.
///
/// ```no_run
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use enact::ReAct;
///
/// let model = enact::model("openai::gpt-4o-mini")?;
/// let agent = ReAct::builder("question -> answer")
///     .prices(enact_providers::prices(&*model))
///     .limits(|limits| limits.cost_budget = Some(0.05))
///     .model(model)
///     .build()?;
/// # Ok(())
/// # }
/// ```
pub fn prices(model: &dyn LanguageModel) -> Prices {
    let known = model.base_url().and_then(prices_at).unwrap_or_default();
    match known.get(model.name()) {
        Some(price) => Prices::new().with(model.name(), price),
        None => Prices::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Provider;

    #[test]
    fn every_list_is_that_of_a_provider() {
        for list in &LISTS {
            let is_its =
                |provider: &Provider| host(&provider.usual_address()).as_deref() == Some(list.host);
            assert!(Provider::all().iter().any(is_its), "{}", list.host);
            let mut names: Vec<&str> = list.models.iter().map(|model| model.0).collect();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), list.models.len(), "{}", list.host);
            for (name, input, cached, output) in list.models {
                let cached = cached.unwrap_or(*input);
                assert!(
                    0.0 < cached && cached <= *input && input <= output,
                    "{name}"
                );
            }
        }
    }

    #[test]
    fn only_the_model_itself_at_its_provider_has_a_price() {
        let input = |address: &str, model: &str| Some(prices_at(address)?.get(model)?.input);
        let openai = "https://api.openai.com/v1";
        assert_eq!(input(openai, "gpt-4o-2024-08-06"), Some(2.5));
        assert_eq!(input(openai, "gpt-4o-2024-05-13"), Some(5.0));
        assert_eq!(input(openai, "gpt-5-foo"), None);
        let anthropic = "https://api.anthropic.com/v1";
        assert_eq!(input(anthropic, "claude-opus-4-20250514"), Some(15.0));
        assert_eq!(input(anthropic, "claude-opus-4-5-20251101"), Some(5.0));
        assert_eq!(input(anthropic, "claude-opus-4-9"), None);
        assert_eq!(input(anthropic, "gpt-4o"), None);
        for other in [
            "http://localhost:1/v1",
            "https://proxy.example/v1",
            "nowhere",
        ] {
            assert_eq!(input(other, "gpt-4o"), None, "{other}");
        }
    }
}
