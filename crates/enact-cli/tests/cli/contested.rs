//! Two processes that go on with one run at the same time: one does, the other is told.

use std::process::Child;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use enact_test_server::{Gate, Received, TestServer, Turn};
use serde_json::json;

use crate::command::Said;
use crate::place::{Place, pending};

const ROUNDS: usize = 100;
const FILE: &str = "log.txt";

/// Between two looks at what is waited for.
const PAUSE: Duration = Duration::from_millis(1);

/// Asks for one line after the other. Its replies wait behind the gate of the round.
fn turn(received: &Received, lines: usize, gate: &Gate) -> Turn {
    let body = received.json();
    let messages = body["messages"].as_array().unwrap();
    let results = messages.iter().filter(|one| one["role"] == "tool").count();
    let turn = if results < lines {
        let args = json!({"path": FILE, "text": format!("{results}\n")});
        Turn::call("append_file", args)
    } else {
        Turn::call("submit", json!({"answer": format!("{results} lines")}))
    };
    turn.behind(gate)
}

/// What a process that ended said, if one of them did.
fn ended(pair: &mut Vec<Child>) -> Option<Said> {
    let is_over = |child: &mut Child| child.try_wait().unwrap().is_some();
    let over = pair.iter_mut().position(is_over)?;
    let output = pair.remove(over).wait_with_output().unwrap();
    Some(Said::of(&output))
}

#[test]
fn promise_10_of_two_that_resume_at_once_one_goes_on_every_time() {
    let place = Place::new();
    let round_gate = Arc::new(Mutex::new(Gate::closed()));
    let gate = Arc::clone(&round_gate);
    let server = TestServer::answering_blocking(move |received| {
        turn(received, ROUNDS / 2, &gate.lock().unwrap())
    });
    round_gate.lock().unwrap().open();
    let object = place.run(&server).said().json();
    let run_id = object["run_id"].as_str().unwrap().to_owned();
    let mut open = pending(&object);
    let mut written = String::new();
    let mut args = vec!["resume".to_owned(), run_id.clone(), "--json".to_owned()];
    for round in 0..ROUNDS {
        // In one round the run waits for a person, in the next it was cut off in the middle.
        let is_paused = round % 2 == 0;
        args.truncate(3);
        if is_paused {
            assert_eq!(open.len(), 1, "round {round}");
            args.extend(["--approve".to_owned(), open.remove(0)]);
            written.push_str(&format!("{}\n", round / 2));
        }
        let gate = Gate::closed();
        *round_gate.lock().unwrap() = gate.clone();
        let asked = server.requests().len();
        let start = || place.enact(args.iter().map(String::as_str)).spawn();
        let mut pair = vec![start(), start()];
        // Whoever goes on waits for the model: only the other one can end.
        let loser = loop {
            if let Some(said) = ended(&mut pair) {
                break said;
            }
            assert!(server.requests().len() < asked + 2, "both ask: {round}");
            std::thread::sleep(PAUSE);
        };
        assert_eq!(loser.code, 1, "round {round}: {loser:?}");
        let error = &loser.json()["error"];
        assert_eq!(error["kind"], "run_busy", "round {round}: {loser:?}");
        assert!(loser.error_line().contains(&run_id), "{loser:?}");
        while server.requests().len() == asked {
            assert!(ended(&mut pair).is_none(), "nobody goes on: {round}");
            std::thread::sleep(PAUSE);
        }
        let mut winner = pair.remove(0);
        if is_paused {
            winner.kill().unwrap();
            winner.wait().unwrap();
        } else {
            gate.open();
            let said = Said::of(&winner.wait_with_output().unwrap());
            let code = if round + 1 < ROUNDS { 3 } else { 0 };
            assert_eq!(said.code, code, "round {round}: {said:?}");
            open = pending(&said.json());
        }
        assert_eq!(server.requests().len(), asked + 1, "round {round}");
        assert_eq!(place.written(FILE).as_ref(), Some(&written), "{round}");
    }
    assert_eq!(place.runs()[0]["status"], "finished");
}
