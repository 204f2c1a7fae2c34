//! Logs that must stay readable: every release reads the logs of every release before it, and tells
//! the same of them. See `README.md` beside the logs.
#![allow(
    missing_docs,
    unreachable_pub,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic
)]

mod coverage;
mod page;
mod player;
mod scenes;
mod views;

use std::fs;
use std::path::{Path, PathBuf};

use coverage::Seen;
use enact::Run;
use enact::run::{FORMAT, Record, RunError};
use serde_json::{Value, json};

/// The first version that releases read.
const OLDEST: u32 = 2;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus")
}

/// The logs of all versions, with the files that tell their views.
fn logs() -> Vec<(PathBuf, PathBuf)> {
    let mut logs = Vec::new();
    for version in OLDEST..=FORMAT {
        let folder = folder().join(format!("v{version}"));
        let files = fs::read_dir(&folder).expect("a folder for every version");
        let paths = files.map(|file| file.unwrap().path());
        let mut paths: Vec<PathBuf> = paths
            .filter(|path| path.extension().is_some_and(|known| known == "jsonl"))
            .collect();
        paths.sort();
        logs.extend(paths.into_iter().map(|path| {
            let views = path.with_extension("views.json");
            (path, views)
        }));
    }
    assert!(logs.len() > 20, "the corpus was not read");
    logs
}

fn lines(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap();
    text.lines().map(str::to_owned).collect()
}

fn records(path: &Path) -> Vec<Record> {
    let lines = lines(path).into_iter().enumerate();
    lines
        .map(|(index, line)| {
            serde_json::from_str(&line)
                .unwrap_or_else(|error| panic!("{}: record {index}: {error}", path.display()))
        })
        .collect()
}

#[test]
fn every_record_reads_and_is_written_as_it_was() {
    for (path, _) in logs() {
        for (line, record) in lines(&path).iter().zip(records(&path)) {
            let before: Value = serde_json::from_str(line).unwrap();
            let after = serde_json::to_value(&record).unwrap();
            assert_eq!(after, before, "{}", path.display());
        }
    }
}

#[test]
fn every_log_is_a_run_of_which_the_same_is_told() {
    for (path, views) in logs() {
        let run = Run::try_from(records(&path)).unwrap();
        let told: Value = serde_json::from_str(&fs::read_to_string(&views).unwrap()).unwrap();
        let now = views::of(&run);
        for (view, before) in told.as_object().unwrap() {
            assert_eq!(&now[view], before, "{view} of {}", path.display());
        }
    }
}

#[test]
fn the_corpus_holds_everything_that_a_log_can_hold() {
    let mut seen = Seen::default();
    for (path, _) in logs() {
        for line in lines(&path) {
            seen.record(&serde_json::from_str(&line).unwrap());
        }
        let run = Run::try_from(records(&path)).unwrap();
        seen.history(&serde_json::to_value(run.history()).unwrap());
        seen.ending(match (run.termination(), run.outputs()) {
            (Some(_), Some(_)) => "finished",
            (Some(_), None) => "failed",
            (None, _) if run.open_questions().is_empty() => "interrupted",
            (None, _) => "paused",
        });
    }
    seen.check();
}

#[test]
fn a_log_of_a_newer_format_is_refused_by_name() {
    let path = folder().join("v2/answer.jsonl");
    let newer = lines(&path)[0].replace("\"format\":2", &format!("\"format\":{}", FORMAT + 1));
    let record: Record = serde_json::from_str(&newer).unwrap();
    let error = Run::try_from(vec![record]).unwrap_err();
    let (found, supported) = (FORMAT + 1, FORMAT);
    assert_eq!(error, RunError::UnknownFormat { found, supported });
    let text = error.to_string();
    assert!(
        text.contains("format 3") && text.contains("newer"),
        "{text}"
    );
}

#[test]
fn a_log_of_a_build_before_the_first_release_is_refused_by_name() {
    let path = folder().join("v2/answer.jsonl");
    let older = lines(&path)[0].replace("\"format\":2", "\"format\":1");
    // Its other records are not even read.
    let log = format!("[{older}, {{\"position\": 1, \"event\": \"stepped\"}}]");
    let error = serde_json::from_str::<Run>(&log).unwrap_err().to_string();
    assert!(
        error.contains("format 1") && error.contains("first release"),
        "{error}"
    );
}

#[test]
fn an_event_or_a_word_that_is_not_known_is_refused_by_name() {
    let unknown = [
        json!({"event": "dreamed"}),
        json!({"event": "answered", "confirmation_id": "q", "decision": "postpone"}),
        json!({"event": "answered", "confirmation_id": "q", "decision": "approve", "by": "oracle"}),
        json!({"event": "loop_ended", "reason": "bored"}),
    ];
    for (mut record, name) in unknown
        .into_iter()
        .zip(["dreamed", "postpone", "oracle", "bored"])
    {
        record["position"] = json!(1);
        record["at"] = json!("2026-01-15T09:30:00Z");
        let error = serde_json::from_value::<Record>(record).unwrap_err();
        assert!(error.to_string().contains(name), "{error}");
    }
}

/// Adds a key to every object whose keys are those of the format, not of the user.
fn extend(value: &mut Value, key: &str) {
    // What stands there belongs to users, models, tools and providers.
    let is_free = [
        "inputs",
        "outputs",
        "args",
        "answer",
        "value",
        "opaque",
        "notes",
        "parameters",
        "values",
    ];
    // An object with one key that is a name.
    let is_name = [
        "decision",
        "outcome",
        "read",
        "source",
        "parts",
        "thoughts_in_context",
        "prices",
    ];
    if is_free.contains(&key) {
        return;
    }
    match value {
        Value::Object(object) => {
            for (key, value) in object.iter_mut() {
                extend(value, key);
            }
            if !is_name.contains(&key) {
                object.insert("from_the_future".to_owned(), json!({"a": [1]}));
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| extend(item, key)),
        _ => {}
    }
}

#[test]
fn a_key_that_is_not_known_is_passed_over() {
    for (path, _) in logs() {
        for (line, record) in lines(&path).iter().zip(records(&path)) {
            let mut extended: Value = serde_json::from_str(line).unwrap();
            extend(&mut extended, "");
            let text = extended.to_string();
            assert!(text.contains("from_the_future"));
            let read: Record = serde_json::from_str(&text)
                .unwrap_or_else(|error| panic!("{}: {error}: {text}", path.display()));
            assert_eq!(read, record, "{}", path.display());
        }
    }
}

/// Every scene plays, and has its log. With `ENACT_CORPUS=write` the missing ones are written; what
/// is there stays as it is.
#[test]
fn every_scene_has_a_log() {
    let is_writing = std::env::var("ENACT_CORPUS").is_ok_and(|mode| mode == "write");
    let folder = folder().join(format!("v{FORMAT}"));
    fs::create_dir_all(&folder).unwrap();
    for (name, run) in scenes::all() {
        let path = folder.join(format!("{name}.jsonl"));
        if path.exists() {
            continue;
        }
        assert!(
            is_writing,
            "{name} has no log: run this test with ENACT_CORPUS=write"
        );
        let records = run.records().iter();
        let lines: String = records
            .map(|record| serde_json::to_string(record).unwrap() + "\n")
            .collect();
        let views = serde_json::to_string_pretty(&views::of(&run)).unwrap() + "\n";
        fs::write(path.with_extension("views.json"), views).unwrap();
        fs::write(path, lines).unwrap();
        println!("{name} is new");
    }
}
