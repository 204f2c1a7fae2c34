//! An evaluation at a terminal, as a person sees it.

use enact_test_server::{Gate, TestServer};
use rexpect::session::{Options, spawn_with_options};

use super::bench::{Bench, doubles, number};

/// Far longer than anything takes.
const DEADLINE_MS: u64 = 60_000;

#[test]
fn a_bar_tells_how_far_it_is() {
    let gate = Gate::closed();
    let behind = gate.clone();
    let bench = Bench::doubling(0..2);
    let server = TestServer::answering_blocking(move |received| match number(received) {
        0 => doubles(received),
        _ => doubles(received).behind(&behind),
    });
    let command = bench
        .eval(&server, ["--concurrency=1"])
        .env("TERM", "xterm")
        .into_command();
    let options = Options::new()
        .timeout_ms(Some(DEADLINE_MS))
        .strip_ansi_escape_codes(true);
    let mut session = spawn_with_options(command, options).unwrap();
    session.exp_string("1/2").unwrap();
    session.exp_string("1 passed, 0 not").unwrap();
    gate.open();
    session.exp_string("accuracy").unwrap();
    session.exp_string("2 of 2").unwrap();
    session.exp_string("2 finished").unwrap();
    session.exp_eof().unwrap();
}
