//! Commands that are wrong: one line that says what to do, and exit code 2.

use serde_json::Value;

use crate::command::{Said, enact};

/// The same command in both forms: the line has to be the same.
fn both(args: &[&str]) -> (Said, String) {
    let server = ["--base-url=http://127.0.0.1:1/v1"];
    let all = || {
        ["run"]
            .into_iter()
            .chain(args.iter().copied())
            .chain(server)
    };
    let plain = enact(all()).said();
    assert_eq!(plain.code, 2, "{plain:?}");
    assert_eq!(plain.stdout, "");
    let said = enact(all().chain(["--json"])).said();
    assert_eq!(said.code, 2);
    let object = said.json();
    assert_eq!(object["run_id"], Value::Null);
    assert_eq!(object["status"], "failed");
    assert_eq!(object["error"]["message"], said.error_line());
    assert_eq!(plain.error_line(), said.error_line());
    let line = said.error_line().to_owned();
    (said, line)
}

#[track_caller]
fn expect(args: &[&str], kind: &str, words: &[&str]) {
    let (said, line) = both(args);
    assert_eq!(said.json()["error"]["kind"], kind, "{line}");
    for word in words {
        assert!(line.contains(word), "{line}");
    }
}

#[test]
fn a_bad_signature() {
    expect(
        &["question answer", "--model=m"],
        "signature",
        &["the signature is wrong"],
    );
    expect(
        &["q: strr -> a", "q=1", "--model=m"],
        "signature",
        &["at column 4", "`str`"],
    );
    expect(&["history -> a", "--model=m"], "signature", &["reserved"]);
}

#[test]
fn bad_inputs() {
    expect(
        &["q, k -> a", "q=1", "--model=m"],
        "input",
        &["missing input `k`"],
    );
    expect(
        &["q -> a", "q=1", "z=2", "--model=m"],
        "input",
        &["unknown input `z`"],
    );
    expect(
        &["q -> a", "hello", "--model=m"],
        "input",
        &["`hello` is not an input", "name=value"],
    );
    expect(
        &["q -> a", "q=@/does/not/exist", "--model=m"],
        "input",
        &["cannot be read"],
    );
    expect(
        &["k: int -> a", "k=three", "--model=m"],
        "input",
        &["`k`", "an integer"],
    );
    expect(
        &["k: list[int] -> a", "k=[1,", "--model=m"],
        "input",
        &["`k`"],
    );
}

#[test]
fn bad_tools() {
    let args = ["q -> a", "q=1", "--model=m", "--tools=calculater"];
    expect(
        &args,
        "tools",
        &["unknown tool `calculater`", "did you mean `calculator`?"],
    );
    let args = ["q -> a", "q=1", "--model=m", "--tools=read_file"];
    expect(&args, "tools", &["needs a folder", "`--files DIR`"]);
    let args = ["q -> a", "q=1", "--model=m", "--files=/does/not/exist"];
    expect(&args, "files", &["`/does/not/exist` cannot be opened"]);
}

#[test]
fn bad_models_and_adapters() {
    expect(
        &["q -> a", "q=1"],
        "no_model",
        &["--model", "ENACT_MODEL", "http://127.0.0.1:1/v1"],
    );
    let args = ["q -> a", "q=1", "--model=m", "--adapter=yaml"];
    expect(&args, "adapter", &["unknown adapter `yaml`", "native"]);
    let said = enact(["run", "q -> a", "q=1", "--model=m"]).said();
    assert_eq!(said.code, 2);
    assert!(said.error_line().contains("OPENAI_API_KEY"));
    let said = enact(["run", "q -> a", "q=1", "--model=m", "--base-url=nonsense"]).said();
    assert_eq!(said.code, 2);
    assert!(said.error_line().contains("`nonsense`"));
}

#[test]
fn bad_histories() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("h.json");
    let history = format!("--history={}", path.display());
    let args = ["q -> a", "q=1", "--model=m", &history];
    expect(&args, "history", &["cannot be read"]);
    std::fs::write(&path, "{").unwrap();
    expect(&args, "history", &["is not JSON"]);
    std::fs::write(&path, "{\"a\": 1}").unwrap();
    expect(&args, "history", &["the output of `--json`"]);
    std::fs::write(
        &path,
        r#"[{"role": "tool", "content": "x", "tool_call_id": "c"}]"#,
    )
    .unwrap();
    expect(&args, "history", &["message 0"]);
}

#[test]
fn what_clap_refuses() {
    for args in [
        &["run"][..],
        &["run", "q -> a", "--max-iterations=0"],
        &["run", "q -> a", "--completion=maybe"],
        &["run", "q -> a", "--temperature=hot"],
        &["walk"],
        &["run", "q -> a", "--nonsense"],
    ] {
        let said = enact(args.iter().copied()).said();
        assert_eq!(said.code, 2, "{args:?}");
        assert_eq!(said.stdout, "");
        assert!(said.stderr.starts_with("error: "), "{said:?}");
    }
}

#[test]
fn help_and_version() {
    let said = enact(["--version"]).said();
    assert_eq!(
        said.stdout,
        format!("enact {}\n", env!("CARGO_PKG_VERSION"))
    );
    let help = enact(["--help"]).said();
    assert_eq!(help.code, 0);
    assert!(help.stdout.contains("enact demo"), "{}", help.stdout);
    let help = enact(["run", "--help"])
        .env("OPENAI_BASE_URL", "http://user:pass-4711@h/v1")
        .said();
    for word in [
        "name=@file",
        "Examples:",
        "Exit codes:",
        "OPENAI_API_KEY",
        "--history",
    ] {
        assert!(help.stdout.contains(word), "{word}: {}", help.stdout);
    }
    assert!(!help.stdout.contains("4711"));
}
