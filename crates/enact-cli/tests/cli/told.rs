//! Messages name what was really set, and statuses say how a run stands.

use enact_test_server::{Received, TestServer, Turn};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::command::{KEY, Said, enact, wait_for_requests};
use crate::place::Place;

const TASK: [&str; 3] = ["run", "question -> answer", "question=Why?"];

fn refusing() -> TestServer {
    TestServer::answering_anywhere(|_: &Received| Turn::status(401).body("{}"))
}

#[test]
fn a_refused_key_is_named_by_its_variable_or_as_the_stored_one() {
    for (provider, variable) in [
        ("groq", "GROQ_API_KEY"),
        ("mistral", "MISTRAL_API_KEY"),
        ("xai", "XAI_API_KEY"),
        ("deepseek", "DEEPSEEK_API_KEY"),
        ("open_router", "OPENROUTER_API_KEY"),
    ] {
        let server = refusing();
        let address = format!("{}_BASE_URL", provider.to_uppercase());
        let model = format!("--model={provider}::m");
        let asked = || {
            enact(TASK)
                .args([model.as_str()])
                .env(&address, server.base_url())
        };
        let said = asked().env(variable, KEY).said();
        assert_eq!(said.code, 1, "{said:?}");
        assert!(said.error_line().contains(variable), "{said:?}");
        assert!(!said.stderr.contains("OPENAI_API_KEY"), "{said:?}");

        let folder = TempDir::new().unwrap();
        let keys = folder
            .path()
            .join("keys.json")
            .to_string_lossy()
            .into_owned();
        let set = enact(["keys", "set", provider]).env("ENACT_KEYS", &keys);
        assert_eq!(set.stdin(format!("{KEY}\n")).said().code, 0);
        let said = asked().env("ENACT_KEYS", &keys).said();
        let expected = format!("`enact keys set {provider}`");
        assert!(said.error_line().contains(&expected), "{said:?}");
        assert!(!said.stderr.contains("_API_KEY"), "{said:?}");
    }
}

#[test]
fn a_missing_key_can_be_stored() {
    let said = enact(TASK).args(["--model=groq::m"]).said();
    assert_eq!(said.code, 2, "{said:?}");
    for words in ["GROQ_API_KEY", "`enact keys set groq`"] {
        assert_eq!(said.error_line().matches(words).count(), 1, "{said:?}");
    }
}

#[test]
fn a_base_url_is_named_by_where_it_was_set() {
    let folder = TempDir::new().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_string_lossy().into_owned()
    };
    const NOWHERE: &str = "http://127.0.0.1:1/v1";
    let key = format!("base_url = \"{NOWHERE}\"\n");
    let agent = write(
        "a.toml",
        &format!("signature = \"question -> answer\"\n{key}"),
    );
    let config = write("config.toml", &key);
    let named = |said: Said, source: &str| {
        assert_eq!(said.code, 2, "{said:?}");
        assert!(said.error_line().contains(source), "{source}: {said:?}");
        let others = [
            "`--base-url`",
            "OPENAI_BASE_URL",
            "the agent file",
            "the configuration file",
        ];
        let others = others.iter().filter(|other| **other != source);
        for other in others {
            assert!(!said.error_line().contains(other), "{other}: {said:?}");
        }
    };
    named(
        enact(TASK).args(["--base-url", NOWHERE]).said(),
        "`--base-url`",
    );
    named(
        enact(TASK).env("OPENAI_BASE_URL", NOWHERE).said(),
        "OPENAI_BASE_URL",
    );
    named(
        enact(["run", "--agent", &agent, "question=?"]).said(),
        "the agent file",
    );
    named(
        enact(TASK).env("ENACT_CONFIG", &config).said(),
        "the configuration file",
    );
    // An address that isn't one names the variable only if it comes from there.
    let model = "--model=groq::m";
    let said = enact(TASK)
        .args([model])
        .env("GROQ_API_KEY", KEY)
        .env("GROQ_BASE_URL", "no")
        .said();
    assert!(
        said.error_line().contains("it comes from GROQ_BASE_URL"),
        "{said:?}"
    );
}

#[test]
fn json_says_running_and_interrupted_as_the_list_does() {
    let place = Place::new();
    let server = TestServer::start_blocking([
        Turn::call("list_files", json!({})),
        Turn::text("never comes").then_stall(),
    ]);
    let mut child = place.run(&server).spawn();
    wait_for_requests(&server, 2);
    let shown = || place.enact(["show", "last", "--as", "json"]).said().json();
    let object = shown();
    assert_eq!(object["status"], "running", "{object}");
    assert_eq!(object["error"], Value::Null);
    assert_eq!(object["status"], place.runs()[0]["status"]);
    child.kill().unwrap();
    child.wait().unwrap();
    let object = shown();
    assert_eq!(object["status"], "interrupted", "{object}");
    assert_eq!(object["status"], place.runs()[0]["status"]);
    assert_eq!(place.enact(["cancel", "last"]).said().code, 0);
    let object = shown();
    assert_eq!(object["status"], "cancelled", "{object}");
    assert_eq!(object["error"]["kind"], "cancelled");
    assert_eq!(object["status"], place.runs()[0]["status"]);
}

#[test]
fn a_pending_write_is_shown_as_a_diff_wherever_it_waits() {
    let place = Place::new();
    std::fs::write(place.files.path().join("a.txt"), "one\ntwo\nthree\n").unwrap();
    let edit = json!({"path": "a.txt", "old_text": "two", "new_text": "TWO"});
    let server = TestServer::start_blocking([Turn::call("edit_file", edit)]);
    let files = place.files.path().to_string_lossy().into_owned();
    let said = crate::command::run(&server, ["task -> answer", "task=?", "--files", &files])
        .env("ENACT_STORE", &place.store())
        .said();
    assert_eq!(said.code, 3, "{said:?}");
    let shown = place.enact(["show", "last"]).said();
    for text in [&said.stderr, &shown.stdout] {
        for part in ["diff:", "-two", "+TWO", "id: "] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
}

#[test]
fn models_without_keys_are_listed_in_short_with_what_helps() {
    let said = enact(["models"]).said();
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.stdout.lines().count() < 15, "{said:?}");
    for words in [
        "Without a key: ",
        "more (`enact models --all`)",
        "No model can be used yet",
        "enact keys set anthropic",
        "ollama serve",
    ] {
        assert!(said.stdout.contains(words), "{words}: {said:?}");
    }
}

#[test]
fn the_tools_of_an_agent_end_with_the_one_that_ends_its_run() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("a.toml");
    let path = path.to_string_lossy().into_owned();
    for (completion, name) in [("submit", "submit"), ("finish", "finish")] {
        let text = format!(
            "signature = \"task -> answer, k: int\"\ntools = [\"calculator\"]\n\
             completion = \"{completion}\"\n"
        );
        std::fs::write(&path, text).unwrap();
        let said = enact(["tools", "--agent", &path, "--json"]).said();
        let listed: Value = serde_json::from_str(&said.stdout).unwrap();
        let names: Vec<&str> = listed
            .as_array()
            .unwrap()
            .iter()
            .map(|tool| tool["name"].as_str().unwrap())
            .collect();
        assert_eq!(names, ["calculator", name]);
        let takes_outputs = listed[1]["parameters"].to_string().contains("\"k\"");
        assert_eq!(takes_outputs, name == "submit", "{listed}");
    }
    let said = enact(["tools"]).said();
    assert!(!said.stdout.contains("submit"), "{said:?}");
}

#[test]
fn a_server_behind_an_address_gets_hints_for_an_address() {
    // It takes connections, and never answers.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let hung = format!("http://{}/mcp", listener.local_addr().unwrap());
    for (url, flag) in [
        (hung.as_str(), "--mcp-start-timeout 3m"),
        ("http://127.0.0.1:9/mcp", "enact tools --mcp-url"),
    ] {
        let args = ["--model=m", "--mcp-url", url, "--mcp-start-timeout=1s"];
        let said = enact(TASK).args(args).env("OPENAI_API_KEY", KEY).said();
        assert_eq!(said.code, 1, "{said:?}");
        assert!(said.error_line().contains(flag), "{said:?}");
        assert!(said.error_line().contains("address"), "{said:?}");
        assert!(!said.error_line().contains("by hand"), "{said:?}");
    }
}
