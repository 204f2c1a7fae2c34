//! Whether the corpus holds everything that a log can hold.

use std::collections::BTreeSet;

use enact::model::{FinishReason, ImageSource, ModelErrorKind, Part};
use enact::run::{
    Answerer, Completion, Decision, Entry, Event, Notice, PredictorName, QuestionKind, Reading,
    RepairKind, Standing, StepOutcome, TerminationReason,
};
use enact::tool::{Confirmation, Effect};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::page;

/// Keys that are left out where they say nothing.
const OPTIONAL_KEYS: [&str; 68] = [
    "answer_within_ns",
    "answered_by",
    "attempts",
    "base_url",
    "by",
    "cached_input",
    "cached_input_tokens",
    "call_id",
    "calls",
    "changes",
    "completion",
    "condenses",
    "confirm",
    "confirmation",
    "cost",
    "cost_budget",
    "default",
    "description",
    "effect",
    "failure_phrases",
    "finish",
    "history",
    "id",
    "images",
    "input_tokens",
    "instructions",
    "is_error",
    "is_unattended",
    "judges",
    "kind",
    "limits",
    "max_iterations",
    "max_observation_tokens",
    "max_repairs",
    "max_tool_calls",
    "notes",
    "opaque",
    "outcome",
    "output_tokens",
    "own_confirmation",
    "parent",
    "prices",
    "raw",
    "reads_again",
    "reasoning",
    "reasoning_tokens",
    "refusal",
    "repairs",
    "replaces",
    "requests",
    "rules",
    "schema",
    "seal",
    "serial",
    "source",
    "stall_threshold",
    "step_adapter",
    "success_phrases",
    "text",
    "thought",
    "thoughts",
    "thoughts_in_context",
    "time_budget_ns",
    "timeout_ns",
    "token_budget",
    "tools",
    "volatile",
    "written",
];

/// The names that a type reads: what it says when it does not know one.
fn names<T: DeserializeOwned + std::fmt::Debug>(unknown: Value) -> BTreeSet<String> {
    let error = serde_json::from_value::<T>(unknown)
        .unwrap_err()
        .to_string();
    let (_, expected) = error.split_once("expected").expect("a list of names");
    let quoted = expected.split('`').skip(1).step_by(2);
    quoted.map(str::to_owned).collect()
}

/// Where the page on the log format names such words.
fn heading(place: &str) -> Option<&'static str> {
    Some(match place {
        "event" | "notice" | "predictor" => "## Events",
        "decision" => "### `decision`",
        "question" => "### Questions",
        "outcome" => "### `outcome`",
        "reading" | "standing" => "### `read`",
        "repair" => "### `repairs`",
        "finish" => "### `reply`",
        "completion" | "effect" | "confirmation" => "### `agent`",
        "image" => "### `observation`",
        "part" | "entry" => "## History",
        // What a person answers needs no `by`, and errors and endings have pages of their own.
        _ => return None,
    })
}

/// What occurs in a log, by where it stands.
#[derive(Debug, Default)]
pub struct Seen {
    words: BTreeSet<(&'static str, String)>,
    keys: BTreeSet<String>,
}

impl Seen {
    /// Takes a record in.
    pub fn record(&mut self, record: &Value) {
        let event = record["event"].as_str().unwrap();
        self.word("event", &record["event"]);
        match &record["predictor"] {
            Value::Null if event == "replied" => self.word("predictor", &json!("step")),
            predictor => self.word("predictor", predictor),
        }
        self.word("reason", &record["reason"]);
        self.word("notice", &record["about"]);
        self.word("reading", &record["read"]);
        self.word("standing", &record["read"]["judged"]["standing"]);
        self.word("decision", &record["decision"]);
        self.word_or("outcome", &record["read"]["step"], "outcome", "act");
        self.word_or("finish", &record["reply"], "finish", "tool_calls");
        self.word_or("completion", &record["agent"], "completion", "submit");
        for tools in [&record["agent"]["tools"], &record["tools"]] {
            for tool in tools.as_array().into_iter().flatten() {
                self.word_or("effect", tool, "effect", "effectful");
                self.word_or("confirmation", tool, "confirmation", "never");
            }
        }
        match event {
            "asked" => self.word_or("question", record, "kind", "confirm"),
            "model_failed" => self.word("failure", &record["kind"]),
            "answered" if record["by"].is_null() => self.word("by", &json!("person")),
            "answered" => self.word("by", &record["by"]),
            _ => {}
        }
        if let Value::Object(decision) = &record["decision"]
            && let Some(message) = decision.get("reject")
        {
            let with = if message.is_null() { "without" } else { "with" };
            self.word("message", &json!(with));
        }
        for adapter in [
            &record["agent"]["adapter"],
            &record["agent"]["step_adapter"],
        ] {
            self.word("adapter", adapter);
        }
        self.anywhere(record);
    }

    /// Takes the history of a run in.
    pub fn history(&mut self, history: &Value) {
        for entry in history.as_array().unwrap() {
            self.word("entry", &entry["type"]);
            for part in entry["parts"].as_array().into_iter().flatten() {
                self.word("part", part);
            }
        }
    }

    /// Takes the sort of ending in.
    pub fn ending(&mut self, ending: &str) {
        self.word("ending", &json!(ending));
    }

    fn anywhere(&mut self, value: &Value) {
        match value {
            Value::Object(object) => {
                for (key, value) in object {
                    self.keys.insert(key.clone());
                    match key.as_str() {
                        "source" => self.word("image", value),
                        "repairs" => {
                            for repair in value.as_array().unwrap() {
                                self.word("repair", &repair["kind"]);
                            }
                        }
                        _ => {}
                    }
                    self.anywhere(value);
                }
            }
            Value::Array(items) => items.iter().for_each(|item| self.anywhere(item)),
            _ => {}
        }
    }

    /// A name, or an object whose only key is one.
    fn word(&mut self, place: &'static str, value: &Value) {
        let word = match value {
            Value::String(word) => word,
            Value::Object(object) => object.keys().next().expect("a name"),
            _ => return,
        };
        self.words.insert((place, word.clone()));
    }

    /// The same of what is left out where it is the usual word.
    fn word_or(&mut self, place: &'static str, object: &Value, key: &str, usual: &str) {
        if object.is_object() {
            let word = object.get(key).cloned();
            self.word(place, &word.unwrap_or_else(|| json!(usual)));
        }
    }

    /// Fails unless everything occurs.
    pub fn check(&self) {
        let unknown = || json!("?");
        self.has("event", names::<Event>(json!({"event": "?"})));
        self.has("decision", names::<Decision>(unknown()));
        self.has("by", names::<Answerer>(unknown()));
        self.has("question", names::<QuestionKind>(unknown()));
        self.has("outcome", names::<StepOutcome>(unknown()));
        self.has("notice", names::<Notice>(unknown()));
        self.has("standing", names::<Standing>(unknown()));
        self.has("reading", names::<Reading>(unknown()));
        self.has("predictor", names::<PredictorName>(unknown()));
        self.has("failure", names::<ModelErrorKind>(unknown()));
        self.has("repair", names::<RepairKind>(unknown()));
        self.has("finish", names::<FinishReason>(unknown()));
        self.has("completion", names::<Completion>(unknown()));
        self.has("effect", names::<Effect>(unknown()));
        self.has("confirmation", names::<Confirmation>(unknown()));
        self.has("image", names::<ImageSource>(unknown()));
        self.has("part", names::<Part>(unknown()));
        self.has("entry", names::<Entry>(json!({"type": "?"})));
        self.has("reason", names::<TerminationReason>(unknown()));
        let list = |names: &[&str]| names.iter().map(ToString::to_string).collect();
        self.has("message", list(&["with", "without"]));
        self.has(
            "adapter",
            list(&["chat", "json", "native", "tagged", "xml"]),
        );
        self.has(
            "ending",
            list(&["failed", "finished", "interrupted", "paused"]),
        );
        for key in OPTIONAL_KEYS {
            assert!(self.keys.contains(key), "no log has the key `{key}`");
        }
    }

    fn has(&self, place: &'static str, all: BTreeSet<String>) {
        assert!(!all.is_empty(), "{place}");
        if let Some(heading) = heading(place) {
            page::names(heading, &all);
        }
        let missing: Vec<_> = all
            .into_iter()
            .filter(|name| !self.words.contains(&(place, name.clone())))
            .collect();
        assert!(
            missing.is_empty(),
            "no log has the {place} {missing:?}: add a scene"
        );
    }
}
