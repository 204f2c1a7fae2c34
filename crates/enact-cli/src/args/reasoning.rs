//! The options for reasoning and thoughts.

use clap::Args;
use clap::builder::{BoolishValueParser, PossibleValuesParser};
use enact::adapter::{Tagged, Tags};
use enact::run::ThoughtsInContext;
use enact::{AdapterChoice, Signature};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// The names of the adapters.
pub(crate) const ADAPTERS: [&str; 6] = ["auto", "native", "json", "chat", "xml", "tagged"];

/// How an agent reasons: set by a file or by flags, and noted with the run.
#[derive(Debug, Clone, Default, Args, Serialize, Deserialize, JsonSchema)]
#[command(next_help_heading = "Reasoning")]
#[serde(default)]
pub(crate) struct Reasoning {
    /// How to think before each call; `{inputs}`, `{outputs}` and `{tools}` are replaced with names.
    #[arg(long, value_name = "TEXT")]
    pub(crate) thought_prompt: Option<String>,

    /// Add an output `confidence`, from 0 to 1.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true,
          default_missing_value = "true", value_parser = BoolishValueParser::new(), hide_possible_values = true)]
    pub(crate) confidence: Option<bool>,

    /// Adapter for the steps only [default: the value of `adapter`].
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(ADAPTERS))]
    #[schemars(extend("enum" = ADAPTERS))]
    pub(crate) step_adapter: Option<String>,

    /// Label for thoughts, for the adapter `tagged` [default: Thought].
    #[arg(long, value_name = "WORD")]
    pub(crate) thought_tag: Option<String>,

    /// Label for calls, for the adapter `tagged` [default: Action].
    #[arg(long, value_name = "WORD")]
    pub(crate) action_tag: Option<String>,

    /// Label for results, for the adapter `tagged` [default: Observation].
    #[arg(long, value_name = "WORD")]
    pub(crate) observation_tag: Option<String>,
}

/// How thoughts can end a run, and what they must contain.
#[derive(Debug, Clone, Default, Args, Serialize, Deserialize, JsonSchema)]
#[command(next_help_heading = "Reasoning")]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub(crate) struct RuleArgs {
    /// Phrase in a thought that means the task is done. Can be repeated.
    #[arg(long = "success-phrase", value_name = "TEXT")]
    #[schemars(description = "Phrases in a thought that mean the task is done.")]
    pub(crate) success_phrases: Vec<String>,

    /// Phrase in a thought that means the task can't be done. Can be repeated.
    #[arg(long = "failure-phrase", value_name = "TEXT")]
    #[schemars(description = "Phrases in a thought that mean the task can't be done.")]
    pub(crate) failure_phrases: Vec<String>,

    /// After each step that called tools, ask a model whether the task is done or impossible.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true,
          default_missing_value = "true", value_parser = BoolishValueParser::new(), hide_possible_values = true)]
    pub(crate) judges: Option<bool>,

    /// Let a model summarise observations that are too large for the prompt.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true,
          default_missing_value = "true", value_parser = BoolishValueParser::new(), hide_possible_values = true)]
    pub(crate) condenses: Option<bool>,

    /// Run calls of read-only tools again, even if their results are known.
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true,
          default_missing_value = "true", value_parser = BoolishValueParser::new(), hide_possible_values = true)]
    pub(crate) reads_again: Option<bool>,

    #[command(flatten)]
    #[schemars(description = "Requirements for the thought before a call.")]
    pub(crate) thoughts: ThoughtArgs,

    /// Thoughts to show in later prompts: all, none, or the last N [default: all].
    #[arg(long, value_name = "all|none|N", value_parser = thoughts_in_context)]
    #[schemars(
        schema_with = "thoughts_in_context_schema",
        description = "Thoughts in later prompts: \"all\", \"none\", or { last = 3 } [default: \"all\"]."
    )]
    pub(crate) thoughts_in_context: Option<ThoughtsInContext>,
}

/// Requirements for the thought before a call.
#[derive(Debug, Clone, Default, Args, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub(crate) struct ThoughtArgs {
    /// Reject calls without a thought.
    #[arg(long = "thoughts-required", value_name = "BOOL", num_args = 0..=1, require_equals = true,
          default_missing_value = "true", value_parser = BoolishValueParser::new(), hide_possible_values = true)]
    pub(crate) required: Option<bool>,

    /// Reject calls whose thought has fewer characters.
    #[arg(long = "thoughts-min-length", value_name = "N")]
    pub(crate) min_length: Option<u32>,

    /// Reject calls whose thought says nothing about the task, such as "I will use the tool".
    #[arg(long = "thoughts-substantive", value_name = "BOOL", num_args = 0..=1, require_equals = true,
          default_missing_value = "true", value_parser = BoolishValueParser::new(), hide_possible_values = true)]
    pub(crate) substantive: Option<bool>,

    /// Reject calls that repeat the last thought.
    #[arg(long = "thoughts-new", value_name = "BOOL", num_args = 0..=1, require_equals = true,
          default_missing_value = "true", value_parser = BoolishValueParser::new(), hide_possible_values = true)]
    pub(crate) new: Option<bool>,
}

impl Reasoning {
    /// The adapter with this name, with the tags applied.
    pub(crate) fn adapter(&self, name: Option<&str>) -> Result<AdapterChoice, String> {
        match name {
            Some("tagged") => Ok(Tagged::new(self.tags()?).into()),
            Some(name) => name
                .parse()
                .map_err(|error: enact::adapter::UnknownAdapter| error.to_string()),
            None => Ok(AdapterChoice::default()),
        }
    }

    /// Checks the options against each other, the adapter and the signature. The error contains the option
    /// and the problem.
    pub(crate) fn check(
        &self,
        adapter: Option<&str>,
        signature: &Signature,
    ) -> Result<(), (&'static str, String)> {
        let given = [
            ("thought_tag", &self.thought_tag),
            ("action_tag", &self.action_tag),
            ("observation_tag", &self.observation_tag),
        ];
        let mut tags = given.iter().filter(|(_, tag)| tag.is_some());
        let is_tagged = [adapter, self.step_adapter.as_deref()].contains(&Some("tagged"));
        if let Some((name, _)) = tags.next() {
            if !is_tagged {
                let message = "tags are for the adapter `tagged`: set `adapter` or `step_adapter` \
                               to it, or leave the tag out";
                return Err((name, message.to_owned()));
            }
            self.tags().map_err(|message| (*name, message))?;
        }
        let agent = || enact::ReAct::builder(signature.clone());
        if let Some(prompt) = &self.thought_prompt {
            let built = agent().thought_prompt(prompt).build();
            built.map_err(|error| ("thought_prompt", error.to_string()))?;
        }
        if self.confidence == Some(true) {
            let built = agent().confidence().build();
            built.map_err(|error| ("confidence", error.to_string()))?;
        }
        Ok(())
    }

    fn tags(&self) -> Result<Tags, String> {
        let mut tags = Tags::default();
        for (tag, given) in [
            (&mut tags.thought, &self.thought_tag),
            (&mut tags.action, &self.action_tag),
            (&mut tags.observation, &self.observation_tag),
        ] {
            if let Some(word) = given {
                let is_word = word.trim() == word && !word.is_empty();
                if !is_word || word.chars().count() > 40 || word.contains([':', '\n', '\r']) {
                    return Err(format!(
                        "the tag `{word}` cannot be used: give a word of up to 40 characters, \
                         without a colon"
                    ));
                }
                tag.clone_from(word);
            }
        }
        let words = [&tags.thought, &tags.action, &tags.observation].map(|tag| tag.to_lowercase());
        let [thought, action, observation] = &words;
        if thought == action || thought == observation || action == observation {
            return Err(format!(
                "the tags {}, {} and {} have to differ",
                tags.thought, tags.action, tags.observation
            ));
        }
        Ok(tags)
    }
}

fn thoughts_in_context(text: &str) -> Result<ThoughtsInContext, String> {
    match text {
        "all" => Ok(ThoughtsInContext::All),
        "none" => Ok(ThoughtsInContext::None),
        _ => match text.parse() {
            Ok(last) => Ok(ThoughtsInContext::Last(last)),
            Err(_) => Err("give `all`, `none` or a number of steps".to_owned()),
        },
    }
}

fn thoughts_in_context_schema(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "anyOf": [
            {
                "description": "All thoughts, or none.",
                "type": "string",
                "enum": ["all", "none"],
            },
            {
                "description": "Thoughts of the last steps.",
                "type": "object",
                "additionalProperties": false,
                "properties": {
                    "last": {
                        "description": "Number of steps.",
                        "type": "integer",
                        "minimum": 0,
                        "maximum": u32::MAX,
                    },
                },
                "required": json!(["last"]),
            },
        ],
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_tags(thought: &str, action: Option<&str>) -> Reasoning {
        Reasoning {
            thought_tag: Some(thought.to_owned()),
            action_tag: action.map(str::to_owned),
            ..Reasoning::default()
        }
    }

    #[test]
    fn tags_have_to_be_words_that_differ() {
        let signature = Signature::parse("question -> answer").unwrap();
        let check = |tags: Reasoning| tags.check(Some("tagged"), &signature);
        assert_eq!(check(with_tags("Plan", None)), Ok(()));
        assert_eq!(check(with_tags("Action", Some("Thought"))), Ok(()));
        for (thought, action) in [
            ("", None),
            (" Plan", None),
            ("Plan:", None),
            ("action", None),
            ("Do", Some("do")),
        ] {
            let wrong = check(with_tags(thought, action));
            assert_eq!(wrong.unwrap_err().0, "thought_tag", "{thought:?}");
        }
        let wrong = with_tags("Plan", None).check(None, &signature).unwrap_err();
        assert!(wrong.1.contains("adapter `tagged`"), "{wrong:?}");
    }

    #[test]
    fn thoughts_in_context_are_words_or_a_number() {
        assert_eq!(thoughts_in_context("all"), Ok(ThoughtsInContext::All));
        assert_eq!(thoughts_in_context("3"), Ok(ThoughtsInContext::Last(3)));
        assert!(thoughts_in_context("some").is_err());
    }
}
