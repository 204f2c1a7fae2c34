//! Agents that are written down: `enact init`, `enact check`, and the commands with `--agent`.

mod checked;
mod documented;
mod reaching;
mod reasoning;
mod together;
mod typed;
mod used;

use enact_test_server::{TestServer, Turn};
use serde_json::{Value, json};

use crate::command::{Enact, KEY, enact};
use crate::place::Place;

/// Writes a file of the place, and tells its path.
pub(crate) fn write(place: &Place, name: &str, text: &str) -> String {
    let path = place.files.path().join(name);
    std::fs::write(&path, text).unwrap();
    path.to_string_lossy().into_owned()
}

/// `enact run --agent` against a scripted server, which no flag names a model of.
pub(crate) fn run(place: &Place, server: &TestServer, path: &str) -> Enact {
    enact(["run", "--agent", path, "--json"])
        .env("OPENAI_BASE_URL", server.base_url())
        .env("OPENAI_API_KEY", KEY)
        .env("ENACT_STORE", &place.store())
}

fn done() -> Turn {
    Turn::call("submit", json!({"answer": "done"}))
}

/// The text of a request to the model.
pub(crate) fn asked(server: &TestServer, index: usize) -> Value {
    server.requests()[index].json()
}

fn tool_names(request: &Value) -> Vec<String> {
    let tools = request["tools"].as_array().unwrap().iter();
    tools
        .map(|tool| tool["function"]["name"].as_str().unwrap().to_owned())
        .collect()
}

const WRITER: &str = r#"
signature = "task -> answer"
instructions = "Write what you are told."
model = "of-the-file"
temperature = 0.5
files = "work"
tools = ["write_file"]

[limits]
max_iterations = 7
time_budget = "5m"

[rules.thoughts]
required = true

[[demos]]
inputs = { task = "Write nothing." }
outputs = { answer = "nothing was written" }
"#;
