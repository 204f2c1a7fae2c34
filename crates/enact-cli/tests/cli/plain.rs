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
    assert_eq!(said.code, 0);
    assert_eq!(said.stdout, "answer: 42\nnotes:\n  - a\n  - b\n");
    let (told, time) = said.stderr.rsplit_once(" · ").unwrap();
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
     repaired: `answer`: \"42\" → 42

done · 2 steps · 1,200 tokens in, 34 out · 1 repaired"
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
        said.stderr.contains("     … 95 more lines\n"),
        "{}",
        said.stderr
    );
    // A single text is the text itself.
    assert_eq!(said.stdout.trim_end(), answer.trim_end());
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
        said.stderr.contains("✗ Unknown tool `calculate_it`"),
        "{}",
        said.stderr
    );
    assert!(
        said.stderr
            .contains("out of steps; answering from what is known"),
        "{}",
        said.stderr
    );
    assert!(
        said.stderr.contains("\nout of steps · 1 step"),
        "{}",
        said.stderr
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
    assert!(said.stderr.contains(waits), "{}", said.stderr);
    assert!(said.stderr.contains("paused · 1 step"), "{}", said.stderr);
    assert_eq!(said.stdout, "");
    assert!(!folder.path().join("a.txt").exists());
}

#[test]
fn a_reader_that_goes_away_is_no_panic() {
    let server = TestServer::start_blocking([Turn::text("an answer")]);
    let mut child = run(&server, ["question -> answer", "question=?"]).spawn();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!told.contains("panicked"), "{told}");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn quiet_leaves_the_outputs_and_what_waits() {
    let quiet = |turn: Turn, args: &[&str]| {
        let server = TestServer::start_blocking([turn]);
        run(&server, args.iter().copied().chain(["--quiet"])).said()
    };
    let said = quiet(
        Turn::text("# Title\n\nand **text**"),
        &["question -> answer", "question=?"],
    );
    assert_eq!((said.code, said.stderr.as_str()), (0, ""));
    assert_eq!(said.stdout, "# Title\n\nand **text**\n");
    let said = quiet(
        Turn::call("submit", json!({"answer": 2})),
        &["question -> answer: int", "question=?"],
    );
    assert_eq!((&*said.stdout, &*said.stderr), ("answer: 2\n", ""));
    let folder = tempfile::tempdir().unwrap();
    let files = format!("--files={}", folder.path().display());
    let write = json!({"path": "a.txt", "content": "x"});
    let said = quiet(
        Turn::call("write_file", write),
        &["task -> answer", "task=?", &files],
    );
    assert_eq!((said.code, said.stdout.as_str()), (3, ""));
    assert!(
        said.stderr.contains("waits for an answer: may write_file"),
        "{said:?}"
    );
    let said = quiet(
        Turn::status(401).body("{}"),
        &["question -> answer", "question=?"],
    );
    assert_eq!((said.code, said.stdout.as_str()), (1, ""));
    assert_eq!(said.stderr.lines().count(), 1, "{said:?}");
    said.error_line();
}
