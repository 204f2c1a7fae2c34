//! Keys and what `ENACT_SECRETS` names are shown nowhere, whichever way they come.

use enact_test_server::{Collector, TestServer, Turn};
use serde_json::json;

use crate::command::{Enact, KEY, asking, run};
use crate::place::Place;

const CAPTURE: &str = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT";
const PASSWORD: &str = "correct-horse-battery";

fn with_password(enact: Enact) -> Enact {
    enact.env("ENACT_SECRETS", "DOOR").env("DOOR", PASSWORD)
}

#[test]
fn a_planted_secret_is_in_no_output_no_trace_no_recording_and_no_store() {
    let (place, collector) = (Place::new(), Collector::start());
    let note = format!("key: {KEY}\npassword: {PASSWORD}\n");
    std::fs::write(place.files.path().join("note.txt"), note).unwrap();
    let thought = format!("I read {KEY} and {PASSWORD}.");
    let turns = || {
        [
            Turn::call("read_file", json!({"path": "note.txt"})).thinking(thought.clone()),
            Turn::call("read_file", json!({"path": format!("{PASSWORD}.txt")})),
            Turn::call("submit", json!({"answer": format!("{KEY}, {PASSWORD}")})),
        ]
    };
    let files = place.files.path().to_string_lossy().into_owned();
    let question = format!("task=What are {KEY} and {PASSWORD}?");
    let mut told = String::new();
    for form in [Some("--json"), None] {
        let server = TestServer::start_blocking(turns());
        let recording = place.data.path().join(format!("{form:?}.jsonl"));
        let args = ["task -> answer", &question, "--files", &files];
        let said = with_password(run(&server, args))
            .args(form)
            .args(["--record", &recording.to_string_lossy()])
            .env("ENACT_STORE", &place.store())
            .env("ENACT_LOG", "trace")
            .env("OTEL_EXPORTER_OTLP_ENDPOINT", collector.endpoint())
            .env(CAPTURE, "true")
            .said();
        assert_eq!(said.code, 0, "{said:?}");
        assert!(said.stdout.contains("[redacted], [redacted]"), "{said:?}");
        told.push_str(&format!("{said:?}"));
        told.push_str(&std::fs::read_to_string(&recording).unwrap());
        // The models get to see none of it either.
        let bodies: Vec<String> = server
            .requests()
            .iter()
            .map(|request| request.json().to_string())
            .collect();
        told.push_str(&bodies.concat());
        server.assert_complete();
    }
    told.push_str(&format!("{:?}", collector.spans()));
    for suffix in ["", "-wal"] {
        if let Ok(bytes) = std::fs::read(place.store_file(suffix)) {
            told.push_str(&String::from_utf8_lossy(&bytes));
        }
    }
    let run_id = place.runs()[0]["run_id"].as_str().unwrap().to_owned();
    for form in ["events", "trace", "json"] {
        told.push_str(&place.enact(["show", &run_id, "--as", form]).said().stdout);
    }
    assert!(told.contains("[redacted]"));
    for secret in [KEY, PASSWORD] {
        assert!(!told.contains(secret), "{secret}: {told}");
    }
}

#[test]
fn a_server_that_quotes_the_key_is_quoted_without_it() {
    let problem = format!("Incorrect API key provided: {KEY}.");
    let body = json!({"error": {"message": problem}});
    let server = TestServer::start_blocking([Turn::status(401).body(body.to_string())]);
    let said = run(&server, ["question -> answer", "question=?", "--json"]).said();
    assert_eq!(said.code, 1, "{said:?}");
    assert!(said.stderr.contains("[redacted]"), "{said:?}");
}

#[test]
fn a_secret_that_is_too_short_is_refused() {
    let server = TestServer::start_blocking([]);
    let said = asking(&server, ["run", "question -> answer", "question=?"])
        .env("ENACT_SECRETS", "PIN, UNSET_VARIABLE")
        .env("PIN", "1234")
        .said();
    assert_eq!(said.code, 2, "{said:?}");
    assert!(
        said.error_line().contains("ENACT_SECRETS names PIN"),
        "{said:?}"
    );
}

/// The address of a server with a user, a password and a key in it.
fn with_credentials(server: &TestServer) -> String {
    let base = server
        .base_url()
        .replacen("://", "://ada:pass-0815-word@", 1);
    format!("{base}?api_key=query-4711-key")
}

/// What is in the files of a folder, and who may read them.
fn written_in(folder: &std::path::Path) -> String {
    let mut all = String::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = std::fs::metadata(&path).unwrap().permissions().mode();
            assert_eq!(mode & 0o077, 0, "{path:?}: {mode:o}");
        }
        match path.is_dir() {
            true => all.push_str(&written_in(&path)),
            false => all.push_str(&String::from_utf8_lossy(&std::fs::read(&path).unwrap())),
        }
    }
    all
}

#[test]
fn truth_what_is_written_down_holds_no_secret_and_is_for_its_owner_alone() {
    let place = Place::new();
    let inside = |name: &str| place.data.path().join(name).to_string_lossy().into_owned();
    let server = TestServer::start_blocking([
        Turn::call("calculator", json!({"expression": "1 + 1"}))
            .thinking(format!("The door opens with {PASSWORD}.")),
        Turn::call("submit", json!({"answer": format!("It is {PASSWORD}.")})),
    ]);
    let args = [
        "task -> answer",
        "task=?",
        "--tools",
        "calculator",
        "--json",
    ];
    let said = with_password(run(&server, args))
        .args(["--base-url", &with_credentials(&server)])
        .args([
            "--cache",
            &inside("deeper/cache"),
            "--record",
            &inside("tape.jsonl"),
        ])
        .env("ENACT_STORE", &place.store())
        .said();
    assert_eq!(said.code, 0, "{said:?}");
    let written = written_in(place.data.path());
    assert!(written.contains("[redacted]"), "{written}");
    for secret in [PASSWORD, "0815", "4711", "ada:"] {
        assert!(!written.contains(secret), "{secret} is in {written}");
        assert!(!said.stdout.contains(secret), "{secret} is in {said:?}");
    }
    // Who asks the same again gets what was kept.
    let said = with_password(run(&server, args))
        .args(["--base-url", &with_credentials(&server)])
        .args(["--cache", &inside("deeper/cache")])
        .said();
    assert_eq!(said.json()["outputs"]["answer"], "It is [redacted].");
    server.assert_complete();
}

#[test]
fn truth_agents_that_are_called_are_noted_without_the_password_of_their_server() {
    let place = Place::new();
    let file = |name: &str, text: &str| {
        std::fs::write(place.files.path().join(name), text).unwrap();
    };
    file(
        "helper.toml",
        "signature = \"question -> answer\"\ndescription = \"Helps.\"\n",
    );
    file(
        "agent.toml",
        "signature = \"question -> answer\"\n[agents.helper]\nfile = \"helper.toml\"\n",
    );
    let agent = place.files.path().join("agent.toml");
    let server = TestServer::start_blocking([Turn::call("submit", json!({"answer": "x"}))]);
    let said = asking(
        &server,
        ["run", "--agent", &agent.to_string_lossy(), "question=?"],
    )
    .args(["--base-url", &with_credentials(&server)])
    .env("ENACT_STORE", &place.store())
    .said();
    assert_eq!(said.code, 0, "{said:?}");
    let written = written_in(place.data.path());
    assert!(written.contains("helper"), "{written}");
    for secret in ["0815", "4711"] {
        assert!(!written.contains(secret), "{secret} is in {written}");
    }
}
