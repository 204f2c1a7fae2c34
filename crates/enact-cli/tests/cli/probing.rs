//! `auto` finds out what a model can do, once, and remembers it.

use std::path::PathBuf;
use std::time::Duration;

use enact_test_server::{Received, TestServer, Turn};
use serde_json::{Value, json};

use crate::command::{Enact, Said, asking, enact};

const TASK: [&str; 4] = ["run", "question -> answer", "question=Why?", "--quiet"];
const SECRET: &str = "hush-hush-0123";

/// What kind of model is behind a server.
#[derive(Clone, Copy)]
enum Kind {
    /// Its calls come as calls, and on demand.
    Native,
    /// Its calls come as calls, but only when it wants to.
    Wilful,
    /// It writes calls as text, and is held to a schema.
    Schema,
    /// Neither.
    Plain,
}

/// A model that answers probes after its kind, and tasks in the words of the adapter that asks.
fn model(kind: Kind) -> TestServer {
    TestServer::answering_anywhere(move |received: &Received| {
        if received.method != "POST" {
            return Turn::status(404);
        }
        answer(kind, &received.json(), &received.text())
    })
}

fn answer(kind: Kind, sent: &Value, text: &str) -> Turn {
    let is_step_two = text.contains("\"role\":\"tool\"");
    if text.contains("population of Konstanz") {
        return match kind {
            Kind::Native | Kind::Wilful if is_step_two => {
                Turn::call("submit", json!({"answer": "84446"}))
            }
            Kind::Native | Kind::Wilful => Turn::call("look_up", json!({"term": "Konstanz"})),
            _ => Turn::text("{\"name\": \"look_up\", \"arguments\": {\"term\": \"Konstanz\"}}"),
        };
    }
    if text.contains("Describe the sea") {
        return match kind {
            Kind::Plain => Turn::text("The sea is wide."),
            Kind::Native if sent["tool_choice"].is_object() => {
                Turn::call("calculate", json!({"expression": "1"}))
            }
            _ => Turn::text(json!({"colour": "blue", "is_deep": true}).to_string()),
        };
    }
    if sent.get("tools").is_some() {
        return Turn::call("submit", json!({"answer": "Because."}));
    }
    if sent.get("response_format").is_some() {
        let step = json!({"next_thought": "", "next_tool_name": "submit",
                          "next_tool_args": {"answer": "Because."}});
        return Turn::text(step.to_string());
    }
    Turn::text(
        "[[ ## next_thought ## ]]\nI know.\n\n[[ ## next_tool_name ## ]]\nsubmit\n\n\
         [[ ## next_tool_args ## ]]\n{\"answer\": \"Because.\"}\n\n[[ ## completed ## ]]",
    )
}

/// A memory of what was found out.
struct Memory {
    folder: tempfile::TempDir,
}

impl Memory {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { folder }
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("cache/probes.json")
    }

    /// A command that may probe.
    fn probing(&self, command: Enact) -> Enact {
        command
            .env("ENACT_PROBE", "")
            .env("ENACT_PROBES", self.file().to_str().unwrap())
    }

    fn run(&self, server: &TestServer, args: &[&str]) -> Said {
        let args = TASK.into_iter().chain(args.iter().copied());
        let said = self.probing(asking(server, args)).said();
        assert_eq!(said.code, 0, "{said:?}");
        assert!(said.stdout.contains("Because."), "{said:?}");
        said
    }

    fn kept(&self) -> Value {
        serde_json::from_slice(&std::fs::read(self.file()).unwrap()).unwrap()
    }
}

/// How many requests were probes, and the last request.
fn counted(server: &TestServer) -> (usize, Value) {
    let requests = server.requests();
    let probes = requests.iter().filter(|sent| {
        let text = sent.text();
        text.contains("population of Konstanz") || text.contains("Describe the sea")
    });
    (probes.count(), requests.last().unwrap().json())
}

#[test]
fn truth_auto_is_what_the_model_really_does() {
    for (kind, requests, adapter) in [
        (Kind::Native, 4, "native"),
        (Kind::Wilful, 4, "native"),
        (Kind::Schema, 2, "json"),
        (Kind::Plain, 2, "chat"),
    ] {
        let memory = Memory::new();
        let server = model(kind);
        let said = memory.run(&server, &[]);
        assert_eq!(said.stderr.lines().count(), 1, "{said:?}");
        let line = format!("so the adapter is {adapter} (stored; `--probe` repeats the probe)");
        assert!(said.stderr.contains(&line), "{said:?}");
        let (probes, last) = counted(&server);
        assert_eq!(probes, requests, "{adapter}");
        assert_eq!(last["tools"].is_array(), adapter == "native", "{last}");
        let format = last["response_format"].is_object();
        assert_eq!(format, adapter == "json", "{last}");

        // Once for this model at this address.
        let said = memory.run(&server, &[]);
        assert_eq!(said.stderr, "", "{said:?}");
        assert_eq!(counted(&server).0, requests);
        let said = memory.run(&server, &["--probe"]);
        assert!(said.stderr.contains(adapter), "{said:?}");
        assert_eq!(counted(&server).0, 2 * requests);
        memory.run(&server, &["--model=another"]);
        assert_eq!(counted(&server).0, 3 * requests);
    }
}

#[test]
fn truth_nobody_is_probed_who_need_not_be() {
    let memory = Memory::new();
    let server = model(Kind::Native);
    for args in [
        &["--adapter=json"][..],
        &["--adapter=chat", "--probe"],
        &["--no-probe"],
    ] {
        let said = memory.run(&server, args);
        assert_eq!(said.stderr, "", "{said:?}");
    }
    let off = memory
        .probing(asking(&server, TASK))
        .env("ENACT_PROBE", "off");
    assert_eq!(off.said().stderr, "");
    let file = memory.folder.path().join("agent.toml");
    let text = "signature = \"question -> answer\"\nprobe = false\n";
    std::fs::write(&file, text).unwrap();
    let agent = format!("--agent={}", file.display());
    let command = || memory.probing(asking(&server, ["run", &agent, "question=Why?", "--quiet"]));
    assert_eq!(command().said().stderr, "");
    assert_eq!(counted(&server).0, 0);
    assert!(!memory.file().exists());
    // Flags win over the file.
    assert!(command().args(["--probe"]).said().stderr.contains("native"));
    assert_eq!(counted(&server).0, 4);
}

#[test]
fn truth_a_replay_and_a_resumed_run_probe_nobody() {
    let memory = Memory::new();
    let server = model(Kind::Schema);
    let tape = memory.folder.path().join("tape.jsonl");
    let tape = tape.to_str().unwrap();
    memory.run(&server, &["--record", tape]);
    let (probes, last) = counted(&server);
    std::fs::remove_file(memory.file()).unwrap();
    drop(server);
    let replay = TASK.into_iter().chain(["--replay", tape]);
    let said = memory.probing(enact(replay)).said();
    assert_eq!((said.code, said.stderr.as_str()), (0, ""), "{said:?}");
    assert_eq!(probes, 2);
    assert!(last["response_format"].is_object());
    assert!(!memory.file().exists());

    // The run waits, the server is forgotten, and the run goes on in the same words.
    let store = memory.folder.path().join("runs.db");
    let files = memory.folder.path().to_str().unwrap();
    let server = TestServer::answering_anywhere(|received: &Received| {
        let text = received.text();
        let is_probe = text.contains("population of Konstanz") || text.contains("Describe the sea");
        if is_probe || text.contains("was written") || text.contains("Wrote") {
            return answer(Kind::Schema, &received.json(), &text);
        }
        let step = json!({"next_thought": "", "next_tool_name": "write_file",
                          "next_tool_args": {"path": "a.txt", "content": "x"}});
        Turn::text(step.to_string())
    });
    let args = TASK.into_iter().chain(["--files", files, "--json"]);
    let store = store.to_str().unwrap();
    let said = memory
        .probing(asking(&server, args))
        .env("ENACT_STORE", store)
        .said();
    assert_eq!(said.code, 3, "{said:?}");
    let object = said.json();
    std::fs::remove_file(memory.file()).unwrap();
    let (before, _) = counted(&server);
    let (run, question) = (&object["run_id"], &object["pending"][0]["confirmation_id"]);
    let args = [
        "resume",
        run.as_str().unwrap(),
        "--reject",
        question.as_str().unwrap(),
    ];
    let said = memory
        .probing(asking(&server, args))
        .env("ENACT_STORE", store)
        .said();
    assert_eq!(counted(&server).0, before, "{said:?}");
    assert!(counted(&server).1["response_format"].is_object());
    assert!(!memory.file().exists());
}

#[test]
fn truth_what_was_found_out_is_shown_and_holds_no_secret() {
    let memory = Memory::new();
    let server = model(Kind::Schema);
    let address = server.base_url().replace("http://", "");
    let address = format!("http://user:{SECRET}@{address}?key={SECRET}");
    let args = TASK
        .into_iter()
        .chain(["--model=small", "--base-url", &address]);
    let said = memory.probing(enact(args)).said();
    assert_eq!(said.code, 0, "{said:?}");
    let text = std::fs::read_to_string(memory.file()).unwrap();
    assert!(
        !text.contains(SECRET) && !said.stderr.contains(SECRET),
        "{text} {said:?}"
    );
    let kept = memory.kept();
    assert_eq!(kept["version"], 2);
    assert_eq!(kept["probes"][0]["base_url"], server.base_url());
    assert_eq!(kept["probes"][0]["tools"], false);

    let said = memory.probing(enact(["models"])).said();
    let line = format!("small at {}: json (does not call tools", server.base_url());
    assert!(said.stdout.contains(&line), "{said:?}");
    let said = memory.probing(enact(["models", "--json"])).said();
    let list: Vec<Value> = serde_json::from_str(&said.stdout).unwrap();
    let elsewhere = list.iter().find(|one| one["base_url"] == server.base_url());
    let probed = &elsewhere.unwrap()["probed"][0];
    assert_eq!(
        (&probed["model"], &probed["adapter"]),
        (&json!("small"), &json!("json"))
    );
    assert!(probed["at"].is_string());
    let here = memory.probing(enact(["models", "--json"]));
    let said = here.env("LLAMACPP_BASE_URL", server.base_url()).said();
    let list: Vec<Value> = serde_json::from_str(&said.stdout).unwrap();
    let llamacpp = list
        .iter()
        .find(|one| one["provider"] == "llamacpp")
        .unwrap();
    assert_eq!(llamacpp["probed"][0]["model"], "small");
}

#[test]
fn truth_whether_tool_choice_is_enforced_is_remembered_and_shown() {
    for (kind, obeys, words) in [
        (Kind::Native, true, "calls tools, obeys tool_choice"),
        (Kind::Wilful, false, "calls tools, ignores tool_choice"),
    ] {
        let memory = Memory::new();
        let server = model(kind);
        assert!(memory.run(&server, &[]).stderr.contains(words));
        let said = memory.probing(enact(["models"])).said();
        assert!(said.stdout.contains(words), "{said:?}");
        let said = memory.probing(enact(["models", "--json"])).said();
        let list: Vec<Value> = serde_json::from_str(&said.stdout).unwrap();
        let elsewhere = list.iter().find(|one| one["base_url"] == server.base_url());
        assert_eq!(elsewhere.unwrap()["probed"][0]["tool_choice"], obeys);
    }
}

#[test]
fn truth_what_an_older_probe_found_is_found_out_again() {
    let memory = Memory::new();
    let server = model(Kind::Native);
    std::fs::create_dir_all(memory.file().parent().unwrap()).unwrap();
    let old = json!({"version": 1, "probes": [{
        "base_url": server.base_url(), "model": "test-model", "tools": true,
        "response_schema": true, "at": "2026-11-18T12:00:00Z",
    }]});
    std::fs::write(memory.file(), old.to_string()).unwrap();
    let said = memory.run(&server, &[]);
    assert!(!said.stderr.contains("warning"), "{said:?}");
    assert_eq!(counted(&server).0, 4);
    assert_eq!(memory.kept()["version"], 2);
}

#[test]
fn truth_a_damaged_memory_is_ignored_with_a_warning_and_written_anew() {
    let memory = Memory::new();
    let server = model(Kind::Native);
    std::fs::create_dir_all(memory.file().parent().unwrap()).unwrap();
    for damaged in [
        "{\"version\": 1, \"probes\": [{",
        "{\"version\": 99, \"probes\": []}",
    ] {
        std::fs::write(memory.file(), damaged).unwrap();
        let said = memory.run(&server, &[]);
        assert!(said.stderr.contains("warning: "), "{said:?}");
        assert_eq!(memory.kept()["probes"][0]["model"], "test-model");
        assert_eq!(memory.run(&server, &[]).stderr, "");
    }
}

#[test]
fn truth_a_failure_is_not_remembered_as_a_no() {
    let memory = Memory::new();
    // The model is being loaded; then it is there.
    let loading = json!({"error": {"message": "Loading model", "code": 503}}).to_string();
    let step = json!({"next_thought": "", "next_tool_name": "submit",
                      "next_tool_args": {"answer": "Because."}});
    let server = TestServer::start_blocking([
        Turn::status(503).body(loading),
        Turn::text(step.to_string()),
    ]);
    let said = memory.run(&server, &[]);
    assert_eq!(said.stderr.lines().count(), 1, "{said:?}");
    assert!(said.stderr.contains("json for now"), "{said:?}");
    assert!(said.stderr.contains("Loading model"), "{said:?}");
    assert!(!memory.file().exists());
    server.assert_complete();
    // A key that is wrong is said once, by the run.
    let server = TestServer::answering_anywhere(|_: &Received| Turn::status(401).body("{}"));
    let said = memory.probing(asking(&server, TASK)).said();
    assert_eq!(said.code, 1);
    assert!(said.stderr.contains("OPENAI_API_KEY"), "{said:?}");
    assert_eq!(said.stderr.lines().count(), 1, "{said:?}");
    assert!(!memory.file().exists());
}

#[test]
fn truth_nobody_is_probed_for_a_command_that_is_wrong() {
    let memory = Memory::new();
    let server = model(Kind::Native);
    let args = ["run", "question -> answer", "qestion=Why?"];
    assert_eq!(memory.probing(asking(&server, args)).said().code, 2);
    let dataset = memory.folder.path().join("data.jsonl");
    std::fs::write(&dataset, "{\"inputs\": {\"qestion\": 1}}\n").unwrap();
    let args = ["eval", dataset.to_str().unwrap()];
    assert_eq!(memory.probing(asking(&server, args)).said().code, 2);
    assert!(server.requests().is_empty());
}

#[test]
fn truth_a_slow_probe_is_spoken_of() {
    let memory = Memory::new();
    let server = TestServer::answering_anywhere(|received: &Received| {
        let turn = answer(Kind::Native, &received.json(), &received.text());
        match received.text().contains("Describe the sea") {
            true => turn.latency(Duration::from_millis(1_500)),
            false => turn,
        }
    });
    let said = memory.run(&server, &[]);
    let lines: Vec<&str> = said.stderr.lines().collect();
    assert_eq!(lines.len(), 2, "{said:?}");
    assert!(lines[0].starts_with("probing test-model at "), "{said:?}");
    assert!(lines[1].starts_with("probed test-model at "), "{said:?}");
}

#[test]
fn truth_eval_and_agents_that_are_called_use_it_the_same_way() {
    let memory = Memory::new();
    let server = model(Kind::Schema);
    let folder = memory.folder.path();
    let dataset = folder.join("data.jsonl");
    let example = json!({"id": "1", "inputs": {"question": "Why?"},
                         "expected": {"answer": "Because."}});
    std::fs::write(&dataset, format!("{example}\n")).unwrap();
    let args = ["eval", dataset.to_str().unwrap(), "--min-accuracy=1"];
    let said = memory.probing(asking(&server, args)).said();
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.stderr.contains("so the adapter is json"), "{said:?}");
    let (probes, last) = counted(&server);
    assert!(last["response_format"].is_object());
    // Nobody reads along, and the reply is watched all the same.
    assert_eq!(last["stream"], true);

    let helper =
        "signature = \"question -> answer\"\ndescription = \"Helps.\"\nmodel = \"other\"\n";
    std::fs::write(folder.join("helper.toml"), helper).unwrap();
    let agent = folder.join("agent.toml");
    let text = "signature = \"question -> answer\"\nmodel = \"test-model\"\n\
                [agents.helper]\nfile = \"helper.toml\"\n";
    std::fs::write(&agent, text).unwrap();
    let agent = format!("--agent={}", agent.display());
    let said = memory
        .probing(asking(&server, ["run", &agent, "question=Why?"]))
        .said();
    assert!(said.stderr.contains("probed other at"), "{said:?}");
    assert_eq!(counted(&server).0, probes + 2);
}
