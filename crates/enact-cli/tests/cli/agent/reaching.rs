//! Tools of a file that reach further, what a file keeps secret, and recordings of its agents.

use enact_test_server::{TestServer, Turn};
use serde_json::{Value, json};

use super::{asked, done, run, write};
use crate::command::{KEY, enact};
use crate::place::{Place, pending};
use crate::recording::{events, offline};

const PASSWORD: &str = "correct-horse-battery";

const WORKER: &str = r#"
signature = "task -> answer"
model = "of-the-file"
tools = ["shell", "http_get", "note"]
secrets = ["DOOR"]

[http_get]
hosts = ["docs.example", "*.wikipedia.org:8080"]
timeout = "5s"
max_bytes = 1000

[shell]
folder = "."
env = ["DOOR", "SEEN"]
timeout = "10s"
max_output = 40

[agents.helper]
file = "helper.toml"
"#;

const HELPER: &str = "signature = 'question -> answer'\ndescription = 'Knows it.'\n\
                      model = 'of-the-helper'\ntools = ['calculator']\n";

fn worker(place: &Place) -> String {
    write(place, "helper.toml", HELPER);
    write(place, "agent.toml", WORKER)
}

#[cfg(unix)]
#[test]
fn commands_of_a_file_keep_to_its_limits_and_its_secrets_stay_secret() {
    let place = Place::new();
    let path = worker(&place);
    let long = "echo $DOOR $SEEN $HIDDEN > seen; cat seen; seq 1000";
    let server = TestServer::start_blocking([
        Turn::call("shell", json!({"command": long})).thinking(format!("I say {PASSWORD}.")),
        Turn::call("shell", json!({"command": "cat seen"})),
        Turn::call("submit", json!({"answer": PASSWORD})),
    ]);
    let recording = place.data.path().join("recording.jsonl");
    let recording = recording.to_string_lossy().into_owned();
    let said = run(&place, &server, &path)
        .args(["task=?", "--record", &recording])
        .env("DOOR", PASSWORD)
        .said();
    assert_eq!(said.code, 3, "{said:?}");
    let mut object = said.json();
    let mut told = said.stdout;
    let id = object["run_id"].as_str().unwrap().to_owned();
    // The run knows what the file said, and where the folder is.
    std::fs::remove_file(&path).unwrap();
    for code in [3, 0] {
        let question = &pending(&object)[0];
        let args = ["resume", &id, "--approve", question, "--json"];
        let said = place
            .enact(args.into_iter().chain(["--record", &recording]))
            .env("DOOR", PASSWORD)
            .env("SEEN", "seen")
            .env("HIDDEN", "hidden")
            .said();
        assert_eq!(said.code, code, "{said:?}");
        object = said.json();
        told.push_str(&said.stdout);
    }
    assert_eq!(object["outputs"]["answer"], "[redacted]");
    let written = format!("{PASSWORD} seen\n");
    assert_eq!(place.written("seen").as_deref(), Some(written.as_str()));
    let steps = &object["trajectory"];
    let shown = steps[0]["observation"]["stdout"].as_str().unwrap();
    assert!(shown.len() < 200 && shown.ends_with("1000\n"), "{shown}");
    let seen = &steps[1]["observation"]["stdout"];
    assert_eq!(seen, "[redacted] seen\n");
    told.push_str(&std::fs::read_to_string(&recording).unwrap());
    told.push_str(&place.enact(["show", &id, "--as", "events"]).said().stdout);
    for request in server.requests() {
        told.push_str(&request.json().to_string());
    }
    assert!(!told.contains(PASSWORD), "{told}");
    server.assert_complete();
}

#[test]
fn a_secret_of_a_file_that_is_too_short_is_refused() {
    let place = Place::new();
    let path = worker(&place);
    let server = TestServer::start_blocking([]);
    let said = run(&place, &server, &path)
        .args(["task=?"])
        .env("DOOR", "1234")
        .said();
    assert_eq!(said.code, 2, "{said:?}");
    let problem = said.error_line();
    assert!(
        problem.contains("`secrets` of the agent file names DOOR"),
        "{problem}"
    );
}

#[test]
fn flags_win_over_how_far_a_file_lets_tools_reach() {
    let place = Place::new();
    let path = worker(&place);
    let listening = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let own = listening.local_addr().unwrap().to_string();
    let (allowed, other) = (format!("http://{own}/"), "http://docs.example/");
    let server = TestServer::start_blocking([
        Turn::call("http_get", json!({"url": allowed})),
        Turn::call("http_get", json!({"url": other})),
        done(),
    ]);
    // Without `shell`, what the file says of it says nothing.
    let flags = ["task=?", "--tools=http_get", "--allow-host", &own];
    let said = run(&place, &server, &path).args(flags).said();
    assert_eq!(said.code, 0, "{said:?}");
    let steps = said.json()["trajectory"].clone();
    let said = |index: usize| steps[index]["observation"].as_str().unwrap().to_owned();
    assert!(said(0).contains("private"), "{}", said(0));
    assert!(said(1).contains("is not allowed"), "{}", said(1));
    let tools = super::tool_names(&asked(&server, 0));
    assert_eq!(tools, ["http_get", "helper", "submit"]);
}

#[test]
fn the_tools_of_a_file_are_listed_with_their_sources_and_rules() {
    let place = Place::new();
    let mut text = WORKER.to_owned();
    #[cfg(unix)]
    text.push_str(&format!(
        "[mcp.doubling]\ncommand = '{}'\nargs = ['mcp', '--agent', 'doubler.toml', '--name', \
         'doubler', '--model', 'm', '--base-url', 'http://127.0.0.1:1/v1', '--store', 'none', \
         '--no-probe']\n",
        env!("CARGO_BIN_EXE_enact")
    ));
    text.push_str("[approval]\nnote = 'always'\nhelper = 'always'\n");
    write(
        &place,
        "doubler.toml",
        "signature = 'n: int -> twice: int'\n",
    );
    write(&place, "helper.toml", HELPER);
    let path = write(&place, "agent.toml", &text);
    let said = enact(["tools", "--agent", &path, "--json"]).said();
    assert_eq!((said.code, said.stderr.as_str()), (0, ""), "{said:?}");
    let listed: Vec<Value> = serde_json::from_str(&said.stdout).unwrap();
    let rows: Vec<Value> = listed
        .iter()
        .map(|tool| {
            json!([
                tool["name"],
                tool["source"],
                tool["effect"],
                tool["confirmation"]
            ])
        })
        .collect();
    let mut expected = vec![
        json!(["shell", "built-in", "effectful", "always"]),
        json!(["http_get", "built-in", "read_only", "never"]),
        json!(["note", "built-in", "read_only", "always"]),
        json!(["helper", "agent", "idempotent", "always"]),
    ];
    if cfg!(unix) {
        expected.push(json!([
            "doubler",
            "MCP server `doubling`",
            "effectful",
            "never"
        ]));
    }
    expected.push(json!(["submit", "ends the run", "effectful", "never"]));
    assert_eq!(rows, expected);
    let times: Vec<&Value> = listed.iter().map(|tool| &tool["timeout_s"]).collect();
    assert_eq!(times[1], &json!(5.0));
    assert_eq!(listed[3]["parameters"]["required"], json!(["question"]));
}

#[test]
fn a_team_of_agents_replays_without_a_server_and_a_key_to_the_same_events() {
    let place = Place::new();
    let path = worker(&place);
    let server = TestServer::start_blocking([
        Turn::call("helper", json!({"question": "6 * 7?"})),
        Turn::call("calculator", json!({"expression": "6 * 7"})),
        Turn::call("submit", json!({"answer": "42"})),
        Turn::call("submit", json!({"answer": "It is 42."})),
        // Another run, in which the other agent is not asked.
        done(),
    ]);
    let recording = |name: &str| place.data.path().join(name).to_string_lossy().into_owned();
    let (both, alone) = (recording("both.jsonl"), recording("alone.jsonl"));
    for (task, file) in [("task=?", &both), ("task=!", &alone)] {
        let recorded = run(&place, &server, &path)
            .args([task, "--record", file])
            .said();
        assert_eq!(recorded.code, 0, "{recorded:?}");
        let args = ["run", "--agent", &path, "--json", task, "--replay", file];
        let replayed = offline(&place, args).said();
        assert_eq!((replayed.code, replayed.stderr.as_str()), (0, ""));
        let id = |said: &crate::command::Said| said.json()["run_id"].as_str().unwrap().to_owned();
        let (first, second) = (id(&recorded), id(&replayed));
        assert_eq!(events(&place, &second), events(&place, &first));
    }
    server.assert_complete();
    let kept = std::fs::read_to_string(&both).unwrap();
    assert!(kept.contains("of-the-helper"), "{kept}");
    assert!(!kept.contains(KEY), "{kept}");

    // Without its part of the recording the other agent has no answer, and that is what it says.
    let of_caller = kept
        .lines()
        .filter(|line| !line.contains("\"model\":\"of-the-helper\""));
    std::fs::write(&alone, of_caller.collect::<Vec<_>>().join("\n") + "\n").unwrap();
    let args = [
        "run", "--agent", &path, "--json", "task=?", "--replay", &alone,
    ];
    let said = offline(&place, args).said();
    assert_eq!(said.code, 1, "{said:?}");
    let steps = said.json()["trajectory"].clone();
    let observation = steps[0]["observation"].as_str().unwrap();
    assert!(observation.contains("`of-the-helper`"), "{observation}");
}

#[test]
fn an_agent_of_a_file_talks_from_a_recording() {
    let place = Place::new();
    let path = worker(&place);
    let server = TestServer::start_blocking([Turn::text("Hello."), Turn::text("Still here.")]);
    let recording = place.data.path().join("recording.jsonl");
    let recording = recording.to_string_lossy().into_owned();
    let lines = "Hi!\nAre you there?\n";
    let said = enact(["chat", "--agent", &path, "--record", &recording])
        .env("OPENAI_BASE_URL", server.base_url())
        .env("OPENAI_API_KEY", KEY)
        .stdin(lines)
        .said();
    assert_eq!(said.code, 0, "{said:?}");
    let args = ["chat", "--agent", &path, "--replay", &recording];
    let again = offline(&place, args).stdin(lines).said();
    assert_eq!((again.code, &again.stdout), (0, &said.stdout));
}
