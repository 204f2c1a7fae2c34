//! Agents with tools of MCP servers, and agents as such tools. The command is at both ends.

use enact_test_server::{TestServer, Turn};
use rexpect::session::{Options, spawn_with_options};
use serde_json::json;

use crate::command::{KEY, run};
use crate::place::{Place, pending};

/// What starts `enact mcp` with an agent that doubles numbers, asking this server of models.
fn doubler(models: &TestServer) -> String {
    let (enact, url) = (env!("CARGO_BIN_EXE_enact"), models.base_url());
    format!(
        "'{enact}' mcp 'n: int -> twice: int' --name doubler --description 'Doubles a number.' \
         --model inner --base-url {url} --store none --no-probe"
    )
}

fn inner() -> TestServer {
    TestServer::start_blocking([Turn::call("submit", json!({"twice": 42}))])
}

fn outer() -> TestServer {
    TestServer::start_blocking([
        Turn::call("doubler", json!({"n": 21})),
        Turn::call("submit", json!({"answer": "42"})),
    ])
}

#[test]
fn an_agent_uses_another_as_a_tool() {
    let (inner, outer) = (inner(), outer());
    let args = [
        "task -> answer",
        "task=Twice 21?",
        "--json",
        "--allow",
        "doubler",
    ];
    let said = run(&outer, args).args(["--mcp", &doubler(&inner)]).said();
    assert_eq!(said.code, 0, "{said:?}");
    let object = said.json();
    assert_eq!(object["outputs"]["answer"], "42");
    assert_eq!(object["trajectory"][0]["observation"], json!({"twice": 42}));
    // The outer model sees the inner agent's inputs as the schema of the tool.
    let offered = outer.requests()[0].json()["tools"].clone();
    let tool = offered.as_array().unwrap().iter();
    let mut tool = tool.filter(|tool| tool["function"]["name"] == "doubler");
    let tool = &tool.next().unwrap()["function"];
    assert_eq!(tool["description"], "Doubles a number.");
    assert_eq!(tool["parameters"]["required"], json!(["n"]));
    inner.assert_complete();
    outer.assert_complete();
}

#[test]
fn a_run_that_asked_first_is_resumed_with_its_servers_and_its_log_holds_no_secret() {
    let place = Place::new();
    let (inner, outer) = (inner(), outer());
    let args = [
        "task -> answer",
        "task=Twice 21?",
        "--json",
        "--tools",
        "calculator",
    ];
    let said = run(&outer, args)
        .args(["--mcp", &doubler(&inner), "--mcp-env", "SECRET_FOR_SERVERS"])
        .args(["--ask", "doubler"])
        .env("ENACT_STORE", &place.store())
        .env("SECRET_FOR_SERVERS", "hush-hush")
        .said();
    assert_eq!(said.code, 3, "{said:?}");
    let object = said.json();
    let run_id = object["run_id"].as_str().unwrap();
    let events = place
        .enact(["show", run_id, "--as", "events"])
        .said()
        .stdout;
    assert!(events.contains("SECRET_FOR_SERVERS"), "{events}");
    assert!(!events.contains("hush-hush"), "{events}");
    assert!(!events.contains(KEY), "{events}");
    let question = &pending(&object)[0];
    let said = place
        .enact(["resume", run_id, "--approve", question, "--json"])
        .said();
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(said.json()["outputs"]["answer"], "42");
    inner.assert_complete();
    outer.assert_complete();
}

/// The bytes of a store.
fn stored(place: &Place) -> String {
    let files = ["", "-wal"].map(|suffix| std::fs::read(place.store_file(suffix)));
    let bytes: Vec<u8> = files.into_iter().flatten().flatten().collect();
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(unix)]
#[test]
fn truth_a_secret_in_the_command_of_a_server_is_not_stored() {
    let place = Place::new();
    let (inner, outer) = (inner(), outer());
    let command = format!("env DOUBLER_TOKEN=tok-4711-en {}", doubler(&inner));
    let args = [
        "task -> answer",
        "task=Twice 21?",
        "--json",
        "--mcp",
        &command,
        "--ask=doubler",
    ];
    let said = run(&outer, args).env("ENACT_STORE", &place.store()).said();
    assert_eq!(said.code, 3, "{said:?}");
    let written = stored(&place);
    assert!(written.contains("DOUBLER_TOKEN=[redacted]"), "{written}");
    assert!(!written.contains("4711"), "{written}");

    let object = said.json();
    let run_id = object["run_id"].as_str().unwrap();
    let resume = [
        "resume",
        run_id,
        "--approve",
        &pending(&object)[0],
        "--json",
    ];
    let said = place.enact(resume).said();
    assert_eq!(said.code, 2, "{said:?}");
    let told = said.stdout + &said.stderr;
    for part in [
        "is not stored with the run",
        "repeat the complete `--mcp`",
        "${NAME}",
    ] {
        assert!(told.contains(part), "{part} in {told}");
    }
    let other = doubler(&inner);
    let said = place.enact(resume).args(["--mcp", &other]).said();
    assert_eq!(said.code, 2, "{said:?}");
    let said = place.enact(resume).args(["--mcp", &command]).said();
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(said.json()["outputs"]["answer"], "42");
    assert!(!stored(&place).contains("4711"));
    inner.assert_complete();
    outer.assert_complete();
}

#[cfg(unix)]
#[test]
fn truth_a_variable_in_the_command_of_a_server_is_read_again_on_resume() {
    let place = Place::new();
    let (inner, outer) = (inner(), outer());
    let command = format!("env DOUBLER_TOKEN=${{FOR_DOUBLER}} {}", doubler(&inner));
    let args = [
        "task -> answer",
        "task=Twice 21?",
        "--json",
        "--mcp",
        &command,
        "--ask=doubler",
    ];
    let said = run(&outer, args)
        .env("ENACT_STORE", &place.store())
        .env("FOR_DOUBLER", "tok-4711-en")
        .said();
    assert_eq!(said.code, 3, "{said:?}");
    assert!(!stored(&place).contains("4711"));
    let object = said.json();
    let run_id = object["run_id"].as_str().unwrap();
    let resume = [
        "resume",
        run_id,
        "--approve",
        &pending(&object)[0],
        "--json",
    ];
    let said = place.enact(resume).said();
    assert_eq!(said.code, 2, "{said:?}");
    assert!(
        (said.stdout.clone() + &said.stderr).contains("FOR_DOUBLER is not set"),
        "{said:?}"
    );
    let said = place.enact(resume).env("FOR_DOUBLER", "tok-4711-en").said();
    assert_eq!(said.code, 0, "{said:?}");
    inner.assert_complete();
    outer.assert_complete();
}

#[cfg(unix)]
#[test]
fn truth_the_value_of_a_variable_for_a_server_is_as_secret_as_what_is_written_out() {
    let place = Place::new();
    let inner = inner();
    for variable in ["FOR_DOUBLER", "TRACKER_KEY"] {
        let command = match variable {
            "FOR_DOUBLER" => format!("env DOUBLER_TOKEN=${{{variable}}} {}", doubler(&inner)),
            _ => format!("env DOUBLER=${{{variable}}} {}", doubler(&inner)),
        };
        let outer =
            TestServer::start_blocking([Turn::call("submit", json!({"answer": "tok-4711-en"}))
                .thinking("It is tok-4711-en.")]);
        let said = run(
            &outer,
            ["task -> answer", "task=Tell tok-4711-en.", "--json"],
        )
        .args(["--mcp", &command])
        .env("ENACT_STORE", &place.store())
        .env(variable, "tok-4711-en")
        .said();
        assert_eq!(said.code, 0, "{said:?}");
        assert_eq!(said.json()["outputs"]["answer"], "[redacted]");
        assert!(!outer.requests()[0].json().to_string().contains("4711"));
        assert!(!stored(&place).contains("4711"));
    }
}

#[test]
fn truth_a_tool_that_changed_while_the_run_waited_is_asked_about_again() {
    let place = Place::new();
    let (inner, outer) = (inner(), outer());
    let file = place.files.path().join("servers.json");
    let server = json!({
        "command": env!("CARGO_BIN_EXE_enact"),
        "args": ["mcp", "n: int -> twice: int", "--name", "doubler", "--description", "${ABOUT}",
                 "--model", "inner", "--base-url", inner.base_url(), "--store", "none", "--no-probe"],
    });
    let servers = json!({"mcpServers": {"numbers": server}});
    std::fs::write(&file, servers.to_string()).unwrap();
    let said = run(&outer, ["task -> answer", "task=Twice 21?", "--json"])
        .args(["--mcp-config", file.to_str().unwrap(), "--mcp-env", "ABOUT"])
        .args(["--ask", "doubler"])
        .env("ENACT_STORE", &place.store())
        .env("ABOUT", "Doubles a number.")
        .said();
    assert_eq!(said.code, 3, "{said:?}");
    let object = said.json();
    assert_eq!(object["pending"][0]["changes"], json!([]));
    let run_id = object["run_id"].as_str().unwrap();

    let question = &pending(&object)[0];
    let said = place
        .enact(["resume", run_id, "--approve", question])
        .env("ABOUT", "Doubles what you owe.")
        .said();
    assert_eq!(said.code, 3, "{said:?}");
    let told = "the tool has changed: its description is now \"Doubles what you owe.\"";
    assert!(said.stderr.contains(told), "{said:?}");
    let object = place.enact(["show", run_id, "--as", "json"]).said().json();
    let question = &object["pending"][0];
    let changes = question["changes"][0].as_str().unwrap();
    assert!(
        question["question"].as_str().unwrap().contains(changes),
        "{question}"
    );
    assert_eq!(object["pending"].as_array().unwrap().len(), 1);

    // A person at a terminal is told before they decide.
    let command = place.enact(["resume", run_id]);
    let command = command
        .env("ABOUT", "Doubles what you owe.")
        .env("TERM", "xterm");
    let options = Options::new()
        .timeout_ms(Some(60_000))
        .strip_ansi_escape_codes(true);
    let mut terminal = spawn_with_options(command.into_command(), options).unwrap();
    terminal.exp_string("may doubler run").unwrap();
    terminal.exp_string("the tool has changed: ").unwrap();
    terminal.exp_string("or type feedback:").unwrap();
    terminal.send_line("yes").unwrap();
    terminal.exp_string("42").unwrap();
    terminal.exp_eof().unwrap();
    inner.assert_complete();
    outer.assert_complete();
}

#[test]
fn a_file_lists_servers_and_patterns_choose_their_tools() {
    let place = Place::new();
    let file = place.files.path().join("servers.json");
    let enact = env!("CARGO_BIN_EXE_enact");
    let server = |name: &str| {
        json!({
            "command": enact,
            "args": ["mcp", "x -> y", "--name", name, "--model", "m", "--base-url",
                     "http://127.0.0.1:9", "--store", "none", "--no-probe"],
        })
    };
    let servers =
        json!({"mcpServers": {"a": server("one"), "b": server("one"), "c": server("two")}});
    std::fs::write(&file, servers.to_string()).unwrap();
    let models = TestServer::start_blocking([Turn::call("submit", json!({"answer": "done"}))]);
    let said = run(
        &models,
        [
            "task -> answer",
            "task=Do it.",
            "--json",
            "--mcp-deny",
            "tw*",
        ],
    )
    .args(["--mcp-config", &file.to_string_lossy()])
    .said();
    assert_eq!(said.code, 0, "{said:?}");
    let request = models.requests()[0].json();
    let names = request["tools"].as_array().unwrap().iter();
    let names: Vec<&str> = names
        .filter_map(|tool| tool["function"]["name"].as_str())
        .collect();
    assert_eq!(names, ["a_one", "b_one", "submit"]);
}

#[test]
fn a_pattern_that_fits_no_tool_is_a_mistake() {
    let models = TestServer::start_blocking([]);
    let said = run(&models, ["task -> answer", "task=Do it."])
        .args(["--mcp", &doubler(&models), "--mcp-allow", "doubel*"])
        .said();
    assert_eq!(said.code, 2, "{said:?}");
    let problem = "`--mcp-allow doubel*` matches no tool of the servers: they offer doubler";
    assert_eq!(said.error_line(), problem);
}

#[test]
fn a_server_that_cannot_be_used_fails_the_command_before_a_model_is_asked() {
    let models = TestServer::start_blocking([]);
    for (flags, code, problem) in [
        (
            ["--mcp", "no-such-server --x"],
            1,
            "`no-such-server --x` cannot be started",
        ),
        (
            ["--mcp", "sh -c 'echo oops >&2; exit 9'"],
            1,
            "exit status: 9; it said: oops",
        ),
        (
            ["--mcp-url", "http://127.0.0.1:9/mcp"],
            1,
            "http://127.0.0.1:9/mcp",
        ),
        (
            ["--mcp-url", "https://me:pw@a.example"],
            2,
            "must not contain a user name or password",
        ),
        (
            ["--mcp-config", "/no/such/file"],
            2,
            "/no/such/file cannot be read",
        ),
        (["--mcp", "'"], 2, "is not a command"),
        (["--mcp-allow", " "], 2, "an empty pattern"),
    ] {
        let said = run(&models, ["task -> answer", "task=Do it."])
            .args(flags)
            .said();
        assert_eq!(said.code, code, "{said:?}");
        assert!(said.stderr.contains(problem), "{said:?}");
    }
}

#[test]
fn a_slow_start_is_spoken_of() {
    let models = TestServer::start_blocking([]);
    for (wait, is_told) in [("0", false), ("1.3", true)] {
        let command = format!("sh -c 'sleep {wait}; exit 9'");
        let said = run(
            &models,
            ["task -> answer", "task=Do it.", "--mcp", &command],
        )
        .said();
        assert_eq!(said.code, 1, "{said:?}");
        let told = said.stderr.contains("starting the MCP server `sh -c");
        assert_eq!(told, is_told, "{said:?}");
    }
}
