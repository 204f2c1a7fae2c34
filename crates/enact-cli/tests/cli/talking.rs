//! The commands of a conversation, the files that it names, and how it is continued.

use enact_test_server::{TestServer, Turn};
use serde_json::json;
use tempfile::TempDir;

use crate::command::{Enact, Said, asking};
#[cfg(unix)]
use crate::terminal::Terminal;

fn answer(text: &str) -> Turn {
    Turn::call("submit", json!({ "answer": text })).usage(1_000, 20)
}

/// `enact chat` with this store.
fn chat(server: &TestServer, data: &TempDir, args: &[&str]) -> Enact {
    let store = data.path().join("runs.db");
    let all = ["chat"].into_iter().chain(args.iter().copied());
    asking(server, all).env("ENACT_STORE", &store.to_string_lossy())
}

fn said(server: &TestServer, data: &TempDir, args: &[&str], lines: &str) -> Said {
    let said = chat(server, data, args).stdin(lines).said();
    assert_eq!(said.code, 0, "{said:?}");
    said
}

/// The messages of a request, as text.
fn asked(server: &TestServer, index: usize) -> String {
    server.requests()[index].json()["messages"].to_string()
}

#[test]
fn a_model_is_changed_and_what_was_taken_is_told() {
    let data = TempDir::new().unwrap();
    let server = TestServer::start_blocking([answer("one"), answer("two")]);
    let lines = "/cost\n/tools\n/model\nfirst\n/model other-model\nsecond\n/cost\n/model no::such\n\
                 /show\n";
    let said = said(&server, &data, &["--tools", "calculator"], lines);
    for told in [
        "no turns since",
        "calculator · ",
        "answered by test-model",
        "now using other-model",
        "2 turns · 2 requests · 2,000 tokens in, 40 out · cost unknown",
        "`no`",
        "reply took",
    ] {
        assert!(said.stderr.contains(told), "{told}: {said:?}");
    }
    let models: Vec<String> = server
        .requests()
        .iter()
        .map(|request| request.json()["model"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(models, ["test-model", "other-model"]);
    let second = &server.requests()[1].json();
    assert!(second["tools"].to_string().contains("calculator"));
    assert!(
        asked(&server, 1).contains("first"),
        "the conversation goes on"
    );
}

#[test]
fn a_turn_is_asked_again() {
    let data = TempDir::new().unwrap();
    let server = TestServer::start_blocking([
        answer("one"),
        answer("two"),
        answer("better"),
        Turn::status(400).body(json!({"error": {"message": "too strange"}}).to_string()),
        answer("three"),
    ]);
    let lines = "/retry\nfirst\nsecond\n/retry\nthird\n/retry\n";
    let said = said(&server, &data, &[], lines);
    assert!(said.stderr.contains("there is no turn to repeat"));
    assert_eq!(said.stdout, "one\ntwo\nbetter\nthree\n");
    let again = asked(&server, 2);
    assert!(again.contains("first") && again.contains("second") && !again.contains("two"));
    // One that failed is asked again after the same turns.
    let last = asked(&server, 4);
    assert_eq!(last, asked(&server, 3));
    assert!(last.contains("better") && last.contains("third"), "{last}");
}

#[test]
fn a_quiet_conversation_prints_outputs_alone() {
    let data = TempDir::new().unwrap();
    let server = TestServer::start_blocking([answer("one"), answer("two")]);
    let said = said(&server, &data, &["--quiet"], "first\nsecond\n");
    assert_eq!(
        (said.stdout.as_str(), said.stderr.as_str()),
        ("one\ntwo\n", "")
    );
}

#[test]
fn an_image_is_attached_where_the_signature_takes_one() {
    let data = TempDir::new().unwrap();
    let file = data.path().join("x.png");
    std::fs::write(&file, b"\x89PNG\r\n\x1a\n...").unwrap();
    let file = file.to_string_lossy();
    let server = TestServer::start_blocking([answer("a cat"), answer("a dog")]);
    let arrow = "question, photo: image -> answer";
    // In the line of the question, or as the answer to the prompt of its own.
    let lines = format!("what is @{file}?\nand this?\n@{file}\n");
    let told = said(&server, &data, &[arrow], &lines);
    assert_eq!(told.stdout, "a cat\na dog\n", "{told:?}");
    for index in [0, 1] {
        let sent = asked(&server, index);
        assert!(sent.contains("data:image/png;base64,iVBORw0KGgo"), "{sent}");
    }
    let server = TestServer::start_blocking([]);
    let said = said(&server, &data, &[], &format!("what is @{file}?\n"));
    assert!(said.stderr.contains("no image input"), "{said:?}");
    assert!(said.stderr.contains("nothing was sent"), "{said:?}");
}

#[test]
fn the_content_of_a_file_becomes_part_of_the_message() {
    let data = TempDir::new().unwrap();
    let file = data.path().join("notes.txt");
    std::fs::write(&file, "The sky is blue.\n").unwrap();
    let file = file.to_string_lossy();
    let server = TestServer::start_blocking([answer("one"), answer("two")]);
    let lines = format!("what says @{file}?\nhi @nobody\nhi @@nobody and me@example.org\n");
    let said = said(&server, &data, &[], &lines);
    assert_eq!(said.stdout, "one\ntwo\n");
    assert!(said.stderr.contains("(16 characters)"), "{said:?}");
    assert!(said.stderr.contains("file `nobody` not found"), "{said:?}");
    assert!(asked(&server, 0).contains("The sky is blue."));
    assert!(asked(&server, 1).contains("hi @nobody and me@example.org"));
    server.assert_complete();
}

#[test]
fn the_newest_conversation_is_continued_with_its_agent() {
    let data = TempDir::new().unwrap();
    let server = TestServer::start_blocking([
        answer("blue"),
        answer("green"),
        answer("lost"),
        Turn::status(400).body(json!({"error": {"message": "too strange"}}).to_string()),
        answer("red"),
        answer("other"),
    ]);
    let none = chat(&server, &data, &["--continue"]).stdin("hi\n").said();
    assert_eq!(none.code, 2, "{none:?}");
    assert!(none.error_line().contains("no conversation to continue"));
    let task = ["task -> answer, k: int = 3", "--tools", "calculator"];
    said(&server, &data, &task[..1], "not this\n/quit\n");
    said(
        &server,
        &data,
        &task,
        "my colour?\n/new\nand yours?\nfails\n",
    );
    // Another run is no conversation.
    let one = said(
        &server,
        &data,
        &["--continue"],
        "and hers?\n/undo\n/undo\n/undo\n",
    );
    assert!(one.stdout.starts_with("answer: red\n"), "{one:?}");
    for told in ["forgot “and hers?”", "forgot “and yours?”: no turns left"] {
        assert!(one.stderr.contains(told), "{told}: {one:?}");
    }
    let messages = asked(&server, 4);
    assert!(messages.contains("and yours?") && messages.contains("lost"));
    for gone in ["not this", "my colour?", "fails"] {
        assert!(!messages.contains(gone), "{messages}");
    }
    let tools = server.requests()[4].json()["tools"].to_string();
    assert!(tools.contains("calculator"), "{tools}");
    // With an agent of its own, only the turns are continued.
    said(
        &server,
        &data,
        &["--continue", "task -> answer"],
        "and theirs?\n",
    );
    let tools = server.requests()[5].json()["tools"].to_string();
    assert!(!tools.contains("calculator"), "{tools}");
    assert!(asked(&server, 5).contains("and hers?"));
    server.assert_complete();
    let both = chat(&server, &data, &["--continue", "--history", "x.json"]).said();
    assert_eq!(both.code, 2, "{both:?}");
}

#[cfg(unix)]
#[test]
fn truth_a_secret_that_is_typed_is_not_remembered_in_clear() {
    let data = TempDir::new().unwrap();
    let server = TestServer::start_blocking([answer("one")]);
    let secret = "tok-4711-geheim";
    let chat = chat(&server, &data, &[])
        .env("ENACT_SECRETS", "MY_TOKEN")
        .env("MY_TOKEN", secret);
    let mut terminal = Terminal::at(chat);
    terminal.see_prompt();
    terminal.enter(&format!("log in with {secret} and {}", crate::command::KEY));
    terminal.see("answer: one");
    terminal.see_prompt();
    terminal.press("\u{1b}[A");
    terminal.see("log in with [redacted] and [redacted]");
    terminal.control('c');
    terminal.see_prompt();
    terminal.control('d');
    terminal.leave();
    let remembered = std::fs::read_to_string(data.path().join("runs.db.chat-history")).unwrap();
    assert_eq!(remembered, "#V2\nlog in with [redacted] and [redacted]\n");
    server.assert_complete();
}

#[cfg(unix)]
#[test]
fn tab_completes_commands_and_files() {
    let data = TempDir::new().unwrap();
    std::fs::write(data.path().join("my notes.txt"), "The sky is blue.").unwrap();
    let server = TestServer::start_blocking([answer("one")]);
    let mut terminal = Terminal::at(chat(&server, &data, &[]));
    terminal.see_prompt();
    terminal.press("/too\t");
    terminal.see("/tools");
    terminal.enter("");
    terminal.see("there are no tools");
    terminal.see_prompt();
    terminal.press(&format!("read @{}/my\t", data.path().display()));
    terminal.see("my\\ notes.txt");
    terminal.enter("");
    terminal.see("(16 characters)");
    terminal.see("answer: one");
    terminal.see_prompt();
    terminal.control('d');
    terminal.leave();
    assert!(asked(&server, 0).contains("The sky is blue."));
    server.assert_complete();
}

#[test]
fn truth_a_conversation_from_somewhere_else_is_not_continued_unasked() {
    let data = TempDir::new().unwrap();
    let server = TestServer::start_blocking([answer("blue")]);
    said(&server, &data, &["task -> answer"], "my colour?\n");
    let key = data.path().join("elsewhere/seal.key");
    let said = chat(&server, &data, &["--continue"])
        .env("ENACT_SEAL_KEY", &key.to_string_lossy())
        .stdin("again\n")
        .said();
    assert_eq!(said.code, 2, "{said:?}");
    let line = said.error_line();
    assert!(line.contains("not started by this user"), "{line}");
    // There is no such flag here.
    assert!(!line.contains("--trust"), "{line}");
    assert!(line.contains("continue it in a terminal"), "{line}");
    server.assert_complete();
}
