//! The options of how models are asked.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use enact::Completion;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::reasoning::ADAPTERS;

/// How models are asked: said by a file or by flags, and noted with the run.
#[derive(Debug, Clone, Default, Args, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct Asking {
    /// The server for models that are named without a provider: any that speaks OpenAI's chat
    /// completions; OPENAI_BASE_URL unless given.
    #[arg(long, value_name = "URL")]
    #[schemars(
        description = "The server for models that are named without a provider: any that speaks \
                       OpenAI's chat\ncompletions.",
        extend("format" = "address")
    )]
    #[serde(serialize_with = "crate::models::store_address")]
    pub(crate) base_url: Option<String>,

    /// How the task is put into words: auto, native, json, chat, xml or tagged.
    #[arg(long, value_name = "NAME")]
    #[schemars(
        description = "How the task is put into words.",
        extend("enum" = ADAPTERS)
    )]
    pub(crate) adapter: Option<String>,

    /// Find out again what the model can do, for `auto`, although it is remembered.
    #[arg(long = "probe", conflicts_with = "no_probe")]
    #[serde(skip)]
    pub(crate) probe_again: bool,

    /// Do not find out what the model can do, where it is not remembered: trust that it calls tools;
    /// ENACT_PROBE=off says the same.
    #[arg(long)]
    #[serde(skip)]
    pub(crate) no_probe: bool,

    /// Whether it may be found out what the model can do, for the adapter `auto`; true unless given.
    #[arg(skip)]
    pub(crate) probe: Option<bool>,

    /// How the agent comes to its outputs.
    #[arg(long, value_parser = completion())]
    #[schemars(
        with = "Option<String>",
        description = "How the agent comes to its outputs: `submit` hands them in by a tool, \
                       `finish` has them\nextracted.",
        extend("enum" = ["submit", "finish"])
    )]
    pub(crate) completion: Option<Completion>,
}

/// What bounds the replies of models, and how fast they are asked for.
#[derive(Debug, Clone, Default, Args, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct Replies {
    /// Sampling temperature.
    #[arg(long, value_name = "T", value_parser = temperature)]
    #[schemars(range(min = 0))]
    pub(crate) temperature: Option<f64>,

    /// How many tokens a reply may have; 8192 unless given, and no limit of ours at the hosted APIs of
    /// providers.
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

/// How fast models may be asked, and what is kept of their replies.
#[derive(Debug, Clone, Default, Args, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct Pace {
    /// How often a model may be asked in a minute.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    #[schemars(range(min = 1))]
    pub(crate) requests_per_minute: Option<u32>,

    /// How many requests to a model may be under way at a time.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    #[schemars(range(min = 1))]
    pub(crate) concurrent_requests: Option<u32>,

    /// Keep replies in this folder, and give them again to the same request.
    #[arg(long, value_name = "DIR")]
    #[schemars(
        description = "A folder to keep replies in, which are given again to the same request."
    )]
    pub(crate) cache: Option<PathBuf>,
}

fn completion() -> impl TypedValueParser<Value = Completion> {
    let submit =
        PossibleValue::new("submit").help("It hands the outputs in by a tool, the default");
    let finish =
        PossibleValue::new("finish").help("It says when it is done, and the outputs are extracted");
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
