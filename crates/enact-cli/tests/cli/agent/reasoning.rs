//! How an agent thinks: the same options in a file, by flags, and in a run that is resumed.

use enact_test_server::{TestServer, Turn};
use serde_json::{Value, json};

use super::{asked, done, run, write};
use crate::command::enact;
use crate::place::{Place, pending};

/// Everything that a file and flags can say of it, in both spellings.
const FILE: &str = r#"
signature = "task -> answer"
model = "m"
adapter = "tagged"
thought_prompt = "Ask: does {outputs} follow from {inputs}?"
thought_tag = "Plan"
action_tag = "Do"
observation_tag = "Saw"
confidence = true
files = "."
tools = ["write_file"]

[limits]
max_repairs = 2

[rules]
success_phrases = ["I have it", "all done"]
failure_phrases = ["no way"]
judges = false
condenses = true
reads_again = true
thoughts_in_context = { last = 3 }

[rules.thoughts]
required = true
min_length = 9
substantive = true
new = true
"#;

const FLAGS: [&str; 28] = [
    "--adapter",
    "tagged",
    "--thought-prompt",
    "Ask: does {outputs} follow from {inputs}?",
    "--thought-tag",
    "Plan",
    "--action-tag",
    "Do",
    "--observation-tag",
    "Saw",
    "--confidence",
    "--max-repairs",
    "2",
    "--success-phrase",
    "I have it",
    "--success-phrase",
    "all done",
    "--failure-phrase",
    "no way",
    "--judges=no",
    "--condenses",
    "--reads-again=true",
    "--thoughts-in-context",
    "3",
    "--thoughts-required",
    "--thoughts-min-length=9",
    "--thoughts-substantive",
    "--thoughts-new",
];

/// What is the same of two runs: how they began, without their names.
fn began(place: &Place, run_id: &str) -> Value {
    let events = place.enact(["show", run_id, "--as", "events"]).said();
    let first: Value = serde_json::from_str(events.stdout.lines().next().unwrap()).unwrap();
    let started = super::used::find(&first, "limits").unwrap();
    json!([
        started["rules"],
        started["limits"]["max_repairs"],
        started["agent"]["signature"],
        started["agent"]["adapter"],
        started["agent"]["step_adapter"],
    ])
}

fn script() -> [Turn; 2] {
    [
        Turn::text(
            "Plan: The task says what to write.\nDo: write_file(path=\"a.txt\", content=\"hi\")",
        ),
        Turn::text(
            "Plan: It is written, so I submit.\nDo: submit(answer=\"done\", confidence=0.7)",
        ),
    ]
}

#[test]
fn a_file_and_flags_say_the_same_and_a_resumed_run_keeps_it() {
    let place = Place::new();
    let path = write(&place, "agent.toml", FILE);
    let server = TestServer::start_blocking(script().into_iter().chain(script()));
    let by_file = run(&place, &server, &path).args(["task=Write it."]).said();
    let files = place.files.path().to_string_lossy().into_owned();
    let by_flags = |signature: &str| {
        enact(["run", signature, "task=Write it.", "--json", "--model", "m"])
            .args(["--files", &files, "--tools", "write_file"])
            .args(FLAGS)
            .env("OPENAI_BASE_URL", server.base_url())
            .env("OPENAI_API_KEY", crate::command::KEY)
            .env("ENACT_STORE", &place.store())
            .said()
    };
    let mut seen = Vec::new();
    for begin in [None, Some("task -> answer")] {
        let said = match begin {
            None => &by_file,
            Some(signature) => &by_flags(signature),
        };
        assert_eq!(said.code, 3, "{said:?}");
        let object = said.json();
        let run_id = object["run_id"].as_str().unwrap();
        let answer = pending(&object);
        let resumed = place
            .enact(["resume", run_id, "--approve", &answer[0], "--json"])
            .said();
        assert_eq!(resumed.code, 0, "{resumed:?}");
        let outputs = &resumed.json()["outputs"];
        assert_eq!(*outputs, json!({"answer": "done", "confidence": 0.7}));
        std::fs::remove_file(place.files.path().join("a.txt")).unwrap();
        seen.push(began(&place, run_id));
    }
    assert_eq!(seen[0], seen[1]);
    assert_eq!(seen[0][0]["thoughts_in_context"], json!({"last": 3}));
    assert_eq!(
        seen[0][0]["success_phrases"],
        json!(["I have it", "all done"])
    );
    assert_eq!(seen[0][1], 2);
    // The first requests are the same; the second ones, of other processes, begin with them.
    let requests: Vec<Value> = (0..4).map(|index| asked(&server, index)).collect();
    assert_eq!(requests[0], requests[2]);
    assert_eq!(requests[1], requests[3]);
    let system = requests[0]["messages"][0]["content"].as_str().unwrap();
    assert!(
        system.contains("Ask: does `answer`, `confidence` follow from `task`?"),
        "{system}"
    );
    let last = requests[1]["messages"].as_array().unwrap();
    assert_eq!(last[..2], requests[0]["messages"].as_array().unwrap()[..2]);
    let last = last.last().unwrap()["content"].as_str().unwrap();
    assert!(last.starts_with("Saw:"), "{last}");
    server.assert_complete();
}

#[test]
fn flags_switch_off_what_a_file_switches_on() {
    let place = Place::new();
    let path = write(&place, "agent.toml", FILE);
    let server = TestServer::start_blocking([Turn::text("Do: submit(answer=\"done\")")]);
    let said = run(&place, &server, &path)
        .args(["task=x", "--confidence=false", "--thoughts-required=false"])
        .args(["--thoughts-min-length", "0", "--thoughts-substantive=false"])
        .args(["--thoughts-new=no", "--thoughts-in-context", "none"])
        .said();
    assert_eq!(said.code, 0, "{said:?}");
    let object = said.json();
    assert_eq!(object["outputs"], json!({"answer": "done"}));
    let rules = began(&place, object["run_id"].as_str().unwrap());
    assert_eq!(rules[0]["thoughts_in_context"], "none");
    assert_eq!(rules[0].get("thoughts"), None, "{rules}");
}

#[test]
fn the_steps_can_have_an_adapter_of_their_own() {
    let place = Place::new();
    let text = "signature = \"task -> answer\"\nmodel = \"m\"\nadapter = \"xml\"\n\
                step_adapter = \"native\"\ncompletion = \"finish\"\n";
    let path = write(&place, "agent.toml", text);
    let server = TestServer::start_blocking([
        Turn::call("finish", json!({})),
        Turn::text("<reasoning>It is simple.</reasoning><answer>done</answer>"),
        done(),
    ]);
    let said = run(&place, &server, &path).args(["task=x"]).said();
    assert_eq!(said.json()["outputs"]["answer"], "done");
    assert!(asked(&server, 0)["tools"].is_array());
    assert!(asked(&server, 1).to_string().contains("<answer>"));
    let said = run(&place, &server, &path)
        .args(["task=x", "--step-adapter", "json"])
        .args(["--completion", "submit"])
        .said();
    let started = began(&place, said.json()["run_id"].as_str().unwrap());
    assert_eq!((&started[3], &started[4]), (&json!("xml"), &json!("json")));
}

#[test]
fn what_does_not_fit_is_told_before_a_model_is_asked() {
    let place = Place::new();
    for (said, line, problem) in [
        (
            "thought_tag = \"Plan\"",
            3,
            "tags are for the adapter `tagged`",
        ),
        (
            "adapter = \"tagged\"\naction_tag = \"a:b\"",
            4,
            "without a colon",
        ),
        (
            "adapter = \"tagged\"\naction_tag = \"thought\"",
            4,
            "have to differ",
        ),
        (
            "thought_prompt = \"What of {this}?\"",
            3,
            "`{this}` means nothing",
        ),
        ("step_adapter = \"yaml\"", 3, "yaml"),
    ] {
        let text = format!("signature = \"task -> answer\"\nmodel = \"m\"\n{said}\n");
        let path = write(&place, "agent.toml", &text);
        let checked = enact(["check", path.as_str()]).said();
        assert_eq!(checked.code, 2, "{checked:?}");
        assert!(
            checked.stderr.contains(&format!("agent.toml:{line}:")),
            "{checked:?}"
        );
        assert!(checked.stderr.contains(problem), "{checked:?}");
    }
    let text = "signature = \"task -> confidence\"\nmodel = \"m\"\nconfidence = true\n";
    let path = write(&place, "agent.toml", text);
    let checked = enact(["check", path.as_str()]).said();
    assert_eq!(checked.code, 2, "{checked:?}");
    assert!(checked.stderr.contains("confidence"), "{checked:?}");

    let said = enact([
        "run",
        "task -> answer",
        "task=x",
        "--model",
        "m",
        "--thought-tag",
        "Plan",
    ])
    .said();
    assert_eq!(said.code, 2, "{said:?}");
    assert!(
        said.stderr.contains("tags are for the adapter `tagged`"),
        "{said:?}"
    );
}
