//! `--record` and `--replay`.

use std::path::PathBuf;

use enact_test_server::{TestServer, Turn};
use serde_json::{Value, json};

use crate::command::{Enact, asking, enact, run};
use crate::place::{Place, pending};

fn file(place: &Place) -> (PathBuf, String) {
    let path = place.data.path().join("recording.jsonl");
    let text = path.to_string_lossy().into_owned();
    (path, text)
}

const TASK: [&str; 4] = [
    "question -> answer: int",
    "question=6 * 7?",
    "--tools",
    "calculator",
];

fn eventful() -> TestServer {
    TestServer::start_blocking([
        Turn::calls([
            ("calculator", json!({"expression": "6 * 7"})),
            ("calculator", json!({"expression": "1 / 0"})),
        ])
        .thinking("I calculate twice."),
        Turn::call("calculate", json!({})),
        Turn::text("I am done."),
        Turn::call("submit", json!({"answer": "42"})).usage(1200, 34),
    ])
}

/// The events of a kept run, without what differs between any two runs.
pub(crate) fn events(place: &Place, id: &str) -> Vec<Value> {
    let said = place.enact(["show", id, "--as", "events"]).said();
    assert_eq!(said.code, 0, "{said:?}");
    let lines = said.stdout.lines().map(|line| {
        let mut event: Value = serde_json::from_str(&line.replace(id, "RUN")).unwrap();
        let fields = event.as_object_mut().unwrap();
        fields.shift_remove("at");
        fields.shift_remove("duration_ns");
        fields.shift_remove("seal");
        event
    });
    lines.collect()
}

/// Without a key and without a server.
pub(crate) fn offline<'a>(place: &Place, args: impl IntoIterator<Item = &'a str>) -> Enact {
    enact(args).env("ENACT_STORE", &place.store())
}

#[test]
fn a_recorded_run_replays_without_a_server_and_a_key_to_the_same_events() {
    let place = Place::new();
    let (_, recording) = file(&place);
    let server = eventful();
    let recorded = run(&server, TASK)
        .args(["--json", "--record", &recording])
        .env("ENACT_STORE", &place.store())
        .said();
    assert_eq!((recorded.code, recorded.stderr.as_str()), (0, ""));
    server.assert_complete();
    drop(server);
    for loosely in [None, Some("--replay-loosely")] {
        let args = ["run"]
            .into_iter()
            .chain(TASK)
            .chain(["--json", "--replay", &recording]);
        let replayed = offline(&place, args.chain(loosely)).said();
        assert_eq!((replayed.code, replayed.stderr.as_str()), (0, ""));
        let (first, second) = (recorded.json(), replayed.json());
        assert_eq!(second["outputs"], json!({"answer": 42}));
        assert_eq!(second["usage"], first["usage"]);
        let id = |object: &Value| object["run_id"].as_str().unwrap().to_owned();
        assert_eq!(events(&place, &id(&second)), events(&place, &id(&first)));
    }
}

#[test]
fn a_replay_that_is_asked_for_something_else_shows_the_difference() {
    let place = Place::new();
    let (_, recording) = file(&place);
    let said = run(&eventful(), TASK).args(["--record", &recording]).said();
    assert_eq!(said.code, 0, "{said:?}");
    let other = [
        "run",
        "question -> answer: int",
        "question=6 * 8?",
        "--tools=calculator",
    ];
    let said = offline(&place, other.into_iter().chain(["--replay", &recording])).said();
    assert_eq!(said.code, 1, "{said:?}");
    let problem = said.error_line();
    assert!(
        problem.contains("has no reply to this request"),
        "{problem}"
    );
    assert!(problem.contains("recorded: … * 7?"), "{problem}");
    assert!(problem.contains("now: … * 8?"), "{problem}");
}

#[test]
fn a_run_that_waited_is_replayed_and_resumed_offline() {
    let place = Place::new();
    let (path, recording) = file(&place);
    let server = TestServer::start_blocking([
        Turn::call("write_file", json!({"path": "a.txt", "content": "hello"})),
        Turn::call("submit", json!({"answer": "done"})),
    ]);
    let paused = place.run(&server).args(["--record", &recording]).said();
    assert_eq!(paused.code, 3, "{paused:?}");
    let resume = |object: &Value, flag: &str| {
        let (id, question) = (object["run_id"].as_str().unwrap(), &pending(object)[0]);
        let args = [
            "resume",
            id,
            "--approve",
            question,
            "--json",
            flag,
            &recording,
        ];
        let said = offline(&place, args)
            .env("OPENAI_API_KEY", crate::command::KEY)
            .said();
        assert_eq!(said.code, 0, "{said:?}");
        assert_eq!(said.json()["outputs"]["answer"], "done");
    };
    // What is resumed is recorded, too, in the same file.
    resume(&paused.json(), "--record");
    assert_eq!(std::fs::read_to_string(path).unwrap().lines().count(), 3);
    server.assert_complete();
    drop(server);
    // The tools are real: what they find has to be as it was.
    std::fs::remove_file(place.files.path().join("a.txt")).unwrap();
    let files = place.files.path().to_string_lossy().into_owned();
    let args = [
        "run",
        "task -> answer",
        "task=Write it.",
        "--files",
        &files,
        "--json",
    ];
    let again = offline(&place, args.into_iter().chain(["--replay", &recording])).said();
    assert_eq!(again.code, 3, "{again:?}");
    resume(&again.json(), "--replay");
}

#[test]
fn conversations_and_evaluations_replay() {
    let place = Place::new();
    let (_, recording) = file(&place);
    let server = TestServer::start_blocking([
        Turn::text("Hello."),
        Turn::text("Still here."),
        Turn::text("four"),
        Turn::call("submit", json!({"is_correct": true, "reason": "It is 4."})),
    ]);
    let chat = |enact: Enact| enact.stdin("Hi!\nAre you there?\n").said();
    let said = chat(asking(&server, ["chat", "--record", &recording]));
    assert_eq!(said.code, 0, "{said:?}");
    let again = chat(offline(&place, ["chat", "--replay", &recording]));
    assert_eq!((again.code, &again.stdout), (0, &said.stdout));

    let dataset = place.data.path().join("sums.jsonl");
    let line = json!({"inputs": {"question": "2 + 2?"}, "expected": {"answer": "4"}});
    std::fs::write(&dataset, format!("{line}\n")).unwrap();
    let dataset = dataset.to_string_lossy().into_owned();
    let eval = [
        "eval",
        &dataset,
        "--fresh",
        "--metric",
        "contains",
        "--min-accuracy",
        "0",
    ];
    let said = asking(&server, eval.into_iter().chain(["--record", &recording])).said();
    assert_eq!(said.code, 0, "{said:?}");
    let again = offline(&place, eval.into_iter().chain(["--replay", &recording])).said();
    assert_eq!(again.code, 0, "{again:?}");
    let tokens = |text: &str| {
        text.lines()
            .find(|line| line.contains("accuracy"))
            .unwrap()
            .to_owned()
    };
    assert_eq!(tokens(&again.stdout), tokens(&said.stdout));
}

#[test]
fn recordings_that_cannot_be_used_are_named() {
    let place = Place::new();
    let (path, recording) = file(&place);
    std::fs::write(&path, "{\"enact_recording\":99}\n").unwrap();
    let server = TestServer::start_blocking([]);
    for (flags, problem) in [
        (
            ["--replay", "/no/such/file"],
            "`/no/such/file` cannot be used",
        ),
        (["--replay", &recording], "has the format 99"),
        (["--record", &recording], "has the format 99"),
    ] {
        let said = run(&server, TASK).args(flags).said();
        assert_eq!(said.code, 2, "{said:?}");
        assert!(said.error_line().contains(problem), "{said:?}");
    }
    let both = run(&server, TASK)
        .args(["--record", "a", "--replay", "b"])
        .said();
    assert_eq!(both.code, 2, "{both:?}");
    let alone = run(&server, TASK).args(["--replay-loosely"]).said();
    assert_eq!(alone.code, 2, "{alone:?}");
}
