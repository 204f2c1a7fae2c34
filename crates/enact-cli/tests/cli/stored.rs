//! Runs that are kept: they wait for a person in another process, and survive the end of theirs.

use enact_test_server::{TestServer, Turn};
use serde_json::{Value, json};

use crate::command::{KEY, enact, wait_for_requests};
use crate::place::{Place, pending};

fn write(path: &str) -> (&'static str, Value) {
    ("write_file", json!({"path": path, "content": "hello"}))
}

fn append(path: &str) -> (&'static str, Value) {
    ("append_file", json!({"path": path, "text": "hello\n"}))
}

#[test]
fn a_question_is_answered_in_another_process_without_a_further_flag() {
    let place = Place::new();
    let server = TestServer::start_blocking([
        Turn::calls([write("a.txt")]).thinking("I write."),
        Turn::call("submit", json!({"answer": "done"})),
    ]);
    let said = place.run(&server).said();
    assert_eq!(said.code, 3, "{said:?}");
    let object = said.json();
    let run_id = object["run_id"].as_str().unwrap().to_owned();
    let ids = pending(&object);
    let listed = place.runs();
    assert_eq!(listed[0]["run_id"], run_id.as_str());
    assert_eq!(listed[0]["status"], "paused");
    assert_eq!(listed[0]["signature"], "task: str -> answer: str");
    assert_eq!(listed[0]["steps"], 1);
    assert_eq!(listed[0]["termination_reason"], Value::Null);
    // Nobody answers: it is still open, and nothing was asked of the model.
    let said = place.enact(["resume", &run_id, "--json"]).said();
    assert_eq!(said.code, 3, "{said:?}");
    assert_eq!(pending(&said.json()), ids);
    assert_eq!(place.written("a.txt"), None);
    let said = place
        .enact(["resume", &run_id, "--approve", &ids[0], "--json"])
        .said();
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(said.json()["outputs"]["answer"], "done");
    assert_eq!(place.written("a.txt").as_deref(), Some("hello"));
    assert_eq!(place.runs()[0]["status"], "finished");
    server.assert_complete();
}

#[test]
fn mixed_answers_across_processes() {
    let place = Place::new();
    let server = TestServer::start_blocking([
        Turn::calls(["a", "b", "c", "d"].map(append)).with_ids(["one", "two", "three", "four"]),
        Turn::call("submit", json!({"answer": "done"})),
    ]);
    // The first process asks.
    let object = place.run(&server).said().json();
    let run_id = object["run_id"].as_str().unwrap().to_owned();
    let ids = pending(&object);
    assert_eq!(ids.len(), 4);
    let resume = |answers: &[&str], code| {
        let args = ["resume", run_id.as_str(), "--json"].into_iter();
        let said = place.enact(args.chain(answers.iter().copied())).said();
        assert_eq!(said.code, code, "{said:?}");
        said.json()
    };
    // The second approves one and rejects one.
    let object = resume(
        &[
            "--approve",
            &ids[0],
            "--reject",
            &ids[1],
            "--message",
            "not this",
        ],
        3,
    );
    assert_eq!(pending(&object), ids[2..]);
    assert_eq!(place.written("a").as_deref(), Some("hello\n"));
    // The third changes one, and one is left.
    let edit = json!({"args": {"path": "edited", "text": "other\n"}}).to_string();
    let object = resume(&["--edit", &ids[2], &edit], 3);
    assert_eq!(pending(&object), ids[3..]);
    assert_eq!(place.written("edited").as_deref(), Some("other\n"));
    assert_eq!(server.requests().len(), 1, "the model waits for the last");
    // What was answered is answered: once, and for good.
    let said = place
        .enact(["resume", &run_id, "--json", "--approve", &ids[0]])
        .said();
    assert_eq!(said.code, 3, "{said:?}");
    assert_eq!(said.json()["error"]["kind"], "answer");
    let object = resume(&["--feedback", &ids[3], "use e"], 0);
    let seen = |index: usize| {
        let step = &object["trajectory"][index];
        (
            step["tool_args"]["path"].clone(),
            step["observation"].as_str().unwrap().to_owned(),
        )
    };
    assert_eq!(seen(0), (json!("a"), "wrote `a` (6 bytes)".to_owned()));
    assert_eq!(
        seen(1),
        (
            json!("b"),
            "The user declined this call: not this".to_owned()
        )
    );
    assert_eq!(
        seen(2),
        (json!("edited"), "wrote `edited` (6 bytes)".to_owned())
    );
    assert_eq!(seen(3), (json!("d"), "User feedback: use e".to_owned()));
    assert_eq!(started_calls(&place, &run_id), ["one", "three"]);
    assert_eq!(place.written("a").as_deref(), Some("hello\n"));
    assert_eq!(place.written("edited").as_deref(), Some("other\n"));
    for name in ["b", "c", "d"] {
        assert_eq!(place.written(name), None);
    }
    // The model is told what ran, not what it had asked for.
    let told = server.requests()[1].text();
    assert!(
        told.contains("edited") && !told.contains("\\\"c\\\""),
        "{told}"
    );
    server.assert_complete();
}

#[test]
fn truth_an_answer_that_does_not_fit_is_reported_and_the_run_still_waits() {
    let place = Place::new();
    let server = TestServer::start_blocking([Turn::calls([append("a")])]);
    let object = place.run(&server).said().json();
    let run_id = object["run_id"].as_str().unwrap().to_owned();
    let ids = pending(&object);
    for (answer, problem) in [
        (
            ["--edit", &ids[0], r#"{"args": {"path": "b"}}"#],
            "`text`: missing",
        ),
        (["--answer", &ids[0], "it happened"], "has not run"),
        (["--edit", &ids[0], r#"{"path": "b"}"#], "cannot be read"),
        (["--edit", &ids[0], "nonsense"], "not JSON"),
        (["--feedback", "nowhere", "x"], "no open question"),
    ] {
        let args = ["resume", run_id.as_str(), "--json"].into_iter();
        let said = place.enact(args.chain(answer)).said();
        assert_eq!(said.code, 3, "{said:?}");
        assert!(said.error_line().contains(problem), "{said:?}");
        let object = said.json();
        assert_eq!(object["run_id"], run_id.as_str());
        assert_eq!(object["status"], "paused");
        assert_eq!(object["error"]["kind"], "answer");
        assert_eq!(pending(&object), ids);
        // To a person, the question is shown again.
        let args = ["resume", run_id.as_str()].into_iter();
        let said = place.enact(args.chain(answer)).said();
        assert_eq!(said.code, 3, "{said:?}");
        assert!(said.error_line().contains(problem), "{said:?}");
        for shown in ["may append_file(", &ids[0], "paused · 1 step"] {
            assert!(said.stderr.contains(shown), "{shown}: {said:?}");
        }
    }
    let said = place.enact(["resume", &run_id, "--json"]).said();
    assert_eq!(pending(&said.json()), ids);
    assert_eq!((place.written("a"), place.written("b")), (None, None));
}

/// The ids of the calls that were started, as often as they were.
fn started_calls(place: &Place, run_id: &str) -> Vec<String> {
    let said = place.enact(["show", run_id, "--as", "events"]).said();
    assert_eq!(said.code, 0, "{said:?}");
    let events = said.stdout.lines().map(|line| {
        let event: Value = serde_json::from_str(line).unwrap();
        event
    });
    events
        .filter(|event| event["event"] == "tool_started")
        .map(|event| event["call_id"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn a_killed_run_goes_on_and_no_reply_is_paid_for_twice() {
    let place = Place::new();
    let server = TestServer::start_blocking([
        Turn::call("list_files", json!({})).thinking("First."),
        Turn::text("never comes").then_stall(),
        Turn::call("submit", json!({"answer": "done"})),
    ]);
    let mut child = place.run(&server).spawn();
    // It has the first reply and waits for the second when its process ends.
    wait_for_requests(&server, 2);
    child.kill().unwrap();
    child.wait().unwrap();
    let listed = place.runs();
    assert_eq!(
        (&listed[0]["status"], &listed[0]["steps"]),
        (&json!("interrupted"), &json!(1))
    );
    let run_id = listed[0]["run_id"].as_str().unwrap().to_owned();
    let said = place.enact(["resume", &run_id, "--json"]).said();
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(said.json()["trajectory"][0]["tool_name"], "list_files");
    server.assert_complete();
}

#[test]
fn promise_10_one_of_two_processes_wins() {
    let place = Place::new();
    let server = TestServer::start_blocking([
        Turn::calls([write("a.txt")]),
        Turn::text("wait").then_stall(),
    ]);
    let object = place.run(&server).said().json();
    let run_id = object["run_id"].as_str().unwrap().to_owned();
    let id = pending(&object).remove(0);
    let mut first = place
        .enact(["resume", &run_id, "--approve", &id, "--json"])
        .spawn();
    wait_for_requests(&server, 2);
    // The other is told so, even if its answer was given by the first one meanwhile.
    for answer in [&[][..], &["--approve", &id]] {
        let args = ["resume", run_id.as_str(), "--json"].into_iter();
        let second = place.enact(args.chain(answer.iter().copied())).said();
        assert_eq!(second.code, 1, "{second:?}");
        assert_eq!(second.json()["error"]["kind"], "run_busy");
    }
    assert_eq!(place.enact(["rm", &run_id]).said().code, 1);
    first.kill().unwrap();
    first.wait().unwrap();
    // A lease ends with its process.
    assert_eq!(place.enact(["cancel", &run_id]).said().code, 0);
    let listed = place.runs();
    assert_eq!(
        (&listed[0]["status"], &listed[0]["termination_reason"]),
        (&json!("cancelled"), &json!("cancelled"))
    );
    assert_eq!(place.enact(["rm", &run_id]).said().code, 0);
    assert_eq!(place.runs(), Vec::<Value>::new());
}

/// `0.3 s` as `_ s`.
fn without_seconds(line: &str) -> String {
    let words: Vec<&str> = line.split(' ').collect();
    let shown = words.iter().enumerate().map(|(index, word)| {
        let is_time = words.get(index + 1) == Some(&"s") && word.parse::<f64>().is_ok();
        if is_time { "_" } else { word }
    });
    shown.collect::<Vec<_>>().join(" ")
}

#[test]
fn a_run_is_shown_in_every_form() {
    let place = Place::new();
    let server = TestServer::start_blocking([
        Turn::call("list_files", json!({}))
            .thinking("I look.")
            .usage(1200, 34),
        Turn::call("submit", json!({"answer": "nothing there"})).usage(1300, 6),
    ]);
    let run_id = place.run(&server).said().json()["run_id"]
        .as_str()
        .unwrap()
        .to_owned();
    let show = |form: &str| {
        let said = place.enact(["show", &run_id[20..], "--as", form]).said();
        assert_eq!((said.code, said.stderr.as_str()), (0, ""), "{form}");
        said.stdout
    };
    let trace = show("trace");
    assert_eq!(
        trace,
        place.enact(["show", &run_id]).said().stdout,
        "the default"
    );
    let told: Vec<String> = trace.lines().map(without_seconds).collect();
    assert_eq!(
        told,
        [
            "1. I look.",
            "   → list_files()",
            "     after _ s · reply took _ s · 1,200 tokens in, 34 out",
            "   ← []",
            "",
            "2. → submit",
            "     after _ s · reply took _ s · 1,300 tokens in, 6 out",
            "",
            "answer: nothing there",
            "",
            "done · 2 steps · 2,500 tokens in, 40 out · _ s",
        ]
    );
    assert_eq!(
        show("scratchpad"),
        "Thought: I look.\nAction: list_files {}\nObservation: []\n\n\
         Final Answer: nothing there\n"
    );
    assert!(show("trajectory").starts_with("1. thought: I look."));
    assert_eq!(
        serde_json::from_str::<Value>(&show("history")).unwrap()[0]["type"],
        "inputs"
    );
    assert_eq!(
        serde_json::from_str::<Value>(&show("json")).unwrap()["status"],
        "finished"
    );
    let log = show("events");
    let first: Value = serde_json::from_str(log.lines().next().unwrap()).unwrap();
    assert_eq!(
        (&first["position"], &first["event"]),
        (&json!(0), &json!("started"))
    );
    assert!(!log.contains(KEY));
}

#[test]
fn what_is_not_there_is_said_in_one_line() {
    let place = Place::new();
    for args in [
        vec!["show", "nowhere"],
        vec!["resume", "nowhere"],
        vec!["rm", "nowhere"],
        vec!["cancel", "nowhere"],
    ] {
        let said = place.enact(args).said();
        assert_eq!(said.code, 2, "{said:?}");
        assert_eq!(said.stderr.lines().count(), 1, "{said:?}");
        assert!(said.stderr.contains("`nowhere`"), "{said:?}");
    }
    let said = enact(["runs"]).said();
    assert_eq!((said.code, said.stderr.lines().count()), (2, 1), "{said:?}");
    assert_eq!(place.runs(), Vec::<Value>::new());
}

#[test]
fn ctrl_c_leaves_a_kept_run_to_be_resumed() {
    let place = Place::new();
    let server = TestServer::start_blocking([
        Turn::call("list_files", json!({})),
        Turn::text("never comes").then_stall(),
        Turn::call("submit", json!({"answer": "done"})),
    ]);
    let child = place.run(&server).spawn();
    wait_for_requests(&server, 2);
    let id = child.id().to_string();
    assert!(
        std::process::Command::new("kill")
            .args(["-INT", &id])
            .status()
            .unwrap()
            .success()
    );
    let said = crate::command::Said::of(&child.wait_with_output().unwrap());
    assert_eq!((said.code, said.stderr.as_str()), (3, ""), "{said:?}");
    let object = said.json();
    assert_eq!(
        (&object["status"], &object["pending"]),
        (&json!("interrupted"), &json!([]))
    );
    let run_id = object["run_id"].as_str().unwrap().to_owned();
    let said = place.enact(["resume", &run_id, "--json"]).said();
    assert_eq!(said.code, 0, "{said:?}");
    server.assert_complete();
}

/// Leaves a run as its process left it when it ended in the middle of its first call.
fn cut_off_in_the_first_call(place: &Place, run_id: &str) {
    use enact::run::store::Store as _;
    use enact::run::{Event, Record};
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let store = enact_sqlite::SqliteStore::open(place.store())
            .await
            .unwrap();
        let mut records: Vec<Record> = store.load(run_id).await.unwrap().run.into();
        let is_start = |record: &Record| matches!(record.event, Event::ToolStarted { .. });
        let started = records.iter().position(is_start).unwrap();
        records.truncate(started + 1);
        store.delete(run_id).await.unwrap();
        let lease = store.acquire(run_id).await.unwrap();
        store.append(&lease, &records).await.unwrap();
    });
}

#[test]
fn promise_1_after_a_crash_in_the_middle_of_an_effect_a_person_is_asked() {
    let place = Place::new();
    let server = TestServer::start_blocking([
        Turn::calls([write("a.txt")]),
        Turn::call("submit", json!({"answer": "done"})),
        Turn::call("submit", json!({"answer": "done again"})),
    ]);
    let object = place.run(&server).said().json();
    let run_id = object["run_id"].as_str().unwrap().to_owned();
    let id = pending(&object).remove(0);
    let said = place
        .enact(["resume", &run_id, "--approve", &id, "--json"])
        .said();
    assert_eq!(said.code, 0, "{said:?}");
    cut_off_in_the_first_call(&place, &run_id);
    std::fs::remove_file(place.files.path().join("a.txt")).unwrap();
    let said = place.enact(["resume", &run_id, "--json"]).said();
    assert_eq!(said.code, 3, "{said:?}");
    let object = said.json();
    let asked = pending(&object).remove(0);
    assert_ne!(asked, id, "an approval is used once");
    assert!(
        object["pending"][0]["question"]
            .as_str()
            .unwrap()
            .contains("Run it again?")
    );
    let said = place
        .enact([
            "resume",
            &run_id,
            "--answer",
            &asked,
            "it was written",
            "--json",
        ])
        .said();
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(
        said.json()["trajectory"][0]["observation"],
        "it was written"
    );
    assert_eq!(place.written("a.txt"), None, "not written again");
    server.assert_complete();
}
