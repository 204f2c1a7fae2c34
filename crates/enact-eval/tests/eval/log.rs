//! Logs made by hand.

use enact::{Run, values};
use enact_eval::Trial;
use enact_eval::dataset::Example;
use serde_json::{Value, json};

/// The log of a run of ten steps at most, with a calculator. Each record is a second after the one
/// before it, each reply and each call took half a second.
pub(crate) struct Log(Vec<Value>);

impl Log {
    pub(crate) fn new() -> Self {
        Self(Vec::new()).with(json!({
            "event": "started",
            "format": 2,
            "run_id": "r",
            "agent": {
                "signature": {
                    "inputs": [{"name": "question", "type": "str"}],
                    "outputs": [{"name": "answer", "type": "int"}],
                },
                "model": "m",
                "adapter": "native",
                "step_adapter": "native",
                "completion": "submit",
                "tools": [{
                    "name": "calculator",
                    "description": "Evaluates an arithmetic expression.",
                    "parameters": {"type": "object"},
                    "effect": "read_only",
                    "confirmation": "never",
                    "serial": false,
                    "timeout_ns": 1,
                }],
            },
            "inputs": {"question": "?"},
            "limits": {"max_iterations": 10, "max_repairs": 3},
        }))
    }

    pub(crate) fn with(mut self, mut record: Value) -> Self {
        let position = self.0.len();
        record["position"] = position.into();
        record["at"] = format!("2026-01-01T00:00:{position:02}Z").into();
        self.0.push(record);
        self
    }

    /// A step that calls the calculator, whatever comes of it.
    pub(crate) fn calls(self, thought: &str) -> Self {
        let id = format!("call_{}", self.0.len());
        self.with(json!({
            "event": "replied",
            "reply": {"text": thought, "usage": {"requests": 1, "input_tokens": 10, "output_tokens": 2}},
            "read": {"step": {
                "calls": [{"id": id, "name": "calculator", "args": {"expression": "6 * 7"}}],
                "outcome": "act",
            }},
            "duration_ns": 500_000_000,
        }))
    }

    /// What the call of the step before gave.
    pub(crate) fn gave(self, observation: Value) -> Self {
        let step = self.0.iter().rev().find(|one| one["event"] == "replied");
        let id = step.unwrap()["read"]["step"]["calls"][0]["id"].clone();
        self.with(json!({
            "event": "tool_finished",
            "call_id": id,
            "observation": observation,
            "duration_ns": 500_000_000,
        }))
    }

    /// A whole step that works.
    pub(crate) fn step(self, thought: &str) -> Self {
        self.calls(thought).gave(json!({"value": 42}))
    }

    /// A whole step whose call fails.
    pub(crate) fn failing_step(self) -> Self {
        self.calls("I calculate it.")
            .gave(json!({"value": "division by zero", "is_error": true}))
    }

    /// A step that called nothing.
    pub(crate) fn nudge(self) -> Self {
        self.with(json!({
            "event": "replied",
            "reply": {"text": "I calculate it.", "usage": {"requests": 1, "input_tokens": 10, "output_tokens": 2}},
            "read": {"step": {"outcome": {"nudge": "Call a tool."}}},
            "duration_ns": 1,
        }))
    }

    pub(crate) fn submit(self) -> Self {
        self.with(json!({
            "event": "replied",
            "reply": {"usage": {"requests": 1, "input_tokens": 10, "output_tokens": 2}},
            "read": {"step": {
                "calls": [{"id": "last", "name": "submit", "args": {"answer": 42}}],
                "outcome": "submit",
            }},
            "duration_ns": 500_000_000,
        }))
    }

    pub(crate) fn finished(self, reason: &str) -> Self {
        self.with(json!({"event": "finished", "reason": reason}))
    }

    pub(crate) fn asked(self) -> Self {
        let step = self.0.iter().rev().find(|one| one["event"] == "replied");
        let call = step.unwrap()["read"]["step"]["calls"][0]["id"].clone();
        self.with(json!({
            "event": "asked",
            "confirmation_id": "c",
            "kind": "confirm",
            "call_id": call,
        }))
    }

    /// Changes a record.
    pub(crate) fn change(mut self, index: usize, change: impl FnOnce(&mut Value)) -> Self {
        change(&mut self.0[index]);
        self
    }

    pub(crate) fn run(self) -> Run {
        serde_json::from_value(self.0.into()).unwrap()
    }

    /// The trial of an example that expects nothing.
    pub(crate) fn trial(self) -> Trial {
        Trial::of(&example("e"), &self.run())
    }
}

pub(crate) fn example(id: &str) -> Example {
    Example {
        id: id.to_owned(),
        inputs: values! { question: "?" },
        expected: None,
        termination: None,
    }
}
