//! The model of the trials: what it says follows from the transcript it is shown.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use enact_test_server::{Received, Turn};
use serde_json::{Value, json};

use super::dice::Dice;

/// The file that the lines go to.
pub(super) const FILE: &str = "log.txt";

/// The longest that the model thinks, in microseconds.
const THINKING: u64 = 4_000;

/// Appends lines step by step, one or two calls a step, then says which it has seen appended.
#[derive(Debug)]
pub(super) struct Model {
    steps: Vec<Vec<String>>,
    asked: AtomicUsize,
    dice: Mutex<Dice>,
}

impl Model {
    pub(super) fn new(dice: &mut Dice) -> Self {
        let count = 6 + dice.below(5);
        let steps = (1..=count).map(|step| {
            let calls = if dice.percent(40) { 2 } else { 1 };
            (1..=calls)
                .map(|call| format!("line {step}.{call}"))
                .collect()
        });
        Self {
            steps: steps.collect(),
            asked: AtomicUsize::new(0),
            dice: Mutex::new(dice.split()),
        }
    }

    /// All lines, in order.
    pub(super) fn lines(&self) -> Vec<&str> {
        self.steps.iter().flatten().map(String::as_str).collect()
    }

    /// How many steps there are, the submitting one included.
    pub(super) fn steps(&self) -> usize {
        self.steps.len() + 1
    }

    /// How often it was asked.
    pub(super) fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }

    pub(super) fn turn(&self, received: &Received) -> Turn {
        self.asked.fetch_add(1, Ordering::SeqCst);
        let body = received.json();
        let turn = match self.steps.get(steps_taken(&body)) {
            Some(lines) => Turn::calls(lines.iter().map(|line| {
                let args = json!({"path": FILE, "text": format!("{line}\n")});
                ("append_file", args)
            })),
            None => Turn::call("submit", json!({"answer": appended(&body).join(", ")})),
        };
        turn.latency(self.dice.lock().unwrap().micros(THINKING))
    }
}

fn messages<'a>(body: &'a Value, role: &'a str) -> impl Iterator<Item = &'a Value> {
    let all = body["messages"].as_array().unwrap();
    all.iter().filter(move |message| message["role"] == role)
}

/// How many of its own replies a request shows to the model.
pub(super) fn steps_taken(body: &Value) -> usize {
    messages(body, "assistant").count()
}

/// The lines that were appended, as far as the results say so.
fn appended(body: &Value) -> Vec<String> {
    let calls = messages(body, "assistant")
        .flat_map(|message| message["tool_calls"].as_array().into_iter().flatten());
    let was_done = |call: &&Value| {
        let mut results = messages(body, "tool").filter(|one| one["tool_call_id"] == call["id"]);
        let result = results.next().and_then(|one| one["content"].as_str());
        assert!(results.next().is_none(), "two results of one call");
        result.is_some_and(|text| text.starts_with("wrote") || text.starts_with("appended"))
    };
    calls
        .filter(was_done)
        .map(|call| {
            let text = call["function"]["arguments"].as_str().unwrap();
            let args: Value = serde_json::from_str(text).unwrap();
            args["text"].as_str().unwrap().trim_end().to_owned()
        })
        .collect()
}
