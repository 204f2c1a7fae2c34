//! A hundred recorded episodes of a real model, in the tagged form.

use std::path::PathBuf;

use enact::adapter::{Adapter as _, Completion, Tagged};
use enact::model::Reply;
use enact::signature::Signature;
use enact::tool::ToolSpec;
use serde_json::{Value, json};

use crate::tasks::step;

/// The recordings, which are not part of this repository.
fn recordings() -> Option<String> {
    let shared = std::env::var_os("ENACT_SHARED")
        .map(PathBuf::from)
        .unwrap_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared"));
    let path = shared.join("data/fever-react-gpt3.jsonl");
    match std::fs::read_to_string(&path) {
        Ok(text) => Some(text),
        Err(error) => {
            println!(
                "skipped: {}: {error}; set ENACT_SHARED to run this",
                path.display()
            );
            None
        }
    }
}

fn tool(name: &str, argument: &str) -> ToolSpec {
    let parameters = json!({
        "type": "object",
        "properties": {argument: {"type": "string"}},
        "required": [argument],
    });
    ToolSpec::new(name, "A tool.", parameters)
}

#[test]
fn every_recorded_step_is_read() {
    let Some(recordings) = recordings() else {
        return;
    };
    let declared = Signature::parse("claim: str -> answer: str").unwrap();
    let tools = vec![tool("Search", "query"), tool("Lookup", "keyword")];
    let task = step(declared, tools, Completion::Submit);
    let mut steps = 0;
    for line in recordings.lines() {
        let episode: Value = serde_json::from_str(line).unwrap();
        for recorded in episode["steps"].as_array().unwrap() {
            let (thought, action) = (
                recorded["thought"].as_str().unwrap(),
                recorded["action"].as_str().unwrap(),
            );
            let reply = Reply::text(format!("Thought: {thought}\nAction: {action}"));
            let read = Tagged::default().parse_step(&task, &reply).unwrap().value;
            assert_eq!(read.thought, thought.trim());
            let [call] = read.calls.as_slice() else {
                panic!("not one call: {action}")
            };
            let (written, argument) = action.trim().split_once('[').unwrap();
            let (name, key) = match written {
                "Search" => ("Search", "query"),
                "Lookup" => ("Lookup", "keyword"),
                _ => ("submit", "answer"),
            };
            assert_eq!(call.name, name);
            let wanted = json!({key: argument.strip_suffix(']').unwrap()});
            assert_eq!(call.args.clone().map(Value::Object), Ok(wanted), "{action}");
            steps += 1;
        }
    }
    assert!(steps > 200, "{steps} steps");
}
