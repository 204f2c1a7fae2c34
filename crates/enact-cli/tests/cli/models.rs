//! Which model is asked, and what `enact models` tells.

use enact_test_server::{Received, TestServer, Turn};
use serde_json::{Value, json};

use crate::command::{Enact, KEY, asking, enact};

const TASK: [&str; 4] = ["run", "question -> answer", "question=Why?", "--quiet"];

/// Anthropic's way to call a tool.
fn messages_call(name: &str, input: &Value) -> Turn {
    let block = json!({"type": "tool_use", "id": "toolu_1", "name": name, "input": {}});
    let piece = json!({"type": "input_json_delta", "partial_json": input.to_string()});
    let events = [
        json!({"type": "message_start", "message": {"usage": {"input_tokens": 9, "output_tokens": 1}}}),
        json!({"type": "content_block_start", "index": 0, "content_block": block}),
        json!({"type": "content_block_delta", "index": 0, "delta": piece}),
        json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"},
               "usage": {"output_tokens": 5}}),
        json!({"type": "message_stop"}),
    ];
    Turn::raw_chunks(events.map(|event| format!("data: {event}\n\n")))
}

/// Gemini's.
fn gemini_call(name: &str, args: &Value) -> Turn {
    let part = json!({"functionCall": {"name": name, "args": args}});
    let event = json!({"candidates": [{"content": {"parts": [part]}, "finishReason": "STOP"}]});
    Turn::raw_chunks([format!("data: {event}\n\n")])
}

/// A server with one model, which answers every question.
fn local(model: &'static str) -> TestServer {
    TestServer::answering_anywhere(move |received: &Received| match received.method.as_str() {
        "GET" => {
            let list = json!({"object": "list", "data": [{"id": model, "object": "model"}]});
            Turn::status(200)
                .header("content-type", "application/json")
                .body(list.to_string())
        }
        _ => Turn::call("submit", json!({"answer": "Because."})),
    })
}

fn answers(command: Enact) -> String {
    let said = command.said();
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.stdout.contains("Because."), "{said:?}");
    said.stderr
}

#[test]
fn a_provider_is_asked_in_its_own_words() {
    let server = TestServer::answering_anywhere(|received: &Received| {
        let answer = json!({"answer": "Because."});
        match received.path.as_str() {
            "/v1/messages" => messages_call("submit", &answer),
            _ => gemini_call("submit", &answer),
        }
    });
    let anthropic = enact(TASK.into_iter().chain(["--model=anthropic::claude-test"]))
        .env("ANTHROPIC_API_KEY", KEY)
        .env("ANTHROPIC_BASE_URL", server.base_url());
    assert_eq!(answers(anthropic), "");
    let gemini = enact(TASK.into_iter().chain(["--model=gemini::gemini-test"]))
        .env("GEMINI_API_KEY", KEY)
        .env("GEMINI_BASE_URL", server.base_url())
        // Not theirs.
        .env("OPENAI_BASE_URL", "http://127.0.0.1:1/v1");
    assert_eq!(answers(gemini), "");
    let requests = server.requests();
    assert_eq!(requests[0].header("x-api-key"), Some(KEY));
    assert_eq!(
        requests[1].path,
        "/v1/models/gemini-test:streamGenerateContent?alt=sse"
    );
}

#[test]
fn a_later_model_is_asked_when_an_earlier_one_fails() {
    let server = TestServer::start_blocking([
        Turn::status(401).body("{}"),
        Turn::call("submit", json!({"answer": "Because."})),
    ]);
    let task = ["run", "question -> answer", "question=Why?"];
    let args = task.into_iter().chain(["--model=large", "--model=small"]);
    let said = asking(&server, args).said();
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.stderr.contains("answered by small"), "{said:?}");
    let models: Vec<Value> = server
        .requests()
        .iter()
        .map(|sent| sent.json()["model"].clone())
        .collect();
    assert_eq!(models, ["large", "small"]);
}

#[test]
fn without_a_flag_the_variable_decides_and_is_named() {
    let server = local("other");
    let command = enact(TASK)
        .env("ENACT_MODEL", "one, two")
        .env("OPENAI_BASE_URL", server.base_url());
    assert_eq!(answers(command), "model: one (from ENACT_MODEL)\n");
    assert_eq!(server.requests()[0].json()["model"], "one");
}

#[test]
fn without_a_variable_a_key_decides() {
    let server = TestServer::answering_anywhere(|_: &Received| {
        messages_call("submit", &json!({"answer": "Because."}))
    });
    let command = enact(TASK)
        .env("ANTHROPIC_API_KEY", KEY)
        .env("ANTHROPIC_BASE_URL", server.base_url())
        // A local server comes behind a key.
        .env("OLLAMA_HOST", local("unused").base_url());
    let told = answers(command);
    assert!(told.starts_with("model: anthropic::claude-"), "{told}");
    assert!(told.contains("ANTHROPIC_API_KEY is set"), "{told}");
}

#[test]
fn without_a_key_a_local_server_decides() {
    let server = local("qwen-test");
    let address = server.base_url();
    let ollama = enact(TASK).env("OLLAMA_HOST", address.trim_end_matches("/v1"));
    let told = answers(ollama);
    assert_eq!(
        told,
        format!("model: ollama::qwen-test (running at {address})\n")
    );
    let llamacpp = enact(TASK).env("LLAMACPP_BASE_URL", address);
    let told = answers(llamacpp);
    assert_eq!(
        told,
        format!("model: llamacpp::qwen-test (running at {address})\n")
    );
    let named = enact(TASK).env("OPENAI_BASE_URL", address);
    assert!(answers(named).starts_with("model: qwen-test (the first one"));
}

#[test]
fn without_anything_the_options_are_named() {
    let said = enact(TASK).said();
    assert_eq!(said.code, 2);
    let line = said.error_line();
    for option in [
        "--model",
        "ENACT_MODEL",
        "ANTHROPIC_API_KEY",
        "Ollama",
        "enact models",
        "enact demo",
    ] {
        assert!(line.contains(option), "{option}: {line}");
    }
}

#[test]
fn a_server_that_does_not_tell_its_models_is_named() {
    let said = enact(TASK)
        .env("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
        .said();
    assert_eq!(said.code, 2);
    let line = said.error_line();
    assert!(
        line.contains("127.0.0.1:1") && line.contains("--model"),
        "{line}"
    );
}

#[test]
fn what_is_wrong_with_a_name_is_told() {
    for (args, words) in [
        (
            &["--model=nobody::m"][..],
            &["`nobody`", "enact models"][..],
        ),
        (&["--model=groq::m"], &["GROQ_API_KEY"]),
        (&["--model=ollama::"], &["names no model"]),
        (
            &["--model=ollama::m", "--base-url=http://127.0.0.1:1"],
            &["`--base-url`", "without a provider"],
        ),
    ] {
        let said = enact(TASK.into_iter().chain(args.iter().copied())).said();
        assert_eq!(said.code, 2, "{said:?}");
        for word in words {
            assert!(said.error_line().contains(word), "{word}: {said:?}");
        }
    }
}

#[test]
fn a_kept_run_goes_on_with_the_same_models() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("runs.db");
    let store = store.to_str().unwrap();
    let server = TestServer::answering_anywhere(|received: &Received| {
        match received.text().contains("tool_result") {
            false => messages_call("write_file", &json!({"path": "a.txt", "content": "hello"})),
            true => messages_call("submit", &json!({"answer": "Because."})),
        }
    });
    let files = folder.path().join("files");
    std::fs::create_dir(&files).unwrap();
    let files = format!("--files={}", files.display());
    let models = ["--model=anthropic::claude-test", "--model=ollama::qwen"];
    let args = TASK
        .into_iter()
        .chain(models)
        .chain([files.as_str(), "--json"]);
    let said = enact(args)
        .env("ENACT_STORE", store)
        .env("ANTHROPIC_API_KEY", KEY)
        .env("ANTHROPIC_BASE_URL", server.base_url())
        .said();
    assert_eq!(said.code, 3, "{said:?}");
    let object = said.json();
    let run = object["run_id"].as_str().unwrap();
    let question = object["pending"][0]["confirmation_id"].as_str().unwrap();
    // Another shell: it knows the key, not the address.
    let said = enact(["resume", run, "--approve", question, "--json"])
        .env("ENACT_STORE", store)
        .env("ANTHROPIC_API_KEY", KEY)
        .said();
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(said.json()["outputs"]["answer"], "Because.");
    assert!(
        server
            .requests()
            .iter()
            .all(|sent| sent.path == "/v1/messages")
    );
}

#[test]
fn a_cache_answers_the_second_time() {
    let folder = tempfile::tempdir().unwrap();
    let cache = format!("--cache={}", folder.path().join("replies").display());
    let server = TestServer::start_blocking([
        Turn::call("submit", json!({"answer": "Because."})).usage(70, 7)
    ]);
    let args = || TASK.into_iter().chain([cache.as_str(), "--json"]);
    let first = asking(&server, args()).said().json();
    assert_eq!(first["usage"]["input_tokens"], 70);
    let second = asking(&server, args()).said().json();
    assert_eq!(second["outputs"]["answer"], "Because.");
    assert_eq!(second["usage"]["input_tokens"], 0);
    assert_eq!(second["usage"]["requests"], 0);
    server.assert_complete();
}

#[test]
fn the_list_tells_who_can_be_asked_and_why_not() {
    let server = local("qwen-test");
    let listing = || {
        enact(["models"])
            .env("GROQ_API_KEY", KEY)
            .env("GROQ_BASE_URL", "http://127.0.0.1:1/v1")
            .env("OLLAMA_HOST", server.base_url())
    };
    let said = listing().said();
    assert_eq!(said.code, 0, "{said:?}");
    let line = |name: &str| {
        let found = said.stdout.lines().find(|line| line.starts_with(name));
        found
            .unwrap_or_else(|| panic!("{name}: {said:?}"))
            .to_owned()
    };
    assert_eq!(line("ollama "), "ollama       1 model: qwen-test");
    assert!(
        line("groq ").contains("not reachable: could not connect"),
        "{said:?}"
    );
    assert!(line("llamacpp ").contains("not running"), "{said:?}");
    assert!(
        line("Without a key:").contains("anthropic (ANTHROPIC_API_KEY)"),
        "{said:?}"
    );
    assert!(line("Default model").contains("groq::"), "{said:?}");

    let said = listing().args(["--json"]).said();
    let list: Value = serde_json::from_str(&said.stdout).unwrap();
    let of = |name: &str| {
        let found = list
            .as_array()
            .unwrap()
            .iter()
            .find(|one| one["provider"] == name);
        found.unwrap().clone()
    };
    assert!(list.as_array().unwrap().len() > 30);
    assert_eq!(of("ollama")["models"], json!(["qwen-test"]));
    assert_eq!(of("ollama")["reachable"], true);
    assert_eq!(of("groq")["configured"], true);
    assert_eq!(of("groq")["reachable"], false);
    assert_eq!(of("mistral")["reason"], "MISTRAL_API_KEY is not set");

    let said = listing().args(["ollama"]).said();
    assert_eq!(
        (said.code, said.stdout.as_str()),
        (0, "ollama::qwen-test\n")
    );
    let said = listing().args(["groq"]).said();
    assert_eq!(said.code, 1);
    assert!(said.error_line().contains("could not connect"), "{said:?}");
    let said = listing().args(["nobody"]).said();
    assert_eq!(said.code, 2);
}
