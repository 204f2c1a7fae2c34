//! The options for requests to models.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use enact::Completion;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::reasoning::ADAPTERS;

/// How models are asked: set by a file or by flags, and noted with the run.
#[derive(Debug, Clone, Default, Args, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct Asking {
    /// Server for models without a provider; any with OpenAI's chat completions API [default:
    /// OPENAI_BASE_URL, else OpenAI].
    #[arg(long, value_name = "URL")]
    #[schemars(
        description = "Server for models without a provider; any with OpenAI's chat completions API\n\
                       [default: OPENAI_BASE_URL, else OpenAI].",
        extend("format" = "address")
    )]
    #[serde(serialize_with = "crate::models::store_address")]
    pub(crate) base_url: Option<String>,

    /// Prompt format: auto, native, json, chat, xml or tagged [default: auto].
    #[arg(long, value_name = "NAME")]
    #[schemars(
        description = "Prompt format [default: \"auto\"].",
        extend("enum" = ADAPTERS)
    )]
    pub(crate) adapter: Option<String>,

    /// Probe the capabilities of the model again, even if they are stored.
    #[arg(long = "probe", conflicts_with = "no_probe")]
    #[serde(skip)]
    pub(crate) probe_again: bool,

    /// Don't probe the model; if no result is stored, assume that it calls tools. ENACT_PROBE=off does
    /// the same.
    #[arg(long)]
    #[serde(skip)]
    pub(crate) no_probe: bool,

    /// Whether the adapter `auto` may probe the model [default: true].
    #[arg(skip)]
    pub(crate) probe: Option<bool>,

    /// How the agent returns its outputs.
    #[arg(long, value_parser = completion())]
    #[schemars(
        with = "Option<String>",
        description = "How the agent returns its outputs: `submit` calls a tool, `finish` extracts them \
                       afterwards\n[default: \"submit\"].",
        extend("enum" = ["submit", "finish"])
    )]
    pub(crate) completion: Option<Completion>,
}

/// Limits for replies and requests.
#[derive(Debug, Clone, Default, Args, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct Replies {
    /// Sampling temperature [default: the server's].
    #[arg(long, value_name = "T", value_parser = temperature)]
    #[schemars(range(min = 0))]
    pub(crate) temperature: Option<f64>,

    /// Tokens per reply [default: 8192; the provider's limit at hosted APIs].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    #[schemars(range(min = 1))]
    pub(crate) max_tokens: Option<u32>,

    /// Seed, for providers that support one.
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<u64>,

    /// How much a reasoning model reasons, in the provider's words, such as low, medium or high.
    #[arg(long, value_name = "EFFORT")]
    #[schemars(length(min = 1))]
    pub(crate) reasoning_effort: Option<String>,

    #[command(flatten)]
    #[schemars(flatten)]
    pub(crate) pace: Pace,
}

/// Rate limits and the reply cache.
#[derive(Debug, Clone, Default, Args, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct Pace {
    /// Requests per minute to each model [default: unlimited].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    #[schemars(range(min = 1))]
    pub(crate) requests_per_minute: Option<u32>,

    /// Concurrent requests to each model [default: unlimited].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    #[schemars(range(min = 1))]
    pub(crate) concurrent_requests: Option<u32>,

    /// Store replies in this directory, and reuse them for identical requests.
    #[arg(long, value_name = "DIR")]
    #[schemars(
        description = "Directory that stores replies, to reuse them for identical requests."
    )]
    pub(crate) cache: Option<PathBuf>,
}

fn completion() -> impl TypedValueParser<Value = Completion> {
    let submit =
        PossibleValue::new("submit").help("Submit the outputs through the `submit` tool (default)");
    let finish =
        PossibleValue::new("finish").help("Call `finish` when done; the outputs are extracted");
    PossibleValuesParser::new([submit, finish]).map(|name| match name.as_str() {
        "finish" => Completion::Finish,
        _ => Completion::Submit,
    })
}

fn temperature(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(value) if value.is_finite() && value >= 0.0 => Ok(value),
        _ => Err("give a number of 0 or more".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn temperatures_are_numbers_of_zero_or_more() {
        assert_eq!(temperature("0.7"), Ok(0.7));
        for bad in ["-1", "NaN", "inf", "warm"] {
            assert!(temperature(bad).is_err(), "{bad}");
        }
    }
}
