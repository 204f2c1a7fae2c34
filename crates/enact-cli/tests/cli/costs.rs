//! What a run costs, where the price is known.

use enact_test_server::{TestServer, Turn};
use serde_json::json;

use crate::command::{Said, enact, run};
use crate::place::Place;

const TASK: [&str; 3] = ["run", "question -> answer", "question=Why?"];

/// A recording of a run that asked this model at its provider.
fn recorded(place: &Place, model: &str) -> String {
    let tape = place.files.path().join("tape.jsonl");
    let server = TestServer::start_blocking([
        Turn::call("submit", json!({"answer": "Because."})).usage(100_000, 10_000)
    ]);
    let record = tape.to_string_lossy().into_owned();
    let said = run(
        &server,
        TASK[1..].iter().copied().chain(["--record", &record]),
    )
    .said();
    assert_eq!(said.code, 0, "{said:?}");
    // Nothing is known of what a server of one's own costs.
    assert!(!said.stderr.contains('$'), "{said:?}");
    let text = std::fs::read_to_string(&tape).unwrap();
    let text = text.replace(server.base_url(), "https://api.openai.com/v1");
    std::fs::write(&tape, text.replace("test-model", model)).unwrap();
    record
}

fn replayed(place: &Place, tape: &str, more: &[&str]) -> Said {
    let args = TASK
        .into_iter()
        .chain(["--replay", tape, "--replay-loosely"]);
    let command = enact(args.chain(more.iter().copied()));
    command.env("ENACT_STORE", &place.store()).said()
}

#[test]
fn the_built_in_price_of_a_hosted_model_is_an_estimate_with_its_date() {
    let place = Place::new();
    let tape = recorded(&place, "gpt-4o-mini-2024-07-18");
    let said = replayed(&place, &tape, &["--cost-budget=1"]);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(
        said.stderr.contains("about $0.0210 (prices of 2026-"),
        "{said:?}"
    );
    let runs = place.runs();
    let shown = place
        .enact(["show", runs[0]["run_id"].as_str().unwrap()])
        .said();
    assert!(shown.stdout.contains("about $0.0210"), "{shown:?}");
    // A price of one's own is no estimate of ours.
    let prices = place.files.path().join("prices.json");
    std::fs::write(&prices, r#"{"gpt-4o-mini": {"input": 1, "output": 2}}"#).unwrap();
    let prices = prices.to_string_lossy().into_owned();
    let said = replayed(&place, &tape, &["--prices", &prices]);
    assert!(said.stderr.contains("· cost 0.1200 ·"), "{said:?}");
    // A budget that the model's first request would exceed.
    let said = replayed(&place, &tape, &["--cost-budget=0.0000001"]);
    assert_ne!(said.code, 0, "{said:?}");
}

#[test]
fn prices_of_the_configuration_count_and_runs_have_a_column_of_costs() {
    let place = Place::new();
    let tape = recorded(&place, "gpt-5-foo");
    let listed = || place.enact(["runs"]).said().stdout;
    assert_eq!(replayed(&place, &tape, &[]).code, 0);
    assert!(!listed().contains("COST"), "{}", listed());
    let file = |name: &str, text: &str| {
        let path = place.files.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_string_lossy().into_owned()
    };
    file("prices.json", r#"{"gpt-5-foo": {"input": 1, "output": 2}}"#);
    let config = file("config.toml", "prices = \"prices.json\"\n");
    let args = TASK
        .into_iter()
        .chain(["--replay", &tape, "--replay-loosely"]);
    let command = enact(args).env("ENACT_CONFIG", &config);
    let said = command.env("ENACT_STORE", &place.store()).said();
    assert!(said.stderr.contains("· cost 0.1200 ·"), "{said:?}");
    let text = listed();
    let lines: Vec<&str> = text.lines().collect();
    let header = lines[0].find("COST").unwrap();
    assert_eq!(&lines[1][header..header + 6], "0.1200", "{text}");
    assert_eq!(lines[2][header..header + 6].trim(), "", "{text}");
    // Those of the command win.
    let other = file("other.json", r#"{"gpt-5-foo": {"input": 2, "output": 4}}"#);
    let args = TASK
        .into_iter()
        .chain(["--replay", &tape, "--replay-loosely"]);
    let command = enact(args.chain(["--prices", &other])).env("ENACT_CONFIG", &config);
    let said = command.env("ENACT_STORE", &place.store()).said();
    assert!(said.stderr.contains("· cost 0.2400 ·"), "{said:?}");
}

#[test]
fn a_budget_needs_a_price_that_is_known() {
    let place = Place::new();
    let tape = recorded(&place, "gpt-5-foo");
    let said = replayed(&place, &tape, &[]);
    assert!(!said.stderr.contains('$'), "{said:?}");
    let said = replayed(&place, &tape, &["--cost-budget=1"]);
    assert_eq!(said.code, 2, "{said:?}");
    let line = said.error_line();
    assert!(
        line.contains("no price of `gpt-5-foo` is built in"),
        "{line}"
    );
    assert!(line.contains("--prices FILE"), "{line}");
}
