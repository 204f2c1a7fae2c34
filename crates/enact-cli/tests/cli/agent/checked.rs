//! What `enact init` writes, and what `enact check` tells.

use std::path::Path;

use enact_test_server::{TestServer, Turn};
use serde_json::json;

use super::{asked, run, tool_names, write};
use crate::command::enact;
use crate::place::Place;

/// What `enact check` has against a text, without the path before each line.
#[track_caller]
pub(super) fn problems(text: &str) -> Vec<String> {
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
    assert!(said.error_line().contains("already exists"), "{said:?}");
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
    let text = text.join("\n");
    let all = text.replace("tools = [", "tools = [\"http_get\", \"shell\", ");
    write(&place, "agent.toml", &all);
    write(&place, "researcher.toml", "signature = 'topic -> summary'");
    write(&place, "extract.toml", "signature = 'question -> answer'");
    let summary = "signature = 'task, transcript -> summary'";
    write(&place, "summarise.toml", summary);
    for name in ["check.sh", "redact.sh", "done.sh"] {
        write(&place, name, "");
    }
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
fn truth_arguments_and_queries_of_servers_hold_no_secrets() {
    let found = problems(
        r#"signature = "a -> b"
[mcp.wrong]
command = "x"
args = ["--verbose", "--token", "abc-12345"]
[mcp.far]
url = "https://a.example/mcp?api_key=abc-12345"
[mcp.right]
command = "x"
args = ["--token", "${TOKEN}", "--max-tokens", "5"]
[mcp.near]
url = "https://a.example/mcp?api_key=${TOKEN}&page=1"
"#,
    );
    let places: Vec<&str> = found
        .iter()
        .map(|line| line.split(": ").next().unwrap())
        .collect();
    assert_eq!(places, ["4:33", "6:7"], "{found:#?}");
    assert!(!found.join("\n").contains("12345"), "{found:#?}");
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

#[test]
fn tools_that_reach_further_are_told_how_far_and_handed_over() {
    let text = r#"signature = "task -> answer"
tools = ["http_get", "calculator"]
secrets = ["DOOR", "correct horse"]

[shell]
folder = "nowhere"
env = ["A=b"]
timeout = "soon"
"#;
    let said = problems(text);
    assert_eq!(said.len(), 6, "{said:?}");
    assert_eq!(
        said[0],
        "2:10: the tool `http_get` needs settings: set `hosts` under `[http_get]`"
    );
    assert!(said[1].starts_with("3:20: give the name of an environment variable"));
    assert_eq!(
        said[2],
        "5:2: `[shell]` configures the tool `shell`, which the agent doesn't use: add it to `tools`"
    );
    assert!(
        said[3].starts_with("6:10: commands cannot run in"),
        "{said:?}"
    );
    assert!(said[4].starts_with("7:8: give the name of an environment variable"));
    assert_eq!(said[5], "8:11: give a time such as 90s, 30m or 2h");

    let text = r#"signature = "task -> answer"
tools = ["http_get"]
http_get = { hosts = ["docs.rs", "a b"], max_bytes = 0, timout = "1s" }
"#;
    assert_eq!(
        problems(text),
        [
            "3:54: give a number of 1 or more",
            "3:57: unknown key `timout`: did you mean `timeout`?",
        ]
    );
    let text = text.replace(", max_bytes = 0, timout = \"1s\"", "");
    assert_eq!(problems(&text).len(), 1);
    assert!(
        problems(&text)[0].starts_with("3:34: "),
        "{:?}",
        problems(&text)
    );
    let text = text.replace("\"docs.rs\", \"a b\"", "");
    assert_eq!(problems(&text), ["3:22: the list is empty"]);
}
