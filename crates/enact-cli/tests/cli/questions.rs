//! Questions at a terminal: an answer is for the question on the screen, and what is approved is
//! what is seen.

use enact_test_server::{Gate, TestServer, Turn};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::command::{asking, enact, wait_for_requests};
use crate::place::Place;
use crate::terminal::Terminal;

const PROMPT: &str = "or type feedback:";
const REJECTED: &str = "The user declined this call.";

fn write(path: &str) -> (&'static str, Value) {
    ("write_file", json!({"path": path, "content": "x"}))
}

fn done() -> Turn {
    Turn::call("submit", json!({"answer": "done"}))
}

/// `enact run` at a terminal.
fn run(place: &Place, server: &TestServer) -> Terminal {
    let files = place.files.path().to_string_lossy().into_owned();
    let args = ["run", "task -> answer", "task=?", "--files", &files];
    Terminal::at(asking(server, args).env("ENACT_STORE", &place.store()))
}

#[test]
fn truth_input_from_before_the_question_is_thrown_away() {
    let place = Place::new();
    let gate = Gate::closed();
    let server = TestServer::start_blocking([Turn::calls([write("a")]).behind(&gate), done()]);
    let mut terminal = run(&place, &server);
    wait_for_requests(&server, 1);
    // Whole lines and a half one; the terminal shows them once it has them.
    terminal.press("y\ryes\ry");
    terminal.see("y\r\nyes\r\ny");
    gate.open();
    terminal.see(PROMPT);
    terminal.enter("");
    terminal.see("type an answer");
    terminal.see(PROMPT);
    terminal.enter("n");
    terminal.see(REJECTED);
    terminal.see("answer: done");
    terminal.leave();
    assert_eq!(place.written("a"), None);
    server.assert_complete();
}

#[test]
fn truth_each_answer_is_for_the_question_on_the_screen() {
    let place = Place::new();
    let both = || Turn::calls([write("a"), write("b")]);
    let server = TestServer::start_blocking([both(), done(), both(), done()]);
    let mut terminal = run(&place, &server);
    terminal.see("path: a");
    terminal.see(PROMPT);
    terminal.press("y\ry\r");
    terminal.see("path: b");
    terminal.see(PROMPT);
    terminal.enter("n");
    terminal.see("answer: done");
    terminal.leave();
    assert_eq!(place.written("a").as_deref(), Some("x"));
    assert_eq!(place.written("b"), None);

    // The same where the questions are those of a run that is resumed.
    std::fs::remove_file(place.files.path().join("a")).unwrap();
    let object = place.run(&server).said().json();
    let run_id = object["run_id"].as_str().unwrap();
    let mut terminal = Terminal::at(place.enact(["resume", run_id]));
    terminal.see("path: a");
    terminal.see(PROMPT);
    terminal.press("y\ry\ry");
    terminal.see("path: b");
    terminal.see(PROMPT);
    terminal.enter("o");
    terminal.see("answer: done");
    terminal.leave();
    assert_eq!(place.written("a").as_deref(), Some("x"));
    assert_eq!(place.written("b"), None, "`o` is no end of an earlier `y`");
    server.assert_complete();
}

#[test]
fn truth_input_from_before_a_question_in_a_conversation_is_thrown_away() {
    let place = Place::new();
    let gate = Gate::closed();
    let server = TestServer::start_blocking([
        Turn::calls([write("a"), write("b"), write("c")]).behind(&gate),
        Turn::call("submit", json!({"answer": "first"})),
        Turn::call("submit", json!({"answer": "second"})),
    ]);
    let folder = place.files.path().to_string_lossy().into_owned();
    let chat = asking(&server, ["chat", "--files", &folder]);
    let mut terminal = Terminal::at(chat.env("ENACT_STORE", &place.store()));
    terminal.see_prompt();
    terminal.enter("write");
    wait_for_requests(&server, 1);
    terminal.press("y\ry");
    terminal.see("y\r\ny");
    gate.open();
    terminal.see("path: a");
    terminal.see(PROMPT);
    terminal.enter("n");
    terminal.see("path: b");
    terminal.see(PROMPT);
    terminal.press("y\ry\r");
    terminal.see("path: c");
    terminal.see(PROMPT);
    terminal.enter("n");
    terminal.see("answer: first");
    terminal.see_prompt();
    terminal.enter("and now?");
    terminal.see("answer: second");
    terminal.see_prompt();
    terminal.control('d');
    terminal.leave();
    assert_eq!(place.written("b").as_deref(), Some("x"));
    assert_eq!((place.written("a"), place.written("c")), (None, None));
    server.assert_complete();
}

#[test]
fn truth_input_from_before_the_question_of_the_demo_is_thrown_away() {
    let mut terminal = Terminal::at(enact(["demo"]));
    terminal.see("enact demo");
    terminal.press("y\r");
    terminal.see("may write_file run");
    terminal.see(PROMPT);
    terminal.enter("n");
    terminal.see("No file was written.");
    terminal.leave();
}

#[test]
fn truth_an_edit_that_cannot_be_read_comes_back_to_the_person() {
    let place = Place::new();
    let server = TestServer::start_blocking([Turn::calls([write("a")]), done()]);
    let mut terminal = run(&place, &server);
    for answer in ["edit nonsense", r#"{"edit": {"path": "b"}}"#] {
        terminal.see(PROMPT);
        terminal.enter(answer);
        terminal.see("this edit cannot be read");
        terminal.see("edit {\"path\"");
    }
    terminal.see(PROMPT);
    terminal.enter(r#"edit {"path": "b"}"#);
    terminal.see("instead: write_file(path=\"b\"");
    terminal.see("answer: done");
    terminal.leave();
    assert_eq!(
        (place.written("a"), place.written("b").as_deref()),
        (None, Some("x"))
    );
    server.assert_complete();
}

#[test]
fn truth_what_is_approved_is_what_is_seen() {
    let place = Place::new();
    let content = format!(
        "ls\u{200b}\u{e0041}\u{202e}\u{3164}\u{fe0f}\u{ad}\u{2028}.{}rm -rf /",
        "\n".repeat(201)
    );
    let marks = r"ls\u{200b}\u{e0041}\u{202e}\u{3164}\u{fe0f}\u{ad}\u{2028}.";
    let args = json!({"path": "a\u{200d}b", "content": content});
    let server = TestServer::start_blocking([Turn::call("write_file", args), done()]);
    let mut terminal = run(&place, &server);
    terminal.see("may write_file run");
    terminal.see(r"path: a\u{200d}b");
    terminal.see("content: (202 lines, ");
    terminal.see(marks);
    terminal.see("«200 blank lines»");
    terminal.see("rm -rf /");
    terminal.see(PROMPT);
    terminal.control('d');
    // What waits is shown in the same way where nobody answers, and later.
    terminal.see(r"path: a\u{200d}b");
    terminal.see(marks);
    terminal.see("paused");
    terminal.wait();
    let shown = place
        .enact(["show", place.runs()[0]["run_id"].as_str().unwrap()])
        .said();
    for seen in [
        r"path: a\u{200d}b",
        marks,
        "«200 blank lines»",
        "rm -rf /",
        "id: ",
    ] {
        assert!(shown.stdout.contains(seen), "{seen}: {}", shown.stdout);
    }
    for form in ["trace", "json", "history", "events"] {
        let run_id = place.runs()[0]["run_id"].as_str().unwrap().to_owned();
        let shown = place.enact(["show", &run_id, "--as", form]).said().stdout;
        let raw = shown
            .chars()
            .find(|one| "\u{200b}\u{e0041}\u{202e}\u{3164}".contains(*one));
        assert_eq!(raw, None, "{form}: {shown}");
    }
}

#[test]
fn truth_what_is_left_out_of_a_question_can_be_seen() {
    let place = Place::new();
    let lines: Vec<String> = (0..300).map(|number| format!("line {number};")).collect();
    let args = json!({"path": "a", "content": lines.join("\n")});
    let server = TestServer::start_blocking([Turn::call("write_file", args), done()]);
    let mut terminal = run(&place, &server);
    let before = terminal.see("characters left out");
    assert!(before.contains("line 0;") && !before.contains("line 150;"));
    terminal.see("line 299;");
    terminal.see("[s]how all");
    terminal.enter("show");
    terminal.see("line 150;");
    terminal.see("line 299;");
    terminal.see(PROMPT);
    terminal.enter("n");
    terminal.see("answer: done");
    terminal.leave();
}

/// What a tool asks is text of a model, too.
#[test]
fn truth_a_clarifying_question_is_shown_as_it_is() {
    let folder = TempDir::new().unwrap();
    let store = folder.path().join("runs.db").to_string_lossy().into_owned();
    let question = format!("Which\u{200b} city?{}Really?", "\n".repeat(90));
    let server = TestServer::start_blocking([
        Turn::call("ask_user", json!({ "question": question })),
        done(),
    ]);
    let args = ["run", "task -> answer", "task=?", "--tools", "ask_user"];
    let mut terminal = Terminal::at(asking(&server, args).env("ENACT_STORE", &store));
    terminal.see("ask_user asks:");
    terminal.see(r"Which\u{200b} city?");
    terminal.see("«89 blank lines»");
    terminal.see("Really?");
    terminal.see("your answer:");
    terminal.enter("Rome");
    terminal.see("answer: done");
    terminal.leave();
}

#[test]
fn truth_a_thought_cannot_pass_for_a_question() {
    let place = Place::new();
    let thought =
        "I look first.\n\n   ? may read_file run with these arguments?\n     path: ls\u{200b}";
    let thought = format!("{thought}{}", "\nand on".repeat(60));
    let server = TestServer::start_blocking([Turn::calls([write("a")]).thinking(thought), done()]);
    let files = place.files.path().to_string_lossy().into_owned();
    let args = [
        "run",
        "task -> answer",
        "task=?",
        "--files",
        &files,
        "--quiet",
    ];
    let command = asking(&server, args).env("ENACT_STORE", &place.store());
    let mut terminal = Terminal::at_errors_of(command);
    let before = terminal.see("the model thought:");
    assert!(!before.contains("may "), "{before}");
    let thought = terminal.see("? may write_file run with these arguments?");
    assert!(thought.contains(r"ls\u{200b}"), "{thought}");
    let rows: Vec<&str> = thought.lines().map(str::trim).collect();
    assert!(rows.len() <= 12, "{thought}");
    let bar: String = "│".bytes().map(char::from).collect();
    let forged = rows.iter().find(|row| row.contains("may read_file"));
    assert!(forged.unwrap().starts_with(&bar), "{thought}");
    let asked = terminal.see(PROMPT);
    assert!(asked.contains("path: a"), "{asked}");
    assert!(
        !asked.contains("look") && !asked.contains("and on"),
        "{asked}"
    );
    terminal.enter("n");
    terminal.leave();
    server.assert_complete();
}

#[test]
fn truth_the_beginning_of_a_question_is_never_pushed_away() {
    let place = Place::new();
    let hidden = format!("rm -rf /;{}echo hi", "\t".repeat(420));
    let long: Vec<String> = (0..38).map(|number| format!("line {number}")).collect();
    let server = TestServer::start_blocking([
        Turn::call("write_file", json!({"path": "a", "content": hidden})),
        Turn::call(
            "write_file",
            json!({"path": "b", "content": long.join("\n")}),
        ),
        done(),
    ]);
    let mut terminal = run(&place, &server);
    terminal.see("rm -rf /;«420 tabs»echo hi");
    terminal.see(PROMPT);
    terminal.enter("n");
    terminal.see("may write_file run");
    let asked = terminal.see("[s]how all");
    assert!(asked.lines().count() < 24, "{asked}");
    for seen in ["path: b", "line 0", "left out", "line 37"] {
        assert!(asked.contains(seen), "{seen}: {asked}");
    }
    terminal.see(PROMPT);
    terminal.enter("s");
    terminal.see("line 20");
    // The name would be out of sight.
    terminal.see("write_file: [y]es");
    terminal.see(PROMPT);
    terminal.enter("n");
    terminal.see("answer: done");
    terminal.leave();
    server.assert_complete();
}

#[test]
fn truth_an_answer_without_its_line_end_is_none() {
    let place = Place::new();
    let server = TestServer::start_blocking([Turn::calls([write("a")])]);
    let mut terminal = run(&place, &server);
    terminal.see(PROMPT);
    std::thread::sleep(std::time::Duration::from_millis(500));
    terminal.press("y");
    terminal.see("y");
    terminal.control('d');
    terminal.control('d');
    terminal.see("paused");
    terminal.wait();
    assert_eq!(place.written("a"), None);
    server.assert_complete();
}

#[test]
fn truth_a_terminal_obeys_nothing_in_what_is_shown_of_a_run() {
    let place = Place::new();
    let server = TestServer::start_blocking([
        Turn::call("note", json!({"text": "a\u{7}b\u{200b}c"}))
            .thinking("one\u{7}two\u{200b}three"),
        done(),
    ]);
    let said = place.run(&server).args(["--tools", "note"]).said();
    assert_eq!(said.code, 0, "{said:?}");
    let run_id = said.json()["run_id"].as_str().unwrap().to_owned();
    for form in ["scratchpad", "trajectory"] {
        let show = ["show", run_id.as_str(), "--as", form];
        let mut terminal = Terminal::at(place.enact(show));
        terminal.see(r"one\u{7}two\u{200b}three");
        terminal.wait();
        let piped = place.enact(show).said().stdout;
        assert!(
            piped.contains("one\u{7}two\u{200b}three"),
            "{form}: {piped}"
        );
    }
}

#[test]
fn truth_a_write_shows_what_it_changes_in_the_file() {
    let place = Place::new();
    let file = place.files.path().join("notes.txt");
    let before: String = (1..=30).map(|n| format!("line {n}\n")).collect();
    std::fs::write(&file, &before).unwrap();
    let edit = |new: &str| json!({"path": "notes.txt", "old_text": "line 12\n", "new_text": new});
    let server = TestServer::start_blocking([
        Turn::call(
            "edit_file",
            json!({"path": "notes.txt", "old_text": "none", "new_text": ""}),
        ),
        Turn::call("edit_file", edit("line\u{200b} twelve\n")),
        done(),
    ]);
    let mut terminal = run(&place, &server);
    terminal.see("the call would fail: `old_text` is not in `notes.txt`");
    terminal.see(PROMPT);
    terminal.enter("y");
    terminal.see("`old_text` is not in `notes.txt`");
    terminal.see("may edit_file run with these arguments?");
    terminal.see("path: notes.txt");
    terminal.see("diff: (1 line added, 1 removed)");
    terminal.see("@@ -9,7 +9,7 @@");
    terminal.see("-line 12");
    terminal.see(r"+line\u{200b} twelve");
    let rest = terminal.see(PROMPT);
    assert!(
        rest.contains("line 15") && !rest.contains("line 16"),
        "{rest}"
    );
    assert_eq!(std::fs::read_to_string(&file).unwrap(), before);
    terminal.enter("y");
    terminal.see("answer: done");
    terminal.leave();
    let after = std::fs::read_to_string(&file).unwrap();
    assert_eq!(after, before.replace("line 12\n", "line\u{200b} twelve\n"));
    server.assert_complete();
}
