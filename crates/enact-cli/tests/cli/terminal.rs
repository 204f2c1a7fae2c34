//! Conversations at a terminal, as a person has them.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use enact_test_server::{TestServer, Turn};
use rexpect::session::{Options, PtySession, spawn_with_options};
use serde_json::json;
use tempfile::TempDir;

use crate::command::{Enact, asking, wait_for_requests};

/// Far longer than anything takes.
const DEADLINE_MS: u64 = 60_000;
const UP: &str = "\u{1b}[A";
const BACKSPACE: &str = "\u{7f}";

/// A person at a terminal.
pub(crate) struct Terminal(PtySession);

impl Terminal {
    pub(crate) fn chat(server: &TestServer, data: &Path, args: &[&str]) -> Self {
        let store = data.join("runs.db");
        let all = ["chat"].into_iter().chain(args.iter().copied());
        let command = asking(server, all).env("ENACT_STORE", &store.to_string_lossy());
        Self::open(command.env("TERM", "xterm").into_command())
    }

    /// At the terminal of this command, which shows what is typed as soon as it has it.
    pub(crate) fn at(command: Enact) -> Self {
        Self::through(command, r#"stty echo && exec "$0" "$@""#)
    }

    /// The same where only standard error is shown.
    pub(crate) fn at_errors_of(command: Enact) -> Self {
        Self::through(command, r#"stty echo && exec "$0" "$@" > /dev/null"#)
    }

    fn through(command: Enact, script: &str) -> Self {
        let command = command.env("TERM", "xterm").into_command();
        // A session turns that off.
        let mut shell = Command::new("sh");
        shell.args(["-c", script]);
        shell.arg(command.get_program()).args(command.get_args());
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => shell.env(name, value),
                None => shell.env_remove(name),
            };
        }
        Self::open(shell)
    }

    fn open(command: Command) -> Self {
        let options = Options::new()
            .timeout_ms(Some(DEADLINE_MS))
            .strip_ansi_escape_codes(true);
        Self(spawn_with_options(command, options).unwrap())
    }

    /// Waits until this is seen, and gives what came before it.
    pub(crate) fn see(&mut self, text: &str) -> String {
        // The session takes each byte for a character.
        let bytes: String = text.bytes().map(char::from).collect();
        match self.0.exp_string(&bytes) {
            Ok(before) => before,
            Err(error) => panic!("`{text}` was not seen: {error}"),
        }
    }

    pub(crate) fn see_prompt(&mut self) {
        self.see("\r> ");
    }

    pub(crate) fn press(&mut self, keys: &str) {
        self.0.send(keys).unwrap();
        self.0.flush().unwrap();
    }

    pub(crate) fn enter(&mut self, line: &str) {
        self.press(&format!("{line}\r"));
    }

    pub(crate) fn control(&mut self, key: char) {
        self.0.send_control(key).unwrap();
    }

    /// Waits for the end of the process, whatever came of it.
    pub(crate) fn wait(mut self) {
        self.0.exp_eof().unwrap();
    }

    /// Waits for the end of the process, which must be a success.
    pub(crate) fn leave(mut self) {
        self.0.exp_eof().unwrap();
        let status = format!("{:?}", self.0.process().wait().unwrap());
        assert!(
            status.starts_with("Exited(") && status.ends_with(", 0)"),
            "{status}"
        );
    }
}

fn answer(text: &str) -> Turn {
    Turn::call("submit", json!({ "answer": text }))
}

#[test]
fn a_line_is_edited_recalled_and_remembered() {
    let data = TempDir::new().unwrap();
    let server = TestServer::start_blocking([answer("one"), answer("two"), answer("three")]);
    let mut terminal = Terminal::chat(&server, data.path(), &[]);
    terminal.see("question: str -> answer: str, answered by test-model");
    terminal.see_prompt();
    terminal.press("hellp");
    terminal.see("hellp");
    terminal.press(BACKSPACE);
    terminal.enter("o");
    terminal.see("answer: one");
    terminal.see("done · 1 step");
    terminal.see_prompt();
    terminal.press(UP);
    terminal.see("hello");
    terminal.enter(" again");
    terminal.see("answer: two");
    terminal.see_prompt();
    terminal.enter("/help");
    terminal.see("forget the last turn");
    terminal.see_prompt();
    terminal.control('d');
    terminal.leave();

    // Another conversation knows what was typed, and nobody else can read it.
    let file = data.path().join("runs.db.chat-history");
    let mode = file.metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let mut terminal = Terminal::chat(&server, data.path(), &[]);
    terminal.see_prompt();
    terminal.press(UP);
    terminal.see("/help");
    terminal.press(UP);
    terminal.see("hello again");
    terminal.enter("");
    terminal.see("answer: three");
    terminal.see_prompt();
    terminal.enter("/quit");
    terminal.leave();

    let asked = |index: usize| server.requests()[index].json()["messages"].to_string();
    assert!(asked(0).contains("hello") && !asked(0).contains("hellp"));
    assert!(asked(1).contains("hello again"));
    assert!(asked(2).contains("hello again") && !asked(2).contains("two"));
    server.assert_complete();
}

#[test]
fn a_question_is_answered_in_between() {
    let data = TempDir::new().unwrap();
    let files = TempDir::new().unwrap();
    let write = |path: &str| Turn::call("write_file", json!({"path": path, "content": "x"}));
    let server = TestServer::start_blocking([write("a.txt"), answer("written"), write("b.txt")]);
    let folder = files.path().to_string_lossy().into_owned();
    let mut terminal = Terminal::chat(&server, data.path(), &["--files", &folder]);
    terminal.see_prompt();
    terminal.enter("write a");
    terminal.see("may write_file run with these arguments?");
    terminal.see("or type feedback:");
    terminal.enter("y");
    terminal.see("answer: written");
    terminal.see_prompt();
    assert!(files.path().join("a.txt").exists());

    // Ctrl-C at a question leaves the turn for later, and the next line is nobody's answer.
    terminal.enter("write b");
    terminal.see("or type feedback:");
    terminal.control('c');
    terminal.see("`enact resume ");
    terminal.see("this turn was not added to the conversation");
    terminal.see_prompt();
    terminal.enter("/undo");
    terminal.see("forgot “write a”: no turns left");
    terminal.see_prompt();
    terminal.control('d');
    terminal.leave();
    assert!(!files.path().join("b.txt").exists());
    // Answers to questions are not recalled as turns.
    let remembered = std::fs::read_to_string(data.path().join("runs.db.chat-history")).unwrap();
    assert_eq!(remembered, "#V2\nwrite a\nwrite b\n/undo\n");
    server.assert_complete();
}

#[test]
fn ctrl_c_stops_a_turn_clears_a_line_and_leaves_when_pressed_twice() {
    let data = TempDir::new().unwrap();
    let server = TestServer::start_blocking([
        answer("one"),
        Turn::text("never comes").then_stall(),
        answer("two"),
    ]);
    let mut terminal = Terminal::chat(&server, data.path(), &[]);
    terminal.see_prompt();
    terminal.enter("first");
    terminal.see("answer: one");
    terminal.see_prompt();
    terminal.enter("second");
    wait_for_requests(&server, 2);
    terminal.control('c');
    terminal.see("`enact resume ");
    terminal.see("interrupted");
    terminal.see_prompt();
    terminal.press("not this");
    terminal.see("not this");
    terminal.control('c');
    terminal.see_prompt();
    terminal.enter("third");
    terminal.see("answer: two");
    terminal.see_prompt();
    terminal.control('c');
    terminal.see("press Ctrl-C again");
    terminal.see_prompt();
    terminal.control('c');
    terminal.leave();
    let third = server.requests()[2].json()["messages"].to_string();
    assert!(
        third.contains("first") && third.contains("third"),
        "{third}"
    );
    assert!(
        !third.contains("second") && !third.contains("not this"),
        "{third}"
    );
    server.assert_complete();
}

#[test]
fn a_memory_that_cannot_be_written_is_told_once() {
    let data = TempDir::new().unwrap();
    // A folder where the file should be.
    std::fs::create_dir(data.path().join("runs.db.chat-history")).unwrap();
    let server = TestServer::start_blocking([answer("one"), answer("two")]);
    let mut terminal = Terminal::chat(&server, data.path(), &[]);
    terminal.see("warning: what you type will not be remembered");
    terminal.see_prompt();
    for (line, answer) in [("first", "answer: one"), ("second", "answer: two")] {
        terminal.enter(line);
        let before = terminal.see(answer);
        assert!(!before.contains("warning"), "{before}");
        terminal.see_prompt();
    }
    terminal.control('d');
    terminal.leave();
    server.assert_complete();
}
