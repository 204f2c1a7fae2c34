//! Commands that have a say in a run: before and after calls, and after steps.

mod after;
mod before;
mod ends;
mod parts;
mod stored;

use std::process::Command;

use enact_test_server::{TestServer, Turn};
use serde_json::{Value, json};

use crate::command::Enact;
use crate::place::Place;

/// Writes a script of the place that can be executed, and tells its path.
fn script(place: &Place, name: &str, text: &str) -> String {
    let source = place.data.path().join("source");
    let path = place.data.path().join(name);
    std::fs::write(&source, format!("#!/bin/sh\n{text}\n")).unwrap();
    // Another process writes it: a file that a test still has open cannot be executed.
    let mut install = Command::new("install");
    install.args(["-m", "755"]).arg(&source).arg(&path);
    assert!(install.status().unwrap().success());
    path.to_string_lossy().into_owned()
}

/// The text of a file beside the scripts.
fn left_behind(place: &Place, name: &str) -> Option<String> {
    std::fs::read_to_string(place.data.path().join(name)).ok()
}

/// A script that keeps what it is told, line by line, and then does something else.
fn keeping(place: &Place, name: &str, rest: &str) -> String {
    let kept = place.data.path().join("told");
    script(
        place,
        name,
        &format!(
            "input=$(cat)\necho \"$input\" >> '{}'\n{rest}",
            kept.display()
        ),
    )
}

/// What scripts were told.
fn told(place: &Place) -> Vec<Value> {
    let text = left_behind(place, "told").unwrap_or_default();
    let lines = text.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// A model that writes the file `a`, and then is done.
fn writing() -> TestServer {
    TestServer::start_blocking([
        Turn::call("write_file", json!({"path": "a", "content": "x"})),
        Turn::call("submit", json!({"answer": "done"})),
    ])
}

/// A run that may write unasked.
fn free<'a>(place: &Place, server: &TestServer, flags: impl IntoIterator<Item = &'a str>) -> Enact {
    let run = place.run(server).args(["--allow", "write_file"]);
    run.args(flags)
}

/// What the first call gave.
fn observed(object: &Value) -> &Value {
    &object["trace"]["steps"][0]["actions"][0]["observation"]
}
