//! What a person reads when the output goes into a pipe.

use enact_test_server::{TestServer, Turn};
use serde_json::json;

use crate::command::run;

#[test]
fn steps_observations_errors_repairs_and_outputs() {
    let server = TestServer::start_blocking([
        Turn::calls([
            ("calculator", json!({"expression": "6 * 7"})),
            ("calculator", json!({"expression": "1 / 0"})),
        ])
        .thinking("I calculate twice.\u{1b}[31m"),
        Turn::call("submit", json!({"answer": "42", "notes": ["a", "b"]})).usage(1200, 34),
    ]);
    let said = run(
        &server,
        [
            "question -> answer: int, notes: list[str]",
            "question=?",
            "--tools=calculator",
        ],
    )
    .said();
    assert_eq!((said.code, said.stderr.as_str()), (0, ""));
    let (told, time) = said.stdout.rsplit_once(" · ").unwrap();
    assert!(time.ends_with(" s\n"), "{time}");
    assert_eq!(
        told,
        "\
1. I calculate twice.␛[31m
   → [1] calculator(expression=\"6 * 7\")
   → [2] calculator(expression=\"1 / 0\")
   ← [1] 42
   ✗ [2] Error executing calculator: position 3: division by zero

2. → submit
     mended: `answer`: \"42\" → 42

answer: 42
notes:
  - a
  - b

done · 2 steps · 1,200 tokens in, 34 out · 1 mended"
    );
}

#[test]
fn long_observations_are_bounded_and_outputs_are_not() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("long.txt"), "line\n".repeat(100)).unwrap();
    let answer = "word ".repeat(500);
    let server = TestServer::start_blocking([
        Turn::call("read_file", json!({"path": "long.txt"})),
        Turn::text(answer.clone()),
    ]);
    let files = folder.path().to_str().unwrap();
    let said = run(
        &server,
        ["question -> answer", "question=?", "--files", files],
    )
    .said();
    assert_eq!(said.code, 0);
    assert!(
        said.stdout.contains("     … 95 more lines\n"),
        "{}",
        said.stdout
    );
    assert!(
        said.stdout
            .contains(&format!("answer: {}\n", answer.trim())),
        "{}",
        said.stdout
    );
}

#[test]
fn a_limit_and_an_unknown_tool_are_told() {
    let server = TestServer::start_blocking([
        Turn::call("calculate_it", json!({})),
        Turn::text(r#"{"reasoning": "r", "answer": 2}"#),
    ]);
    let args = [
        "question -> answer: int",
        "question=?",
        "--tools=calculator",
        "--max-iterations=1",
    ];
    let said = run(&server, args).said();
    assert_eq!(said.code, 4);
    assert!(
        said.stdout.contains("✗ Unknown tool `calculate_it`"),
        "{}",
        said.stdout
    );
    assert!(
        said.stdout
            .contains("out of steps; it answers from what it has"),
        "{}",
        said.stdout
    );
    assert!(
        said.stdout.contains("\nout of steps · 1 step"),
        "{}",
        said.stdout
    );
}

#[test]
fn a_question_that_nobody_can_answer_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let args = json!({"path": "a.txt", "content": "x"});
    let server = TestServer::start_blocking([Turn::call("write_file", args)]);
    let files = folder.path().to_str().unwrap();
    let said = run(&server, ["task -> done: bool", "task=?", "--files", files]).said();
    assert_eq!(said.code, 3);
    let waits = "waits for an answer: may write_file(path=\"a.txt\", content=\"x\") run?";
    assert!(said.stdout.contains(waits), "{}", said.stdout);
    assert!(said.stdout.contains("paused · 1 step"), "{}", said.stdout);
    assert!(!folder.path().join("a.txt").exists());
}

#[test]
fn a_reader_that_goes_away_is_no_panic() {
    let server = TestServer::start_blocking([Turn::text("an answer")]);
    let mut child = run(&server, ["question -> answer", "question=?"]).spawn();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(
        String::from_utf8_lossy(&output.stderr).is_empty(),
        "{output:?}"
    );
    assert_eq!(output.status.code(), Some(0));
}
