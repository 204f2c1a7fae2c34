//! Who is asked about what, as the command line says it; and that a resumed run keeps to it.

use enact_test_server::{TestServer, Turn};
use serde_json::{Value, json};

use crate::command::run;
use crate::place::{Place, pending};

fn writes(names: &[&str]) -> Turn {
    Turn::calls(
        names
            .iter()
            .map(|name| ("write_file", json!({"path": name, "content": "hello"}))),
    )
}

fn done() -> Turn {
    Turn::call("submit", json!({"answer": "done"}))
}

#[test]
fn allowed_tools_run_unasked_and_others_ask_when_told_so() {
    let place = Place::new();
    let server = TestServer::start_blocking([
        writes(&["a.txt"]),
        Turn::call("list_files", json!({})),
        Turn::call("list_files", json!({})),
        done(),
    ]);
    let said = place
        .run(&server)
        .args(["--allow", "write_file", "--ask", "list_files"])
        .said();
    assert_eq!(said.code, 3, "{said:?}");
    assert_eq!(place.written("a.txt").as_deref(), Some("hello"));
    let object = said.json();
    assert_eq!(object["pending"][0]["tool_call"]["name"], "list_files");
    assert_eq!(object["pending"][0]["kind"], "confirm");
    let run_id = object["run_id"].as_str().unwrap();
    // The rules are the run's, not the command line's: the second listing asks again.
    let resume = |answer: &str, id: &str| {
        place
            .enact(["resume", run_id, answer, id, "--json"])
            .said()
            .json()
    };
    let object = resume("--approve", &pending(&object)[0]);
    assert_eq!(object["status"], "paused", "{object}");
    let object = resume("--approve", &pending(&object)[0]);
    assert_eq!(object["outputs"]["answer"], "done", "{object}");
    server.assert_complete();
}

#[test]
fn an_unknown_tool_in_a_rule_is_a_mistake() {
    let server = TestServer::start_blocking([]);
    let said = run(
        &server,
        [
            "q -> a",
            "q=x",
            "--tools",
            "calculator",
            "--ask",
            "calculater",
        ],
    )
    .said();
    assert_eq!(said.code, 2, "{said:?}");
    assert!(said.stderr.contains("`calculater`"), "{said:?}");
}

#[test]
fn always_holds_for_the_tool_and_the_run() {
    let place = Place::new();
    let server =
        TestServer::start_blocking([writes(&["a", "b"]), writes(&["c"]), done(), writes(&["d"])]);
    let object = place.run(&server).said().json();
    let run_id = object["run_id"].as_str().unwrap().to_owned();
    let ids = pending(&object);
    assert_eq!(ids.len(), 2);
    let said = place
        .enact(["resume", &run_id, "--always", &ids[1], "--json"])
        .said();
    assert_eq!(said.code, 0, "{said:?}");
    for name in ["a", "b", "c"] {
        assert_eq!(place.written(name).as_deref(), Some("hello"));
    }
    let trace = place.enact(["show", &run_id]).said();
    assert!(
        trace.stdout.contains("won't ask again for this tool"),
        "{trace:?}"
    );
    // Another run asks anew.
    let object = place.run(&server).said().json();
    assert_eq!(object["status"], "paused");
    server.assert_complete();
}

#[test]
fn a_question_that_waited_too_long_is_rejected() {
    let place = Place::new();
    let server = TestServer::start_blocking([writes(&["a"]), done()]);
    let said = place.run(&server).args(["--answer-within", "1ms"]).said();
    let object = said.json();
    // It may have expired by the time the run would have paused.
    let run_id = object["run_id"].as_str().unwrap().to_owned();
    if let [id] = pending(&object).as_slice() {
        assert!(object["pending"][0]["expires_at"].is_string(), "{object}");
        let late = place
            .enact(["resume", &run_id, "--approve", id, "--json"])
            .said();
        assert_eq!(late.json()["error"]["kind"], "answer", "{late:?}");
        place.enact(["resume", &run_id, "--json"]).said();
    }
    let object = place.enact(["show", &run_id, "--as", "json"]).said().json();
    let observed = &object["trajectory"][0]["observation"];
    assert_eq!(
        *observed,
        "Nobody agreed to this call in time. It was not executed."
    );
    assert_eq!(place.written("a"), None);
    server.assert_complete();
}

#[test]
fn the_agent_asks_the_user_and_gets_an_answer_from_another_process() {
    let place = Place::new();
    let server = TestServer::start_blocking([
        Turn::call("ask_user", json!({"question": "Which city?"})),
        done(),
    ]);
    let said = place.run(&server).args(["--tools", "ask_user"]).said();
    assert_eq!(said.code, 3, "{said:?}");
    let object = said.json();
    assert_eq!(object["pending"][0]["kind"], "clarify");
    assert_eq!(object["pending"][0]["question"], "Which city?");
    let run_id = object["run_id"].as_str().unwrap();
    let id = &pending(&object)[0];
    let wrong = place
        .enact(["resume", run_id, "--approve", id, "--json"])
        .said();
    assert_eq!(wrong.code, 3, "{wrong:?}");
    let said = place
        .enact(["resume", run_id, "--answer", id, "Rome", "--json"])
        .said();
    assert_eq!(said.code, 0, "{said:?}");
    let observed: &Value = &said.json()["trajectory"][0]["observation"].clone();
    assert_eq!(*observed, "Rome");
    server.assert_complete();
}
