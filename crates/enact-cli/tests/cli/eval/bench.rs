//! A folder with a dataset, and a model that doubles numbers.

use std::path::PathBuf;

use enact_test_server::{Received, TestServer, Turn};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::command::{Enact, asking};

/// Where an evaluation happens.
pub(crate) struct Bench {
    folder: TempDir,
}

impl Bench {
    /// A dataset of these lines.
    pub(crate) fn new(lines: &[Value]) -> Self {
        let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
        Self::of_text(&lines.join("\n"))
    }

    pub(crate) fn of_text(text: &str) -> Self {
        let bench = Self {
            folder: TempDir::new().unwrap(),
        };
        std::fs::write(bench.path("numbers.jsonl"), text).unwrap();
        bench
    }

    /// Numbers that are to be doubled.
    pub(crate) fn doubling(numbers: std::ops::Range<u64>) -> Self {
        let lines: Vec<Value> = numbers.map(|number| double(number, 2 * number)).collect();
        Self::new(&lines)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn name(&self, name: &str) -> String {
        self.path(name).to_string_lossy().into_owned()
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    /// The report that was written to this file.
    pub(crate) fn report(&self, name: &str) -> Value {
        serde_json::from_str(&self.read(name)).unwrap()
    }

    /// `enact eval` of the dataset, with a calculator and a store.
    pub(crate) fn eval<'a>(
        &self,
        server: &TestServer,
        args: impl IntoIterator<Item = &'a str>,
    ) -> Enact {
        let dataset = self.name("numbers.jsonl");
        let store = self.name("runs.db");
        let agent = [
            "eval",
            dataset.as_str(),
            "--signature=question -> answer: int",
            "--tools=calculator",
        ];
        asking(server, agent).args(args).env("ENACT_STORE", &store)
    }
}

/// A line that asks to double a number.
pub(crate) fn double(number: u64, expected: u64) -> Value {
    json!({
        "id": format!("n{number}"),
        "inputs": {"question": format!("Double {number}, please.")},
        "expected": {"answer": expected},
        "termination": "success",
    })
}

/// The number that a request is about.
pub(crate) fn number(received: &Received) -> u64 {
    let text = received.text();
    let rest = text.split("Double ").nth(1).unwrap();
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().unwrap()
}

/// How many of its own replies a request shows to the model.
pub(crate) fn step(received: &Received) -> usize {
    let body = received.json();
    let messages = body["messages"].as_array().unwrap();
    let own = messages.iter().filter(|one| one["role"] == "assistant");
    own.count()
}

/// Calculates in the first step, and submits in the second.
pub(crate) fn doubles(received: &Received) -> Turn {
    let number = number(received);
    let turn = match step(received) {
        0 => Turn::call("calculator", json!({"expression": format!("2 * {number}")}))
            .thinking("The calculator doubles it."),
        _ => Turn::call("submit", json!({"answer": 2 * number})),
    };
    turn.usage(100, 10)
}
