//! How long replies and runs may be where nobody says it.

use enact_test_server::{TestServer, Turn};
use serde_json::{Value, json};

use crate::command::{Enact, asking, enact};
use crate::place::Place;

const TASK: [&str; 3] = ["run", "question -> answer", "question=Why?"];

fn done() -> Turn {
    Turn::call("submit", json!({"answer": "Because."}))
}

/// An agent file with these lines.
fn file(place: &Place, lines: &str) -> String {
    let path = place.files.path().join("agent.toml");
    let text = format!("signature = \"question -> answer\"\nmodel = \"m\"\n{lines}");
    std::fs::write(&path, text).unwrap();
    format!("--agent={}", path.display())
}

#[test]
fn truth_replies_are_bounded_by_the_flag_else_the_file_else_8192_tokens() {
    let place = Place::new();
    let bound = |make: &dyn Fn(&TestServer) -> Enact| -> Value {
        let server = TestServer::start_blocking([done()]);
        let said = make(&server).said();
        assert_eq!(said.code, 0, "{said:?}");
        server.requests()[0].json()["max_tokens"].clone()
    };
    let run = |args: &'static [&'static str]| {
        move |server: &TestServer| asking(server, TASK.into_iter().chain(args.iter().copied()))
    };
    assert_eq!(bound(&run(&[])), 8192);
    assert_eq!(bound(&run(&["--max-tokens=100"])), 100);
    // What is left of a budget is a bound only where it is less.
    assert_eq!(bound(&run(&["--token-budget=500000"])), 8192);
    let least = bound(&run(&["--token-budget=4000"])).as_u64().unwrap();
    assert!(least < 4000, "{least}");
    let agent = file(&place, "max_tokens = 200\n");
    let of_file = |server: &TestServer| asking(server, ["run", &agent, "question=Why?"]);
    assert_eq!(bound(&of_file), 200);
    assert_eq!(
        bound(&|server| of_file(server).args(["--max-tokens=300"])),
        300
    );
    let said = enact(["run", "q -> a", "--max-tokens=0"]).said();
    assert_eq!(said.code, 2, "{said:?}");
}

#[test]
fn truth_a_run_has_half_an_hour_unless_it_is_told() {
    let place = Place::new();
    let budget = |make: &dyn Fn(&TestServer) -> Enact| -> Value {
        let server = TestServer::start_blocking([done()]);
        let said = make(&server).env("ENACT_STORE", &place.store()).said();
        let object = said.json();
        let run = object["run_id"].as_str().unwrap();
        let shown = place.enact(["show", run, "--as", "events"]).said();
        let first: Value = serde_json::from_str(shown.stdout.lines().next().unwrap()).unwrap();
        first["limits"]["time_budget_ns"].clone()
    };
    let run = |args: &'static [&'static str]| {
        move |server: &TestServer| {
            asking(
                server,
                TASK.into_iter()
                    .chain(["--json"])
                    .chain(args.iter().copied()),
            )
        }
    };
    let half_an_hour = json!(1_800_000_000_000_u64);
    let minute = json!(60_000_000_000_u64);
    assert_eq!(budget(&run(&[])), half_an_hour);
    assert_eq!(budget(&run(&["--time-budget=1m"])), minute);
    assert_eq!(budget(&run(&["--time-budget=none"])), Value::Null);
    assert_eq!(budget(&run(&["--time-budget=0"])), Value::Null);
    for (lines, expected) in [
        ("", half_an_hour),
        ("[limits]\ntime_budget = \"1m\"\n", minute.clone()),
        ("[limits]\ntime_budget = \"none\"\n", Value::Null),
    ] {
        let agent = file(&place, lines);
        let of_file =
            |server: &TestServer| asking(server, ["run", &agent, "question=Why?", "--json"]);
        assert_eq!(budget(&of_file), expected, "{lines}");
        assert_eq!(
            budget(&|server| of_file(server).args(["--time-budget=1m"])),
            minute
        );
    }
    let help = enact(["run", "--help"]).said().stdout;
    let words: Vec<&str> = help.split_whitespace().collect();
    assert!(words.join(" ").contains("[default: 30m]"), "{help}");
}

#[test]
fn truth_a_model_that_writes_without_end_is_stopped_and_the_run_ends_in_an_answer() {
    let server = TestServer::start_blocking([
        Turn::text("I am sure of it. ".repeat(2_000))
            .in_pieces(4)
            .then_stall(),
        done(),
    ]);
    let said = asking(&server, TASK).said();
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.stdout.contains("Because."), "{said:?}");
    let told = server.requests()[1].text();
    assert!(told.contains("the same text over and over"), "{told}");
}
