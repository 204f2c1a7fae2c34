//! `enact model`, and models that run inside the process.

use enact_test_server::{Received, TestServer, Turn};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::command::{Enact, KEY, Said, enact};

const MODEL: &[u8] = b"GGUF and then some";

/// A hub with two models in `owner/repo`.
fn hub() -> TestServer {
    let sum: String = Sha256::digest(MODEL)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    TestServer::answering_anywhere(move |received: &Received| match received.path.as_str() {
        "/v1/api/models/owner/repo/tree/main?recursive=true" => {
            let lfs = json!({"oid": sum, "size": MODEL.len()});
            let file = |path| json!({"type": "file", "path": path, "size": 1, "lfs": lfs});
            let list = json!([file("one.gguf"), file("two.gguf")]);
            Turn::status(200).body(list.to_string())
        }
        "/v1/owner/repo/resolve/main/one.gguf" => Turn::status(200).body(MODEL),
        _ => Turn::status(404),
    })
}

struct Place {
    folder: tempfile::TempDir,
    server: TestServer,
}

impl Place {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
            server: hub(),
        }
    }

    fn enact<'a>(&self, args: impl IntoIterator<Item = &'a str>) -> Enact {
        let shelf = self.folder.path().join("models");
        enact(args)
            .env("ENACT_MODELS", shelf.to_str().unwrap())
            .env("HF_ENDPOINT", self.server.base_url())
    }

    fn said<'a>(&self, args: impl IntoIterator<Item = &'a str>) -> Said {
        self.enact(args).said()
    }

    fn file(&self) -> String {
        let path = self.folder.path().join("mine.gguf");
        std::fs::write(&path, MODEL).unwrap();
        path.to_str().unwrap().to_owned()
    }
}

#[test]
fn a_model_is_pulled_listed_and_removed() {
    let place = Place::new();
    let pull = ["model", "pull", "owner/repo/one.gguf", "--name=small"];
    let said = place.enact(pull).env("HF_TOKEN", KEY).said();
    assert_eq!(said.code, 0, "{said:?}");
    assert!(
        said.stdout.starts_with("local::small · 18 B · sha256 "),
        "{said:?}"
    );
    // Bars are for terminals.
    assert_eq!(said.stderr, "");
    let tokens = place.server.requests();
    let expected = format!("Bearer {KEY}");
    assert!(
        tokens
            .iter()
            .all(|one| one.header("authorization") == Some(&expected))
    );
    let said = place.said(["model", "list"]);
    assert_eq!(said.stdout, "local::small · 18 B · owner/repo/one.gguf\n");
    let said = place.said(["model", "list", "--json"]);
    let list: Value = serde_json::from_str(&said.stdout).unwrap();
    let file = list[0]["file"].as_str().unwrap();
    assert_eq!(std::fs::read(file).unwrap(), MODEL);
    assert_eq!(list[0]["source"], "owner/repo/one.gguf");
    assert_eq!(list[0]["problem"], Value::Null);
    let said = place.said(["model", "remove", "small"]);
    assert_eq!(said.stdout, "local::small removed, and its file deleted\n");
    assert!(!std::path::Path::new(file).exists());
    assert_eq!(place.said(["model", "remove", "small"]).code, 2);
}

#[test]
fn a_repository_with_several_models_tells_which_to_name() {
    let place = Place::new();
    let said = place.said(["model", "pull", "owner/repo"]);
    assert_eq!(said.code, 2);
    assert!(said.error_line().contains("one.gguf, two.gguf"), "{said:?}");
    let wrong = format!("--sha256={}", "0".repeat(64));
    let said = place.said(["model", "pull", "owner/repo/one.gguf", &wrong]);
    assert_eq!(said.code, 1);
    assert!(said.error_line().contains("thrown away"), "{said:?}");
    let said = place.said(["model", "pull", "one.gguf"]);
    assert_eq!(said.code, 2);
    assert!(
        said.error_line().contains("owner/repo/file.gguf"),
        "{said:?}"
    );
}

#[test]
fn a_file_is_added_where_it_lies() {
    let place = Place::new();
    let file = place.file();
    let said = place.said(["model", "add", &file]);
    assert!(
        said.stdout.starts_with("local::mine · 18 B · sha256 "),
        "{said:?}"
    );
    let said = place.said(["model", "remove", "mine"]);
    assert_eq!(
        said.stdout,
        format!("local::mine removed; its file stays at {file}\n")
    );
    assert!(std::path::Path::new(&file).exists());
}

#[test]
fn the_list_of_models_knows_the_shelf() {
    let place = Place::new();
    let file = place.file();
    place.said(["model", "add", &file]);
    let said = place.said(["models"]);
    let line = said.stdout.lines().find(|line| line.starts_with("local"));
    assert!(line.unwrap().contains("1 model: mine"), "{said:?}");
    let said = place.said(["models", "local"]);
    assert_eq!(said.stdout, "local::mine\n");
    let said = place.said(["models", "--json"]);
    let list: Value = serde_json::from_str(&said.stdout).unwrap();
    let local = list.as_array().unwrap().last().unwrap();
    assert_eq!(local["provider"], "local");
    assert_eq!(local["models"], json!(["mine"]));
    assert_eq!(local["reachable"], cfg!(feature = "local"));
    assert_eq!(local["reason"].is_null(), cfg!(feature = "local"));
}

#[cfg(not(feature = "local"))]
#[test]
fn a_build_without_embedded_models_says_how_to_get_one() {
    let place = Place::new();
    let said = place.said(["run", "a -> b", "a=1", "--model=local::small"]);
    assert_eq!(said.code, 2);
    let line = said.error_line();
    for word in ["--features local", "cmake", "llamacpp::small"] {
        assert!(line.contains(word), "{line}");
    }
}

#[cfg(feature = "local")]
#[test]
fn a_model_that_is_not_there_is_told_before_anything_is_asked() {
    let place = Place::new();
    let said = place.said(["run", "a -> b", "a=1", "--model=local::small"]);
    assert_eq!(said.code, 2);
    assert!(said.error_line().contains("enact model pull"), "{said:?}");
    let file = place.file();
    let model = format!("--model=local::{file}");
    let said = place.said(["run", "a -> b", "a=1", &model]);
    assert_eq!(said.code, 2);
    assert!(said.error_line().contains("cannot be loaded"), "{said:?}");
}

/// Needs the file that `.ci/local-model` fetches.
#[cfg(feature = "local")]
#[test]
fn a_run_by_an_embedded_model_ends_in_its_outputs() {
    let Ok(file) = std::env::var("ENACT_TEST_MODEL") else {
        panic!("ENACT_TEST_MODEL names no model file: set it to what .ci/local-model prints");
    };
    let place = Place::new();
    place.said(["model", "add", &file, "--name=small"]);
    let words = ["run", "question -> even: bool", "question=Is 4 even?"];
    let flags = [
        "--adapter=json",
        "--max-iterations=1",
        "--model=local::small",
        "--json",
    ];
    let said = place
        .enact(words.into_iter().chain(flags))
        .env("ENACT_LOCAL_CONTEXT", "1024")
        .said();
    assert!(matches!(said.code, 0 | 4), "{said:?}");
    let object = said.json();
    assert!(object["outputs"]["even"].is_boolean(), "{said:?}");
    assert_eq!(said.stderr, "");
}
