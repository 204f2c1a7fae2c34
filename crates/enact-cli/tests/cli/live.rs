//! What a terminal shows while a model writes, and how an answer looks when it is there.

use enact_test_server::{TestServer, Turn};
use serde_json::json;

use crate::command::asking;
use crate::terminal::Terminal;

const TASK: [&str; 4] = ["run", "question -> answer", "question=?", "--adapter=json"];

/// A step that stops in the middle of its output.
fn half() -> Turn {
    let text = r#"{"next_thought": "I wonder why.", "next_tool_name": "submit", "next_tool_args": {"answer": "Half an ans"#;
    Turn::text(text).in_pieces(5).then_stall()
}

#[test]
fn an_answer_is_shown_while_it_is_written_and_apart_from_the_thought() {
    let server = TestServer::start_blocking([half()]);
    let mut terminal = Terminal::at(asking(&server, TASK));
    let before = terminal.see("Half an");
    assert!(before.contains("answer:"), "{before}");
    let line = before.rsplit(['\r', '\n']).next().unwrap();
    assert!(
        !line.contains("wonder"),
        "one line with the thought: {before}"
    );
    terminal.control('c');
    terminal.wait();
}

#[test]
fn a_streamed_answer_stands_there_once_when_it_is_whole() {
    let step = json!({"next_thought": "t", "next_tool_name": "submit",
                      "next_tool_args": {"answer": "It is 42."}});
    let server = TestServer::start_blocking([Turn::text(step.to_string()).in_pieces(4)]);
    let mut terminal = Terminal::at(asking(&server, TASK));
    terminal.see("→ submit");
    terminal.see("answer: It is 42.");
    let after = terminal.see("done · 1 step");
    assert!(!after.contains("42"), "{after}");
    terminal.leave();
}

#[test]
fn markdown_is_rendered_on_a_terminal_and_left_alone_with_plain() {
    let answer = || {
        let text = "# Result\n\nIt is **bold** and `code`.";
        Turn::call("submit", json!({"answer": text}))
    };
    let server = TestServer::start_blocking([answer(), answer()]);
    let args = ["run", "question -> answer", "question=?"];
    let mut terminal = Terminal::at(asking(&server, args));
    // What stood there while it was written has been replaced.
    let shown = terminal.see("done · 1 step");
    let (_, shown) = shown.rsplit_once("answer:").unwrap();
    assert!(shown.contains("It is bold and code."), "{shown}");
    assert!(!shown.contains("**") && !shown.contains('#'), "{shown}");
    terminal.leave();
    let mut terminal = Terminal::at(asking(&server, args.into_iter().chain(["--plain"])));
    let shown = terminal.see("done · 1 step");
    let (_, shown) = shown.rsplit_once("answer:").unwrap();
    assert!(shown.contains("It is **bold** and `code`."), "{shown}");
    terminal.leave();
}
