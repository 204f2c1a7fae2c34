//! Options that a file and flags say alike: sampling, and how far tools go.

use enact_test_server::{TestServer, Turn};
use serde_json::{Value, json};

use crate::agent::{asked, run, write};
use crate::command::{self, enact};
use crate::place::Place;

#[test]
fn a_seed_and_an_effort_reach_the_model_from_files_and_flags() {
    for (keys, flags, sent) in [
        ("", vec![], (Value::Null, Value::Null)),
        (
            "seed = 7\nreasoning_effort = \"low\"\n",
            vec![],
            (json!(7), json!("low")),
        ),
        (
            "seed = 7\nreasoning_effort = \"low\"\n",
            vec!["--seed=8", "--reasoning-effort=high"],
            (json!(8), json!("high")),
        ),
    ] {
        let place = Place::new();
        let server = TestServer::start_blocking([Turn::call("submit", json!({"answer": "a"}))]);
        let text = format!("signature = \"task -> answer\"\nmodel = \"m\"\n{keys}");
        let path = write(&place, "agent.toml", &text);
        let said = run(&place, &server, &path)
            .args(["task=t"])
            .args(flags)
            .said();
        assert_eq!(said.code, 0, "{said:?}");
        let request = asked(&server, 0);
        let got = (request["seed"].clone(), request["reasoning_effort"].clone());
        assert_eq!(got, sent);
    }
}

/// The time limit of a tool as `enact tools` tells it.
fn timeout(tool: &str, flags: &[&str]) -> Value {
    let args = ["tools", "--json"].into_iter().chain(flags.iter().copied());
    let said = enact(args).said();
    assert_eq!(said.code, 0, "{said:?}");
    let listed: Vec<Value> = serde_json::from_str(&said.stdout).unwrap();
    let mut listed = listed.into_iter().filter(|one| one["name"] == tool);
    listed.next().unwrap()["timeout_s"].clone()
}

#[test]
fn flags_limit_the_time_of_tools() {
    let shell = ["--tools=shell", "--shell-folder=.", "--shell-timeout=3s"];
    assert_eq!(timeout("shell", &shell), json!(3.0));
    let pages = ["--tools=http_get", "--allow-host=*", "--http-timeout=4s"];
    assert_eq!(timeout("http_get", &pages), json!(4.0));
}

#[cfg(unix)]
#[test]
fn a_flag_limits_the_time_of_calls_of_servers() {
    let exe = env!("CARGO_BIN_EXE_enact");
    let server = format!(
        "'{exe}' mcp 'n -> m' --name agent --model m --base-url http://127.0.0.1:1/v1 --store none --no-probe"
    );
    let flags = ["--mcp", &server, "--mcp-timeout=5s"];
    assert_eq!(timeout("agent", &flags), json!(5.0));
}

#[cfg(unix)]
#[test]
fn flags_limit_the_output_of_commands() {
    let server = TestServer::start_blocking([
        Turn::call("shell", json!({"command": "seq 1000"})),
        Turn::call("submit", json!({"answer": "a"})),
    ]);
    let args = [
        "task -> answer",
        "task=t",
        "--json",
        "--tools=shell",
        "--shell-folder=.",
        "--shell-max-output=20",
        "--allow=shell",
    ];
    let said = command::run(&server, args).said();
    assert_eq!(said.code, 0, "{said:?}");
    let observation = &said.json()["trajectory"][0]["observation"]["stdout"];
    let observation = observation.as_str().unwrap();
    assert!(observation.contains("bytes left out"), "{observation}");
    assert!(observation.len() < 100, "{observation}");
}
