//! Agents that are written down: `enact init`, `enact check`, and the commands with `--agent`.

use std::path::{Path, PathBuf};

use enact_test_server::{TestServer, Turn};
use serde_json::{Value, json};

use crate::command::{Enact, KEY, Said, asking, enact};
use crate::place::{Place, pending};

/// Writes a file of the place, and tells its path.
fn write(place: &Place, name: &str, text: &str) -> String {
    let path = place.files.path().join(name);
    std::fs::write(&path, text).unwrap();
    path.to_string_lossy().into_owned()
}

/// `enact run --agent` against a scripted server, which no flag names a model of.
fn run(place: &Place, server: &TestServer, path: &str) -> Enact {
    enact(["run", "--agent", path, "--json"])
        .env("OPENAI_BASE_URL", server.base_url())
        .env("OPENAI_API_KEY", KEY)
        .env("ENACT_STORE", &place.store())
}

/// What `enact check` has against a text, without the path before each line.
#[track_caller]
fn problems(text: &str) -> Vec<String> {
    let place = Place::new();
    let path = write(&place, "agent.toml", text);
    let said = enact(["check", &path]).said();
    assert_eq!(said.code, 2, "{said:?}");
    assert_eq!(said.stdout, "");
    let lines = said.stderr.lines();
    lines
        .map(|line| line.strip_prefix(&format!("{path}:")).unwrap().to_owned())
        .collect()
}

fn done() -> Turn {
    Turn::call("submit", json!({"answer": "done"}))
}

/// The text of a request to the model.
fn asked(server: &TestServer, index: usize) -> Value {
    server.requests()[index].json()
}

fn tool_names(request: &Value) -> Vec<String> {
    let tools = request["tools"].as_array().unwrap().iter();
    tools
        .map(|tool| tool["function"]["name"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn a_new_file_is_accepted_runs_and_is_never_written_over() {
    let place = Place::new();
    let path = place.files.path().join("agent.toml");
    let path = path.to_string_lossy();
    let said = enact(["init", &path]).said();
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.stdout.contains("enact run --agent"), "{said:?}");
    let said = enact(["check", &path]).said();
    assert_eq!((said.code, said.stderr.as_str()), (0, ""), "{said:?}");
    assert_eq!(said.stdout, format!("{path}: ok\n"));

    let server = TestServer::start_blocking([
        Turn::call("calculator", json!({"expression": "2340 * 0.17"})),
        Turn::call("submit", json!({"answer": "397.8"})),
    ]);
    let said = run(&place, &server, &path)
        .args(["--model", "m", "question=What is 17% of 2340?"])
        .said();
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(said.json()["outputs"]["answer"], "397.8");
    let request = asked(&server, 0);
    assert_eq!(
        tool_names(&request),
        ["calculator", "current_time", "submit"]
    );
    let system = request["messages"][0]["content"].as_str().unwrap();
    assert!(system.contains("instead of guessing"), "{system}");
    server.assert_complete();

    std::fs::write(Path::new(&*path), "mine").unwrap();
    let said = enact(["init", &path]).said();
    assert_eq!(said.code, 2, "{said:?}");
    assert!(said.error_line().contains("there already"), "{said:?}");
    assert_eq!(place.written("agent.toml").as_deref(), Some("mine"));
}

/// What the template offers in comments has to be true as well.
#[test]
fn a_new_file_is_accepted_with_every_comment_made_a_line() {
    let place = Place::new();
    let path = place.files.path().join("agent.toml");
    let path = path.to_string_lossy();
    enact(["init", &path]).said();
    let text = place.written("agent.toml").unwrap();
    let mut lines = 0;
    let uncommented = text.lines().map(|line| {
        let Some(comment) = line.strip_prefix("# ") else {
            return line.to_owned();
        };
        let key = comment.split([' ', '=', ']']).next().unwrap_or_default();
        let is_setting = comment.starts_with('[')
            || (comment[key.len()..].starts_with(" = ")
                && key
                    .bytes()
                    .all(|byte| byte.is_ascii_lowercase() || byte == b'_'));
        lines += usize::from(is_setting);
        match is_setting {
            true => comment.to_owned(),
            false => line.to_owned(),
        }
    });
    let text: Vec<String> = uncommented.collect();
    assert!(lines > 30, "the comments were not read: {lines}");
    write(&place, "agent.toml", &text.join("\n"));
    write(&place, "researcher.toml", "signature = 'topic -> summary'");
    let said = enact(["check", &path]).said();
    assert_eq!(said.code, 0, "{said:?}");
}

#[test]
fn every_problem_is_told_at_once_with_its_line_and_column() {
    let text = r#"
signature = "question -> answer: strr"
modell = "m"
adapter = "jsn"
temperature = -1
tools = ["calculater", "read_file"]

[limits]
max_iterations = 0
time_budgt = "5m"
token_budget = "many"

[mcp.time]
comand = "uvx"
"#;
    // The shape comes first.
    assert_eq!(
        problems(text),
        [
            "3:1: unknown key `modell`: did you mean `model`?",
            "4:11: unknown value \"jsn\": did you mean `json`?",
            "5:15: give a number of 0 or more",
            "6:10: unknown value \"calculater\": did you mean `calculator`?",
            "9:18: give a number of 1 or more",
            "10:1: unknown key `time_budgt`: did you mean `time_budget`?",
            "11:16: expected a whole number, found a text",
            "14:1: unknown key `comand`: did you mean `command`?",
        ]
    );
    // Then what it says.
    let text = r#"signature = "question -> answer: strr"
model = ["openai::gpt", "nowhere::m"]
tools = ["read_file", "calculator"]

[limits]
time_budget = "soon"
cost_budget = 3

[approval]
calculater = "always"

[agents.submit]
file = "none.toml"
"#;
    let found = problems(text);
    let places: Vec<&str> = found
        .iter()
        .map(|line| line.split(": ").next().unwrap())
        .collect();
    let expected = [
        "1:34", "2:25", "3:10", "6:15", "7:15", "10:1", "12:9", "13:8",
    ];
    assert_eq!(places, expected, "{found:#?}");
    for (index, words) in [
        (0, "did you mean `str`?"),
        (1, "nowhere"),
        (2, "name it with `files`"),
        (3, "give a time such as 90s, 30m or 2h"),
        (4, "needs prices"),
        (5, "did you mean `calculator`?"),
        (6, "reserved"),
        (7, "cannot be read"),
    ] {
        assert!(found[index].contains(words), "{}", found[index]);
    }
}

#[test]
fn a_broken_file_is_told_where_it_breaks() {
    let found = problems("signature = \"a -> b\"\ntools = [\"calculator\"\nfiles = = 3\n");
    assert!(
        found[0].starts_with("3:") || found[0].starts_with("2:"),
        "{found:?}"
    );
    assert_eq!(problems("tools = []")[..], ["1:1: `signature` is missing"]);
    assert_eq!(
        problems("signature = 3")[..],
        ["1:13: expected a text in quotes or a table, found a number"]
    );
    let found = problems("signature = 'a -> b'\n[limits]\nmax_iterations = 1.0\n");
    assert!(found[0].starts_with("3:18: "), "{found:?}");
    let found = problems("signature = 'a -> b'\ntemperature = inf\n");
    assert_eq!(found, ["2:15: give a finite number"]);
}

#[test]
fn fields_and_demos_are_checked_against_each_other() {
    let found = problems(
        r#"
[signature.inputs]
question = "str"
k = { type = "intt", default = 3 }
[signature.outputs]
answer = "list[str]"
"#,
    );
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(
        found[0].starts_with("4:15: unknown type `intt`"),
        "{found:?}"
    );
    let found = problems(
        r#"
signature = "question, k: int -> answer"
[[demos]]
inputs = { qestion = "a", k = "many" }
outputs = { answer = "b" }
"#,
    );
    assert_eq!(
        found,
        [
            "4:12: unknown input `qestion`: did you mean `question`?",
            "4:31: the input `k` is of the type int"
        ]
    );
}

#[test]
fn servers_say_how_they_are_reached_and_hold_no_secrets() {
    let found = problems(
        r#"signature = "a -> b"
[mcp.none]
[mcp.both]
command = "x"
url = "https://a.example"
[mcp.mixed]
command = "x"
headers = { A = "${B}" }
env = { API_KEY = "sk-12345", DEBUG = "1" }
[mcp.far]
url = "https://me:pw@a.example"
headers = { Authorization = "Bearer 12345" }
timeout = "soon"
"#,
    );
    let places: Vec<&str> = found
        .iter()
        .map(|line| line.split(": ").next().unwrap())
        .collect();
    let expected = ["2:6", "5:7", "8:1", "9:19", "11:7", "12:29", "13:11"];
    assert_eq!(places, expected, "{found:#?}");
    let told = found.join("\n");
    assert!(!told.contains("12345"), "{told}");
}

#[test]
fn agents_that_call_each_other_in_a_circle_are_refused_by_name() {
    let place = Place::new();
    let calls = |other: &str| {
        format!("signature = 'a -> b'\ndescription = 'x'\n[agents.other]\nfile = '{other}'\n")
    };
    let one = write(&place, "one.toml", &calls("two.toml"));
    let two = write(&place, "two.toml", &calls("one.toml"));
    let said = enact(["check", &one]).said();
    assert_eq!(said.code, 2, "{said:?}");
    let expected =
        format!("{two}:4:8: agents call each other in a circle: {one} → {two} → {one}\n");
    assert_eq!(said.stderr, expected);
    // A problem of another file is told with its name.
    let two = write(&place, "two.toml", "signature = 'a -> b'\ntool = 3\n");
    let said = enact(["check", &one, &two]).said();
    assert_eq!(said.code, 2, "{said:?}");
    let line = format!("{two}:2:1: unknown key `tool`: did you mean `tools`?\n");
    assert_eq!(said.stderr, line.repeat(2));
}

const WRITER: &str = r#"
signature = "task -> answer"
instructions = "Write what you are told."
model = "of-the-file"
temperature = 0.5
files = "work"
tools = ["write_file"]

[limits]
max_iterations = 7
time_budget = "5m"

[rules.thoughts]
required = true

[[demos]]
inputs = { task = "Write nothing." }
outputs = { answer = "nothing was written" }
"#;

#[test]
fn a_run_goes_on_as_it_began_whatever_becomes_of_its_file() {
    let place = Place::new();
    std::fs::create_dir(place.files.path().join("work")).unwrap();
    let path = write(&place, "agent.toml", WRITER);
    let server = TestServer::start_blocking([
        Turn::call("write_file", json!({"path": "a.txt", "content": "hello"}))
            .thinking("The task says to write it."),
        done(),
    ]);
    let said = run(&place, &server, &path).args(["task=Write it."]).said();
    assert_eq!(said.code, 3, "{said:?}");
    let object = said.json();
    let run_id = object["run_id"].as_str().unwrap().to_owned();
    let events = place.enact(["show", &run_id, "--as", "events"]).said();
    let started: Value = serde_json::from_str(events.stdout.lines().next().unwrap()).unwrap();
    let text = started.to_string();
    assert!(text.contains("\"max_iterations\":7"), "{text}");
    assert!(text.contains("\"time_budget_ns\":300000000000"), "{text}");

    std::fs::remove_file(&path).unwrap();
    let said = place
        .enact([
            "resume",
            &run_id,
            "--approve",
            &pending(&object)[0],
            "--json",
        ])
        .said();
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(place.written("work/a.txt").as_deref(), Some("hello"));
    // The second request begins with the first one: demonstrations, instructions, sampling.
    let (first, second) = (asked(&server, 0), asked(&server, 1));
    let messages = first["messages"].as_array().unwrap();
    let later = second["messages"].as_array().unwrap();
    assert_eq!(later[..messages.len()], messages[..]);
    assert!(first.to_string().contains("nothing was written"), "{first}");
    for request in [&first, &second] {
        assert_eq!(request["model"], "of-the-file");
        assert_eq!(request["temperature"], 0.5);
    }
    server.assert_complete();
}

#[test]
fn flags_win_over_the_file_and_the_environment_over_its_model() {
    let place = Place::new();
    std::fs::create_dir(place.files.path().join("work")).unwrap();
    let path = write(&place, "agent.toml", WRITER);
    let server = TestServer::start_blocking([done(), done(), done()]);
    let said = run(&place, &server, &path)
        .args(["task=x", "--model=of-the-flag", "--temperature=0"])
        .args([
            "--tools=calculator",
            "--max-iterations=3",
            "--instructions=Be quick.",
        ])
        .env("ENACT_MODEL", "of-the-environment")
        .said();
    assert_eq!(said.code, 0, "{said:?}");
    let request = asked(&server, 0);
    assert_eq!(request["model"], "of-the-flag");
    assert_eq!(request["temperature"], 0.0);
    assert_eq!(
        tool_names(&request)[..2],
        ["calculator", "list_files"],
        "a folder whose tools nobody names hands over all"
    );
    assert!(request.to_string().contains("Be quick."), "{request}");
    for (variable, model) in [
        ("of-the-environment", "of-the-environment"),
        ("", "of-the-file"),
    ] {
        let said = run(&place, &server, &path)
            .args(["task=x"])
            .env("ENACT_MODEL", variable)
            .said();
        assert_eq!(said.code, 0, "{said:?}");
        let last = server.requests().len() - 1;
        assert_eq!(asked(&server, last)["model"], model);
    }
    server.assert_complete();
}

#[test]
fn without_a_model_in_the_file_the_order_goes_on_to_what_is_at_hand() {
    let place = Place::new();
    let path = write(&place, "agent.toml", "signature = 'question -> answer'");
    let said = enact(["run", "--agent", &path, "question=x"]).said();
    assert_eq!(said.code, 2, "{said:?}");
    assert!(said.error_line().contains("no model is set"), "{said:?}");
}

#[test]
fn a_command_that_is_wrong_about_its_file_says_so_in_one_line() {
    let place = Place::new();
    let good = write(&place, "good.toml", "signature = 'question -> answer'");
    let bad = write(&place, "bad.toml", "signature = 'a -> b'\nx = 1\ny = 2\n");
    let line = |args: &[&str]| {
        let said = enact(args.iter().copied()).said();
        assert_eq!(said.code, 2, "{said:?}");
        said.error_line().to_owned()
    };
    let told = line(&["run", "--agent", &bad, "a=1"]);
    let expected = format!("(and 1 more: `enact check {bad}` tells them)");
    assert!(
        told.starts_with(&format!("{bad}:2:1: unknown key `x`")),
        "{told}"
    );
    assert!(told.ends_with(&expected), "{told}");
    let told = line(&["run", "--agent", "/no/such/agent.toml", "a=1"]);
    assert!(
        told.contains("/no/such/agent.toml: the agent file cannot be read"),
        "{told}"
    );
    let told = line(&["run", "--agent", &good, "question -> answer", "--model=m"]);
    assert!(
        told.contains("says the signature: leave it out") || told.contains("no_key"),
        "{told}"
    );
    let said = enact(["chat", "question -> answer", "--agent", &good]).said();
    assert_eq!(said.code, 2, "{said:?}");
}

/// An agent that calls another, whose file is beside it.
fn team(place: &Place) -> String {
    std::fs::create_dir(place.files.path().join("work")).unwrap();
    let writer = WRITER.replace("[rules.thoughts]\nrequired = true\n", "");
    write(place, "writer.toml", &writer);
    write(
        place,
        "agent.toml",
        r#"
signature = "question -> answer"
model = "of-the-caller"
tools = ["calculator"]

[agents.writer]
file = "writer.toml"
description = "Writes files."
"#,
    )
}

#[test]
fn an_agent_hands_over_to_another_and_both_go_on_in_another_process() {
    let place = Place::new();
    let path = team(&place);
    let server = TestServer::start_blocking([
        Turn::call("writer", json!({"task": "Write a.txt."})),
        Turn::call("write_file", json!({"path": "a.txt", "content": "hello"})),
        Turn::call("submit", json!({"answer": "written"})),
        done(),
    ]);
    let said = run(&place, &server, &path).args(["question=x"]).said();
    assert_eq!(said.code, 3, "{said:?}");
    let object = said.json();
    let run_id = object["run_id"].as_str().unwrap().to_owned();
    let question = object["pending"][0]["question"].as_str().unwrap();
    assert!(question.starts_with("writer asks: "), "{question}");
    let names = tool_names(&asked(&server, 0));
    assert_eq!(names, ["calculator", "writer", "submit"]);

    for file in ["agent.toml", "writer.toml"] {
        std::fs::remove_file(place.files.path().join(file)).unwrap();
    }
    let id = &pending(&object)[0];
    let said = place
        .enact(["resume", &run_id, "--answer", id, "yes", "--json"])
        .said();
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(said.json()["outputs"]["answer"], "done");
    assert_eq!(place.written("work/a.txt").as_deref(), Some("hello"));
    let models: Vec<Value> = (0..4)
        .map(|index| asked(&server, index)["model"].clone())
        .collect();
    let expected = [
        "of-the-caller",
        "of-the-file",
        "of-the-file",
        "of-the-caller",
    ];
    assert_eq!(models, expected);
    server.assert_complete();
}

#[test]
fn the_run_of_an_agent_that_was_called_goes_on_with_its_caller_only() {
    let place = Place::new();
    let path = team(&place);
    let server = TestServer::start_blocking([
        Turn::call("writer", json!({"task": "Write a.txt."})),
        Turn::call("write_file", json!({"path": "a.txt", "content": "hello"})),
    ]);
    let object = run(&place, &server, &path)
        .args(["question=x"])
        .said()
        .json();
    let run_id = object["run_id"].as_str().unwrap();
    let runs = place.runs();
    let inner = runs.iter().find(|run| run["run_id"] != run_id).unwrap();
    let said = place
        .enact(["resume", inner["run_id"].as_str().unwrap(), "--json"])
        .said();
    assert_eq!(said.code, 2, "{said:?}");
    let told = said.error_line();
    assert!(told.contains(&format!("`enact resume {run_id}`")), "{told}");
}

#[test]
fn a_conversation_and_an_evaluation_are_of_the_file() {
    let place = Place::new();
    let path = write(
        &place,
        "agent.toml",
        "signature = 'n: int -> twice: int'\nmodel = 'm'\ntools = ['calculator']\n",
    );
    let twice = |n: i64| Turn::call("submit", json!({"twice": n}));
    let server = TestServer::start_blocking([twice(42), twice(8)]);
    let said: Said = enact(["chat", "--agent", &path])
        .env("OPENAI_BASE_URL", server.base_url())
        .stdin("21\n")
        .said();
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.stdout.contains("42"), "{said:?}");
    let dataset = write(
        &place,
        "numbers.jsonl",
        &json!({"inputs": {"n": 4}, "expected": {"twice": 8}}).to_string(),
    );
    let said = asking(
        &server,
        ["eval", &dataset, "--agent", &path, "--min-accuracy=1"],
    )
    .said();
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(tool_names(&asked(&server, 1)), ["calculator", "submit"]);
    server.assert_complete();
}

#[cfg(unix)]
#[test]
fn a_file_lists_servers_and_an_agent_of_a_file_is_one() {
    let place = Place::new();
    let inner = TestServer::start_blocking([Turn::call("submit", json!({"twice": 42}))]);
    let outer = TestServer::start_blocking([
        Turn::call("doubler", json!({"n": 21})),
        Turn::call("submit", json!({"answer": "42"})),
    ]);
    write(
        &place,
        "doubler.toml",
        &format!(
            "signature = 'n: int -> twice: int'\ndescription = 'Doubles a number.'\n\
             model = 'inner'\nbase_url = '{}'\n",
            inner.base_url()
        ),
    );
    // The server starts in the folder of the file, whoever starts it from where.
    let path = write(
        &place,
        "agent.toml",
        &format!(
            "signature = 'question -> answer'\nmodel = 'outer'\n\
             [mcp.numbers]\ncommand = '{}'\n\
             args = ['mcp', '--agent', 'doubler.toml', '--name', 'doubler', '--store', 'none']\n\
             env = {{ OPENAI_API_KEY = '${{HUSH}}' }}\nallow = ['doub*']\n\
             [approval]\ndoubler = 'always'\n",
            env!("CARGO_BIN_EXE_enact")
        ),
    );
    let said = run(&place, &outer, &path)
        .args(["question=Twice 21?"])
        .env("HUSH", "hush-hush")
        .said();
    assert_eq!(said.code, 3, "{said:?}");
    let object = said.json();
    let run_id = object["run_id"].as_str().unwrap();
    let events = place
        .enact(["show", run_id, "--as", "events"])
        .said()
        .stdout;
    assert!(events.contains("${HUSH}"), "{events}");
    assert!(!events.contains("hush-hush"), "{events}");
    let said = place
        .enact([
            "resume",
            run_id,
            "--approve",
            &pending(&object)[0],
            "--json",
        ])
        .env("HUSH", "hush-hush")
        .said();
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(
        inner.requests()[0].header("authorization"),
        Some("Bearer hush-hush")
    );
    let described = asked(&outer, 0)["tools"][0]["function"]["description"].clone();
    assert_eq!(described, "Doubles a number.");
    inner.assert_complete();
    outer.assert_complete();
}

/// `ENACT_SCHEMA=write` writes the file anew.
#[test]
fn the_schema_beside_the_documentation_is_that_of_the_command() {
    let said = enact(["check", "--schema"]).said();
    assert_eq!(said.code, 0, "{said:?}");
    let kept =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/agent.schema.json");
    if std::env::var("ENACT_SCHEMA").is_ok_and(|mode| mode == "write") {
        std::fs::write(&kept, &said.stdout).unwrap();
    }
    let text = std::fs::read_to_string(&kept).unwrap_or_default();
    assert!(
        text == said.stdout,
        "docs/reference/agent.schema.json is not what `enact check --schema` prints: run this \
         test with ENACT_SCHEMA=write, and look at the difference"
    );
}
