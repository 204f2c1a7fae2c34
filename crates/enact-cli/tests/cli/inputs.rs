//! Where inputs come from.

use enact_test_server::{TestServer, Turn};
use serde_json::{Value, json};

use crate::command::run;

fn submit() -> Turn {
    Turn::call("submit", json!({"a": "done"}))
}

fn inputs_of(object: &Value) -> &Value {
    &object["history"][0]["values"]
}

#[test]
fn files_stdin_literals_and_typed_values() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("text.txt");
    std::fs::write(&path, "from\na file\n").unwrap();
    let server = TestServer::start_blocking([submit()]);
    let text = format!("text=@{}", path.display());
    let said = run(
        &server,
        [
            "text, piped, at, sum, k: int, flags: list[str], on: bool, n: int = 7 -> a",
            &text,
            "piped=-",
            "at=@@me",
            "sum=1=1",
            "k=3",
            r#"flags=["x", "y"]"#,
            "on=true",
            "--json",
        ],
    )
    .stdin("from a pipe\r\n")
    .said();
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(
        *inputs_of(&said.json()),
        json!({
            "text": "from\na file",
            "piped": "from a pipe",
            "at": "@me",
            "sum": "1=1",
            "k": 3,
            "flags": ["x", "y"],
            "on": true,
            "n": 7,
        })
    );
}

#[test]
fn text_fields_stay_text() {
    let server = TestServer::start_blocking([submit()]);
    let said = run(
        &server,
        [
            "a_text: str, b: str -> a",
            "a_text=3",
            "b={\"x\": 1}",
            "--json",
        ],
    )
    .said();
    assert_eq!(
        *inputs_of(&said.json()),
        json!({"a_text": "3", "b": "{\"x\": 1}"})
    );
}

#[test]
fn input_that_is_no_text_is_refused() {
    let server = TestServer::start_blocking([]);
    let said = run(&server, ["text -> a", "text=-"])
        .stdin([0xff, 0xfe])
        .said();
    assert_eq!(said.code, 2);
    assert_eq!(
        said.error_line(),
        "standard input for the input `text` is not UTF-8 text"
    );
}

#[test]
fn truth_all_that_is_wrong_with_inputs_is_said_at_once() {
    let server = TestServer::start_blocking([]);
    let args = [
        "question, k: int, b: bool -> answer",
        "k=many",
        "b=Yes",
        "kk=1",
    ];
    let said = run(&server, args).said();
    assert_eq!(said.code, 2, "{said:?}");
    for part in [
        "missing input `question`",
        "unknown input `kk`",
        "`k`: expected an integer, got \"many\"",
    ] {
        assert!(said.error_line().contains(part), "{part} in {said:?}");
    }
}
