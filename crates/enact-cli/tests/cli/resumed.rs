//! How a run that waits says what it waits for, and how it is resumed.

use enact_test_server::{TestServer, Turn};
use serde_json::{Value, json};

use crate::command::run;
use crate::place::{Place, pending};

fn write(path: &str) -> (&'static str, Value) {
    ("write_file", json!({"path": path, "content": "hello"}))
}

fn done() -> Turn {
    Turn::call("submit", json!({"answer": "done"}))
}

fn ending(run_id: &str) -> &str {
    &run_id[run_id.len() - 8..]
}

/// What `enact run` shows a person.
fn to_person(place: &Place, server: &TestServer) -> String {
    let files = place.files.path().to_string_lossy().into_owned();
    let args = ["task -> answer", "task=?", "--files", &files];
    let said = run(server, args).env("ENACT_STORE", &place.store()).said();
    assert_eq!(said.code, 3, "{said:?}");
    said.stderr
}

#[test]
fn what_waits_shows_the_line_that_answers_it() {
    let place = Place::new();
    let server = TestServer::start_blocking([Turn::calls([write("a.txt")]), done()]);
    let shown = to_person(&place, &server);
    let run_id = place.runs()[0]["run_id"].as_str().unwrap().to_owned();
    let line = |shown: &str, what: &str| {
        let line = shown.lines().find(|line| line.contains(what));
        line.unwrap_or_else(|| panic!("{what}: {shown}"))
            .trim()
            .to_owned()
    };
    let approve = line(&shown, "--approve");
    assert!(approve.starts_with(&format!("enact resume {} --approve ", ending(&run_id))));
    let id = approve.rsplit(' ').next().unwrap();
    assert!(shown.contains(&format!("id: {id}")), "{shown}");
    assert!(shown.contains(&format!("enact resume {} --reject {id}", ending(&run_id))));
    // `show` says the same, and where the store is not the usual one, so do the lines.
    let said = place.enact(["show", "last"]).said();
    assert_eq!(line(&said.stdout, "--approve"), approve);
    let elsewhere = crate::command::enact(["show", "last", "--store", &place.store()]).said();
    let elsewhere = line(&elsewhere.stdout, "--approve");
    assert!(
        elsewhere.contains(&format!("--store {} ", place.store())),
        "{elsewhere}"
    );
    // The line works as it is.
    let words: Vec<&str> = approve.split(' ').skip(1).collect();
    let said = place.enact(words).said();
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(place.written("a.txt").as_deref(), Some("hello"));
    server.assert_complete();
}

#[test]
fn a_question_of_a_tool_shows_how_to_answer_in_words() {
    let place = Place::new();
    let asked = Turn::call("ask_user", json!({"question": "Which city?"}));
    let server = TestServer::start_blocking([asked, done()]);
    let args = ["task -> answer", "task=?", "--tools", "ask_user"];
    let said = run(&server, args).env("ENACT_STORE", &place.store()).said();
    assert_eq!(said.code, 3, "{said:?}");
    assert!(said.stderr.contains("Which city?"), "{said:?}");
    assert!(said.stderr.contains(" 'YOUR ANSWER'"), "{said:?}");
    let listed = place.enact(["runs"]).said();
    assert!(
        listed.stdout.contains("ask_user asks: Which city?"),
        "{listed:?}"
    );
}

#[test]
fn without_an_id_the_newest_run_that_waits_is_resumed() {
    let place = Place::new();
    let said = place.enact(["resume"]).said();
    assert_eq!(said.code, 2, "{said:?}");
    assert!(said.error_line().contains("no run waits"), "{said:?}");
    let server = TestServer::start_blocking([
        Turn::calls([write("a")]),
        Turn::calls([write("b")]),
        done(),
        done(),
    ]);
    to_person(&place, &server);
    let object = place.run(&server).said().json();
    let (run_id, id) = (
        object["run_id"].as_str().unwrap(),
        pending(&object).remove(0),
    );
    // A newer run that is over is not meant.
    assert_eq!(place.run(&server).said().code, 0);
    let said = place.enact(["resume", "--approve", &id]).said();
    assert_eq!(said.code, 0, "{said:?}");
    let told = format!("resuming {}: Write it.\n", ending(run_id));
    assert!(said.stderr.starts_with(&told), "{said:?}");
    assert_eq!(
        (place.written("a"), place.written("b").as_deref()),
        (None, Some("hello"))
    );
    server.assert_complete();
}

#[test]
fn truth_two_decisions_about_one_question_are_refused_and_leave_no_trace() {
    let place = Place::new();
    let server = TestServer::start_blocking([Turn::calls([write("a")]), done()]);
    let object = place.run(&server).said().json();
    let run_id = object["run_id"].as_str().unwrap().to_owned();
    let id = pending(&object).remove(0);
    let head = &id[..6];
    let edit = r#"{"args": {"path": "b", "content": "x"}}"#;
    for decisions in [
        &["--reject", &id, "--approve", &id][..],
        &["--approve", &id, "--reject", head],
        &["--approve", &id, "--approve", &id],
        &["--always", &id, "--reject", &id],
        &["--edit", &id, edit, "--approve", head],
        &["--feedback", &id, "no", "--feedback", &id, "no"],
    ] {
        for form in [&["--json"][..], &[]] {
            let args = ["resume", run_id.as_str()].into_iter();
            let args = args
                .chain(decisions.iter().copied())
                .chain(form.iter().copied());
            let said = place.enact(args).said();
            assert_eq!(said.code, 2, "{decisions:?}: {said:?}");
            assert!(said.error_line().contains("two decisions"), "{said:?}");
            if !form.is_empty() {
                let object = said.json();
                assert_eq!(object["error"]["kind"], "decisions");
                assert_eq!(object["status"], "paused");
                assert_eq!(pending(&object).join(" "), id);
            }
        }
    }
    let said = place.enact(["resume", &run_id, "--json"]).said();
    assert_eq!((said.code, pending(&said.json())), (3, vec![id]));
    assert_eq!((place.written("a"), place.written("b")), (None, None));
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn truth_of_decisions_that_do_not_all_fit_none_is_kept() {
    let place = Place::new();
    let server = TestServer::start_blocking([Turn::calls([write("a"), write("b")])]);
    let object = place.run(&server).said().json();
    let run_id = object["run_id"].as_str().unwrap().to_owned();
    let ids = pending(&object);
    let edit = r#"{"args": {"path": "b"}}"#;
    let decisions = ["--approve", &ids[0], "--edit", &ids[1], edit, "--json"];
    let args = ["resume", run_id.as_str()].into_iter().chain(decisions);
    let said = place.enact(args).said();
    assert_eq!(said.code, 3, "{said:?}");
    assert_eq!(pending(&said.json()), ids);
    let said = place.enact(["resume", &run_id, "--json"]).said();
    assert_eq!(pending(&said.json()), ids);
    assert_eq!((place.written("a"), place.written("b")), (None, None));
}

#[cfg(unix)]
#[test]
fn truth_a_run_that_is_over_starts_no_server() {
    let place = Place::new();
    let mark = place.files.path().join("started");
    let program = format!("echo started >> {}; exit 1", mark.display());
    let server = TestServer::start_blocking([done()]);
    // The server of the run is there when it begins, and would leave a mark when it is started again.
    let tools = format!(
        "sh -c 'if [ -e {0}/over ]; then {program}; fi; exec {1} mcp \"n: int -> twice: int\" \
         --model inner --base-url http://127.0.0.1:1/v1 --store none --no-probe'",
        place.files.path().display(),
        env!("CARGO_BIN_EXE_enact"),
    );
    let said = place.run(&server).args(["--mcp", &tools]).said();
    assert_eq!(said.code, 0, "{said:?}");
    std::fs::write(place.files.path().join("over"), "").unwrap();
    let object = said.json();
    let run_id = object["run_id"].as_str().unwrap().to_owned();
    let said = place.enact(["resume", &run_id, "--json"]).said();
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(said.json(), object);
    let said = place.enact(["resume", &run_id]).said();
    assert_eq!(said.stdout, "done\n", "{said:?}");
    let said = place.enact(["resume", &run_id, "--approve", "x"]).said();
    assert_eq!(said.code, 2, "{said:?}");
    assert!(!mark.exists(), "the server was started again");
    server.assert_complete();
}

#[test]
fn a_cancelled_run_that_is_resumed_says_so() {
    let place = Place::new();
    let server = TestServer::start_blocking([Turn::calls([write("a")])]);
    to_person(&place, &server);
    assert_eq!(place.enact(["cancel", "last"]).said().code, 0);
    let said = place.enact(["resume", "last", "--json"]).said();
    assert_eq!(said.code, 1, "{said:?}");
    assert_eq!(said.json()["error"]["kind"], "cancelled");
    assert_eq!(place.enact(["resume"]).said().code, 2, "nothing waits");
}
