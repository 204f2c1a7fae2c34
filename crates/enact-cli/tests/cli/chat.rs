//! Conversations through a pipe: a line a turn.

use enact_test_server::{TestServer, Turn};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::command::{KEY, Said, asking, enact, run};

fn answer(text: &str) -> Turn {
    Turn::call("submit", json!({ "answer": text }))
}

fn chat(server: &TestServer, args: &[&str], lines: &str) -> Said {
    asking(server, ["chat"].into_iter().chain(args.iter().copied()))
        .stdin(lines)
        .said()
}

/// The messages of a request, as text.
fn asked(server: &TestServer, index: usize) -> String {
    server.requests()[index].json()["messages"].to_string()
}

#[test]
fn a_follow_up_is_told_what_was_said_before() {
    let server = TestServer::start_blocking([
        Turn::call("calculator", json!({"expression": "6 * 7"})).thinking("I multiply."),
        answer("forty-two"),
        answer("forty-three"),
    ]);
    let lines = "what is 6 * 7?\n\n  \nand one more?\n";
    let said = chat(&server, &["--tools", "calculator"], lines);
    assert_eq!(said.code, 0, "{said:?}");
    // Outputs are for whoever reads the pipe, steps for people.
    assert_eq!(said.stdout, "forty-two\nforty-three\n");
    assert!(said.stderr.contains("I multiply.") && said.stderr.contains("done · 2 steps"));
    assert!(!said.stderr.contains("forty-three"), "{said:?}");
    let follow_up = asked(&server, 2);
    for part in [
        "what is 6 * 7?",
        "I multiply.",
        "forty-two",
        "and one more?",
    ] {
        assert!(follow_up.contains(part), "{part}: {follow_up}");
    }
    // The prompt of the follow-up begins with that of the first turn.
    let (before, after) = (asked(&server, 1), follow_up);
    assert!(
        after.starts_with(before.trim_end_matches(']')),
        "{before}\n{after}"
    );
    server.assert_complete();
}

#[test]
fn undo_takes_turns_out_of_the_next_request_and_leaves_the_runs() {
    let folder = TempDir::new().unwrap();
    let store = folder.path().join("runs.db").to_string_lossy().into_owned();
    let server = TestServer::start_blocking([
        answer("first answer"),
        answer("second answer"),
        answer("third answer"),
        answer("fourth answer"),
    ]);
    let lines = "alpha\nbeta\n/undo\ngamma\n/undo\n/undo\n/undo\ndelta\n";
    let said = chat(&server, &["--store", &store], lines);
    assert_eq!(said.code, 0, "{said:?}");
    for told in [
        "forgot “beta”: 1 turn left",
        "forgot “gamma”: 1 turn left",
        "forgot “alpha”: no turns left",
        "there is no turn to undo",
    ] {
        assert!(said.stderr.contains(told), "{told}: {said:?}");
    }
    let third = asked(&server, 2);
    assert!(third.contains("alpha") && third.contains("first answer"));
    assert!(
        !third.contains("beta") && !third.contains("second answer"),
        "{third}"
    );
    let fourth = asked(&server, 3);
    for gone in ["alpha", "beta", "gamma"] {
        assert!(!fourth.contains(gone), "{fourth}");
    }
    // Every turn is a run of its own, and none was changed by forgetting it.
    let listed = enact(["runs", "--json", "--store", &store]).said();
    let listed: Vec<Value> = serde_json::from_str(&listed.stdout).unwrap();
    assert_eq!(listed.len(), 4);
    assert!(listed.iter().all(|run| run["status"] == "finished"));
    let beta = listed[2]["run_id"].as_str().unwrap();
    let shown = enact(["show", beta, "--as", "history", "--store", &store]).said();
    assert!(shown.stdout.contains("second answer"), "{shown:?}");
}

#[test]
fn a_saved_conversation_goes_on_in_run_and_in_chat() {
    let folder = TempDir::new().unwrap();
    let file = folder
        .path()
        .join("saved.json")
        .to_string_lossy()
        .into_owned();
    let server = TestServer::start_blocking([answer("blue"), answer("green"), answer("red")]);
    let lines = format!("/save {file}\nmy colour?\n/save {file}\n/save {file}\n/save! {file}\n");
    let said = chat(&server, &[], &lines);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.stderr.contains("nothing to save yet"), "{said:?}");
    assert_eq!(
        said.stderr.matches("saved 1 turn to ").count(),
        2,
        "{said:?}"
    );
    assert!(said.stderr.contains("already exists"), "{said:?}");

    let args = [
        "question -> answer",
        "question=and yours?",
        "--history",
        &file,
    ];
    assert_eq!(run(&server, args).said().code, 0);
    let said = chat(&server, &["--history", &file], "and hers?\n/undo\n/undo\n");
    assert_eq!(said.stdout, "red\n");
    // Forgetting goes back into the conversation that was read.
    assert!(
        said.stderr.contains("forgot “my colour?”: no turns left"),
        "{said:?}"
    );
    for index in [1, 2] {
        let messages = asked(&server, index);
        assert!(
            messages.contains("my colour?") && messages.contains("blue"),
            "{messages}"
        );
    }
    assert!(!asked(&server, 2).contains("yours"));
}

#[test]
fn a_turn_that_fails_leaves_the_conversation_as_it_was() {
    let server = TestServer::start_blocking([
        answer("one"),
        Turn::status(400).body(json!({"error": {"message": "too strange"}}).to_string()),
        answer("two"),
    ]);
    let said = chat(&server, &[], "first\nsecond\nthird\n");
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(said.stdout, "one\ntwo\n");
    assert!(said.stderr.contains("error: ") && said.stderr.contains("too strange"));
    assert!(
        said.stderr
            .contains("this turn was not added to the conversation")
    );
    let third = asked(&server, 2);
    assert!(
        third.contains("first") && !third.contains("second"),
        "{third}"
    );
}

#[test]
fn a_command_is_never_sent_and_two_slashes_are_one() {
    let server = TestServer::start_blocking([answer("ok"), answer("ok")]);
    let said = chat(
        &server,
        &[],
        "/help\n/hlep me\n/undo it\n//etc/hosts?\n/new\nhello\n/quit\nno\n",
    );
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.stderr.contains("/save FILE"), "{said:?}");
    assert!(said.stderr.contains("unknown command `/hlep`"), "{said:?}");
    assert!(
        said.stderr.contains("`/undo` takes no arguments"),
        "{said:?}"
    );
    assert_eq!(server.requests().len(), 2);
    assert!(asked(&server, 0).contains("/etc/hosts?"));
    assert!(!asked(&server, 0).contains("//etc/hosts?"));
    assert!(!asked(&server, 1).contains("hosts"), "/new forgets");
}

#[test]
fn a_turn_that_needs_a_person_waits_and_can_be_resumed() {
    let folder = TempDir::new().unwrap();
    let store = folder.path().join("runs.db").to_string_lossy().into_owned();
    let files = TempDir::new().unwrap();
    let server = TestServer::start_blocking([
        answer("hello"),
        Turn::call("write_file", json!({"path": "a.txt", "content": "x"})),
        answer("written"),
    ]);
    let place = files.path().to_string_lossy().into_owned();
    let args = ["--store", &store, "--files", &place];
    let said = chat(&server, &args, "hi\nwrite it\nnever read\n");
    assert_eq!(said.code, 3, "{said:?}");
    assert_eq!(said.stdout, "hello\n");
    assert_eq!(server.requests().len(), 2);
    let id = said.stderr.split("`enact resume ").nth(1).unwrap();
    let id = id.split([' ', '`']).next().unwrap();
    let resume = |args: &[&str]| {
        let all = ["resume", id, "--store", &store, "--json"];
        enact(all.into_iter().chain(args.iter().copied()))
            .env("OPENAI_API_KEY", KEY)
            .said()
    };
    let waiting = resume(&[]);
    assert_eq!(waiting.code, 3, "{waiting:?}");
    let question = waiting.json()["pending"][0]["confirmation_id"].clone();
    let said = resume(&["--approve", question.as_str().unwrap()]);
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(said.json()["outputs"]["answer"], "written");
    assert!(files.path().join("a.txt").exists());
    server.assert_complete();
}

#[test]
fn further_inputs_come_on_lines_of_their_own_and_defaults_are_not_asked_for() {
    let server = TestServer::start_blocking([answer("a")]);
    let signature = "question, k: int = 3, text -> answer";
    let said = chat(&server, &[signature], "which?\n/a text\nbad\n");
    assert_eq!(said.code, 2, "{said:?}");
    assert_eq!(said.stdout, "a\n");
    assert!(
        said.stderr
            .contains("error: the input ended before a line for `text`")
    );
    let asked = asked(&server, 0);
    for part in ["which?", "/a text"] {
        assert!(asked.contains(part), "{part}: {asked}");
    }
    server.assert_complete();
}

#[test]
fn an_input_of_the_wrong_type_is_told_and_nothing_is_sent() {
    let server = TestServer::start_blocking([answer("a")]);
    let said = chat(&server, &["number: int -> answer"], "many\n7\n");
    assert_eq!((said.code, said.stdout.as_str()), (0, "a\n"), "{said:?}");
    assert!(
        said.stderr.contains("error: ") && said.stderr.contains("number"),
        "{said:?}"
    );
    server.assert_complete();
}

#[test]
fn what_is_wrong_is_told_before_anything_is_read() {
    let said = enact(["chat"]).said();
    assert_eq!(said.code, 2, "{said:?}");
    assert!(said.error_line().contains("no model is set"));
    let said = enact(["chat", "question ->"]).said();
    assert_eq!(said.code, 2, "{said:?}");
    let help = enact(["chat", "--help"]).said();
    assert!(
        help.stdout.contains("[default: \"question -> answer\"]"),
        "{help:?}"
    );
}
