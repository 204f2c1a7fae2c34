//! Evaluations whose process ends before they do.

use std::collections::HashMap;

use enact_test_server::{Gate, Received, TestServer};

use super::bench::{Bench, doubles, number, step};
use crate::command::{Said, wait_for_requests};

/// A model that answers the first three numbers whole, the fourth up to its second step, and the
/// others never, until the gate is opened.
fn server(gate: &Gate) -> TestServer {
    let gate = gate.clone();
    TestServer::answering_blocking(move |received| {
        let turn = doubles(received);
        match (number(received), step(received)) {
            (0..3, _) | (3, 0) => turn,
            _ => turn.behind(&gate),
        }
    })
}

/// How often each step of each number was asked for.
fn asked(requests: &[Received]) -> HashMap<(u64, usize), usize> {
    let mut asked = HashMap::new();
    for one in requests {
        *asked.entry((number(one), step(one))).or_default() += 1;
    }
    asked
}

/// The requests of an evaluation of eight, two at a time, that hangs: 3 · 2, then 2 of the fourth,
/// then 1 of the fifth.
const UNTIL_IT_HANGS: usize = 9;

fn check_the_rest(bench: &Bench, server: &TestServer, gate: &Gate) {
    // Three are done, a fourth is half-done.
    let results = bench.read("numbers.results.jsonl");
    assert_eq!(results.lines().count(), 1 + 3, "{results}");
    gate.open();
    let said = bench.eval(server, ["--concurrency=2"]).said();
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.stdout.contains("8 of 8"), "{said:?}");
    assert!(
        said.stderr.contains("3 examples were done before"),
        "{said:?}"
    );
    let asked = asked(&server.requests());
    for number in 0..8 {
        for step in 0..2 {
            // What was on its way when the process ended was not received, and is asked for again.
            let was_on_its_way = matches!((number, step), (3, 1) | (4, 0));
            let times = if was_on_its_way { 2 } else { 1 };
            assert_eq!(asked[&(number, step)], times, "step {step} of {number}");
        }
    }
}

#[test]
fn after_a_kill_nothing_that_was_paid_for_is_paid_for_again() {
    let bench = Bench::doubling(0..8);
    let gate = Gate::closed();
    let server = server(&gate);
    let mut child = bench.eval(&server, ["--concurrency=2"]).spawn();
    wait_for_requests(&server, UNTIL_IT_HANGS);
    child.kill().unwrap();
    child.wait().unwrap();
    check_the_rest(&bench, &server, &gate);
}

#[cfg(unix)]
#[test]
fn ctrl_c_reports_what_there_is_and_how_to_go_on() {
    let bench = Bench::doubling(0..8);
    let gate = Gate::closed();
    let server = server(&gate);
    let child = bench.eval(&server, ["--concurrency=2"]).spawn();
    wait_for_requests(&server, UNTIL_IT_HANGS);
    let id = child.id().to_string();
    let killed = std::process::Command::new("kill")
        .args(["-INT", &id])
        .status();
    assert!(killed.unwrap().success());
    let said = Said::of(&child.wait_with_output().unwrap());
    assert_eq!(said.code, 3, "{said:?}");
    assert!(said.stdout.contains("3 of 3"), "{said:?}");
    assert!(
        said.stdout
            .contains("5 of 8 examples left; run the same command"),
        "{said:?}"
    );
    check_the_rest(&bench, &server, &gate);
}
