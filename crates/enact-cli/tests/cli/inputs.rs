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

/// The smallest PNG.
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n....";

#[test]
fn images_are_sent_as_images() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cat");
    std::fs::write(&path, PNG).unwrap();
    let server = TestServer::start_blocking([submit()]);
    let file = format!("photo=@{}", path.display());
    let args = [
        "photo: image, other: image | None -> a",
        &file,
        "other=https://example.org/dog.webp?x=1",
        "--json",
    ];
    let said = run(&server, args).said();
    assert_eq!(said.code, 0, "{said:?}");
    let said = said.json();
    let inputs = inputs_of(&said);
    assert_eq!(inputs["photo"]["media_type"], "image/png");
    assert_eq!(
        inputs["other"],
        json!({"media_type": "image/webp", "source": {"url": "https://example.org/dog.webp?x=1"}})
    );
    let sent = server.requests()[0].json()["messages"].to_string();
    assert!(sent.contains("data:image/png;base64,iVBORw0KGgo"), "{sent}");
    assert!(sent.contains("https://example.org/dog.webp?x=1"), "{sent}");
}

#[test]
fn what_is_no_image_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notes.txt");
    std::fs::write(&path, "notes").unwrap();
    let server = TestServer::start_blocking([]);
    let file = format!("photo=@{}", path.display());
    for (given, words) in [
        (file.as_str(), "is not a PNG, JPEG, GIF or WebP image"),
        ("photo=cat.png", "use `photo=@FILE`"),
        ("photo=@nothing.png", "cannot be read"),
    ] {
        let said = run(&server, ["photo: image -> a", given]).said();
        assert_eq!(said.code, 2, "{said:?}");
        assert!(said.error_line().contains(words), "{said:?}");
    }
}
