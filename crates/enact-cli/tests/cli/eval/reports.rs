//! What an evaluation reports, and how it ends.

use std::time::Duration;

use enact_test_server::{Gate, TestServer, Turn};
use serde_json::{Value, json};

use super::bench::{Bench, double, doubles, number, step};
use crate::command::enact;

#[test]
fn a_report_as_table_json_and_page() {
    let bench = Bench::new(&[double(1, 2), double(2, 4), double(3, 7)]);
    std::fs::write(
        bench.path("prices.json"),
        r#"{"test-model": {"input": 1, "output": 10}}"#,
    )
    .unwrap();
    let server = TestServer::answering_blocking(doubles);
    let (json, html, prices) = (
        bench.name("report.json"),
        bench.name("report.html"),
        bench.name("prices.json"),
    );
    let args = ["--json", &json, "--html", &html, "--prices", &prices];
    let said = bench.eval(&server, args).said();
    assert_eq!(said.code, 0, "{said:?}");
    #[cfg(unix)]
    for file in ["report.json", "report.html"] {
        use std::os::unix::fs::PermissionsExt as _;

        let mode = std::fs::metadata(bench.path(file))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600, "{file}");
    }
    for line in [
        "accuracy                       66.7 %   2 of 3; 95 % interval 20.8 % to 93.9 %; mean score 0.667",
        "reasoning coherence           100.0 %   met (90 % or more) 3 of 3 steps that act",
        "termination accuracy          100.0 %   met (95 % or more) 3 of 3 runs whose ending is expected",
        "trace completeness            100.0 %   met (100 %) 6 of 6 steps",
        "error recovery                      –   not known (80 % or more) no runs with a tool error",
        "iteration efficiency           20.0 %   met (below 50 %) steps of those allowed, mean; 3 of 3 runs below 50 %",
        "tokens                            660   600 in (0 cached), 60 out, 6 requests",
        "cost                           0.0012",
        "examples                            3   3 finished",
    ] {
        assert!(
            said.stdout.lines().any(|one| one == line),
            "{line}\n{}",
            said.stdout
        );
    }
    assert!(said.stdout.contains("latency, p50"), "{}", said.stdout);
    let told = said
        .stderr
        .lines()
        .find(|line| line.contains("n3"))
        .unwrap();
    assert!(
        told.contains("not passed") && told.contains("expected 7, got 6"),
        "{told}"
    );
    let report = bench.report("report.json");
    assert_eq!(report["accuracy"]["share"], json!({"hits": 2, "of": 3}));
    assert_eq!(report["trials"][2]["id"], "n3");
    assert_eq!(report["trials"][2]["outputs"], json!({"answer": 6}));
    assert_eq!(report["settings"]["model"], "test-model");
    assert_eq!(report["usage"]["input_tokens"], 600);
    let page = bench.read("report.html");
    assert!(page.starts_with("<!DOCTYPE html>") && page.contains("n3: not passed"));
    // A run of an evaluation is a run like any other.
    let run = report["trials"][0]["run_id"].as_str().unwrap();
    let said = enact(["show", run, "--store", &bench.name("runs.db")]).said();
    assert!(said.stdout.contains("calculator"), "{said:?}");
    // Nothing is asked again, and the report is the same.
    let requests = server.requests().len();
    let again = bench.eval(&server, ["--json", &json]).said();
    assert_eq!(server.requests().len(), requests);
    assert!(
        again.stderr.contains("3 examples were done before"),
        "{again:?}"
    );
    assert_eq!(bench.report("report.json")["accuracy"], report["accuracy"]);
    // Without prices a cost is not known.
    assert_eq!(bench.report("report.json")["cost"], Value::Null);
    assert!(
        again
            .stdout
            .contains("cost                          unknown"),
        "{}",
        again.stdout
    );
    // Unless it is told to start over.
    bench.eval(&server, ["--fresh"]).said();
    assert_eq!(server.requests().len(), 2 * requests);
}

#[test]
fn several_at_a_time() {
    let gate = Gate::closed();
    let behind = gate.clone();
    let bench = Bench::doubling(0..6);
    let server = TestServer::answering_blocking(move |received| doubles(received).behind(&behind));
    let child = bench.eval(&server, ["--concurrency", "3"]).spawn();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    let three = async {
        let asked = server.wait_for_requests(3);
        tokio::time::timeout(Duration::from_secs(60), asked).await
    };
    runtime.block_on(three).expect("three requests at a time");
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(server.requests().len(), 3, "and no more than three");
    gate.open();
    let said = crate::command::Said::of(&child.wait_with_output().unwrap());
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.stdout.contains("6 of 6"), "{said:?}");
    assert_eq!(server.requests().len(), 12);
}

#[test]
fn failures_are_reported_and_tried_again() {
    let bench = Bench::doubling(0..3);
    let broken =
        TestServer::answering_blocking(|received| match (number(received), step(received)) {
            (1, 1) => Turn::status(400).body(r#"{"error": {"message": "out of order"}}"#),
            _ => doubles(received),
        });
    let base_url = broken.base_url().to_owned();
    let said = bench.eval(&broken, ["--min-accuracy", "0.6"]).said();
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.stdout.contains("2 of 3"), "{said:?}");
    assert!(said.stdout.contains("2 finished, 1 failed"), "{said:?}");
    assert!(
        said.stdout.contains("n1: ") && said.stdout.contains("out of order"),
        "{said:?}"
    );
    assert!(
        said.stdout.contains("run the same command to retry"),
        "{said:?}"
    );
    let said = bench.eval(&broken, ["--min-accuracy", "0.7"]).said();
    assert_eq!(said.code, 1, "{said:?}");
    assert!(
        said.stderr.contains("66.7 %") && said.stderr.contains("70.0 %"),
        "{said:?}"
    );
    // Its step that was paid for is not asked for again: only the one that failed is.
    let about_one = broken.requests().into_iter().filter(|one| number(one) == 1);
    assert_eq!(
        about_one.map(|one| step(&one)).collect::<Vec<_>>(),
        [0, 1, 1]
    );
    // Another server is another evaluation.
    let mended = TestServer::answering_blocking(doubles);
    let said = bench.eval(&mended, []).said();
    assert_eq!(said.code, 2, "{said:?}");
    assert!(said.error_line().contains("`base_url` was"), "{said:?}");
    assert!(said.error_line().contains(&base_url) && said.error_line().contains("--fresh"));
}

#[test]
fn a_run_that_asks_a_person_counts_as_not_answered() {
    let bench = Bench::doubling(4..6);
    let files = bench.path("work");
    std::fs::create_dir(&files).unwrap();
    let server =
        TestServer::answering_blocking(|received| match (number(received), step(received)) {
            (4, 0) => Turn::call("write_file", json!({"path": "a", "content": "b"})),
            (_, 0) => doubles(received),
            _ => doubles(received),
        });
    let files = files.to_string_lossy().into_owned();
    let args = ["--files", &files, "--tools=calculator,write_file"];
    let said = bench.eval(&server, args).said();
    assert_eq!(said.code, 0, "{said:?}");
    assert!(
        said.stdout.contains("1 finished, 1 waiting for a person"),
        "{said:?}"
    );
    let hint = said
        .stdout
        .lines()
        .find(|line| line.contains("enact resume"))
        .unwrap();
    let run = hint
        .split("enact resume ")
        .nth(1)
        .unwrap()
        .trim_end_matches('`');
    let json = enact([
        "show",
        run,
        "--as",
        "json",
        "--store",
        &bench.name("runs.db"),
    ])
    .said()
    .json();
    let id = json["pending"][0]["confirmation_id"]
        .as_str()
        .unwrap()
        .to_owned();
    let said = enact([
        "resume",
        run,
        "--approve",
        &id,
        "--store",
        &bench.name("runs.db"),
    ])
    .env("OPENAI_API_KEY", crate::command::KEY)
    .said();
    assert_eq!(said.code, 0, "{said:?}");
    let said = bench.eval(&server, args).said();
    assert!(said.stdout.contains("2 of 2"), "{said:?}");
}

#[test]
fn a_judge_and_a_program() {
    let bench = Bench::doubling(1..3);
    let server = TestServer::answering_blocking(|received| {
        let body = received.json();
        if body["model"] != "wise" {
            return doubles(received);
        }
        let is_verdict = received.text().contains("correct");
        let reply = if is_verdict {
            json!({"reason": "It says so.", "correct": true})
        } else {
            json!({"reason": "All fit.", "unconnected": []})
        };
        Turn::text(reply.to_string()).usage(50, 5)
    });
    let json = bench.name("report.json");
    let args = ["--metric=judge", "--judge=wise", "--json", &json];
    let said = bench.eval(&server, args).said();
    assert_eq!(said.code, 0, "{said:?}");
    assert!(
        said.stdout.contains("reasoning coherence, judged"),
        "{said:?}"
    );
    assert!(said.stdout.contains("tokens of the judge"), "{said:?}");
    let report = bench.report("report.json");
    assert_eq!(report["accuracy"]["value"], 1.0);
    assert_eq!(report["judge_usage"]["requests"], 4);
    assert_eq!(report["trials"][0]["score"]["reason"], "It says so.");
    if cfg!(unix) {
        // What is known of the answers is not asked for again: only the program looks at them.
        let requests = server.requests().len();
        let program =
            r#"{"command": {"program": "sh", "args": ["-c", "grep -q '\"answer\":4}'"]}}"#;
        let said = bench
            .eval(&server, ["--metric", program, "--json", &json])
            .said();
        assert_eq!(said.code, 0, "{said:?}");
        assert_eq!(server.requests().len(), requests);
        assert_eq!(bench.report("report.json")["accuracy"]["value"], 0.5);
    }
}
