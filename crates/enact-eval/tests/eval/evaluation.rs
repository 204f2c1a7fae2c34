//! Evaluations with scripted models.

use std::path::Path;
use std::sync::Arc;

use enact::model::{ModelErrorKind, ScriptStep, ScriptedModel, call, fail, say};
use enact::run::store::MemoryStore;
use enact::tool::Confirmation;
use enact::{Builder, FnTool, ReAct, ToolError, Tools, Values, values};
use enact_eval::dataset::{Columns, Dataset, Reading};
use enact_eval::results::{Results, ResultsError};
use enact_eval::{Evaluator, Judge, Metric, Share, Status, Trial, Tried};
use futures_util::StreamExt as _;
use serde_json::json;

const SIGNATURE: &str = "question -> answer: int";

fn lookup() -> Tools {
    let spec = enact::tool::ToolSpec::new("lookup", "Looks it up.", json!({"type": "object"}));
    Tools::new().with(FnTool::from_spec(spec, |_, _| async {
        Ok::<_, ToolError>(42)
    }))
}

fn builder(model: &Arc<ScriptedModel>) -> Builder<ReAct> {
    ReAct::builder(SIGNATURE)
        .tools(lookup())
        .model(Arc::clone(model))
}

fn agent(model: &Arc<ScriptedModel>) -> ReAct {
    builder(model).build().unwrap()
}

fn scripted(steps: impl IntoIterator<Item = ScriptStep>) -> Arc<ScriptedModel> {
    Arc::new(ScriptedModel::new(steps))
}

fn submit(answer: i64) -> ScriptStep {
    call("submit", json!({"answer": answer}))
}

fn dataset(lines: &str) -> Dataset {
    let signature = enact::Signature::parse(SIGNATURE).unwrap();
    let reading = Reading {
        signature: &signature,
        metric: &Metric::Exact,
        has_judge: true,
        columns: &Columns::default(),
    };
    Dataset::read(lines, &reading).unwrap()
}

/// One after the other, so that a script can be played; what is new is kept.
async fn evaluate(evaluator: &Evaluator<'_>, dataset: &Dataset, path: &Path) -> Vec<(bool, Trial)> {
    let Results {
        heading,
        known,
        mut writer,
    } = Results::open(path, Values::new()).unwrap();
    let tried = evaluator.trials(dataset, &heading, |id| known.get(id), 1);
    let mut tried = std::pin::pin!(tried);
    let mut trials = Vec::new();
    while let Some((_, tried)) = tried.next().await {
        match tried {
            Tried::Now(trial) => {
                writer.append(&trial).unwrap();
                trials.push((true, trial));
            }
            Tried::Before(trial) => trials.push((false, trial)),
            Tried::Interrupted => {}
        }
    }
    trials
}

const TWO: &str = r#"{"id": "a", "inputs": {"question": "6 * 7?"}, "expected": {"answer": 42}}
{"id": "b", "inputs": {"question": "1 + 1?"}, "expected": {"answer": 2}}"#;

#[tokio::test]
async fn what_is_done_is_not_done_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("results.jsonl");
    let store = MemoryStore::new();
    let model = scripted([submit(42), fail(ModelErrorKind::Server, "down"), submit(2)]);
    let agent = agent(&model);
    let evaluator = || Evaluator::new(&agent).with_store(store.clone());
    let first = evaluate(&evaluator(), &dataset(TWO), &path).await;
    assert_eq!(first[0].1.passed(), Some(true));
    let failed = &first[1].1;
    assert_eq!((failed.status, failed.is_over()), (Status::Failed, false));
    assert_eq!(failed.fault.as_ref().unwrap().message, "down");
    assert_eq!(failed.passed(), Some(false));
    // The failed one is gone on with, the other is left alone.
    let second = evaluate(&evaluator(), &dataset(TWO), &path).await;
    assert_eq!((second[0].0, second[1].0), (false, true));
    assert_eq!(second[1].1.passed(), Some(true));
    assert_eq!(second[1].1.run_id, failed.run_id);
    let third = evaluate(&evaluator(), &dataset(TWO), &path).await;
    assert_eq!((third[0].0, third[1].0), (false, false));
    // What is expected now is scored anew, and nothing is run.
    let other = TWO.replace("42", "43");
    let fourth = evaluate(&evaluator(), &dataset(&other), &path).await;
    assert_eq!((fourth[0].0, fourth[0].1.passed()), (true, Some(false)));
    assert!(!fourth[1].0);
}

#[tokio::test]
async fn a_run_that_was_finished_elsewhere_is_not_run_again() {
    let folder = tempfile::tempdir().unwrap();
    let store = MemoryStore::new();
    let path = folder.path().join("results.jsonl");
    let model = scripted([submit(42), submit(2)]);
    let agent = agent(&model);
    let evaluator = Evaluator::new(&agent).with_store(store);
    evaluate(&evaluator, &dataset(TWO), &path).await;
    // The process ended before the results were written, in the middle of a line.
    let text = std::fs::read_to_string(&path).unwrap();
    let end = text.find('\n').unwrap() + 30;
    std::fs::write(&path, &text[..end]).unwrap();
    let again = evaluate(&evaluator, &dataset(TWO), &path).await;
    assert!(again.iter().all(|(_, trial)| trial.passed() == Some(true)));
    let text = std::fs::read_to_string(&path).unwrap();
    assert_eq!(text.lines().count(), 3);
}

#[tokio::test]
async fn a_run_that_waits_for_a_person_is_taken_up_when_it_was_answered() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("results.jsonl");
    let store = MemoryStore::new();
    let model = scripted([call("lookup", json!({})), submit(42)]);
    let agent = builder(&model)
        .confirmation("lookup", Confirmation::Always)
        .build()
        .unwrap();
    let evaluator = Evaluator::new(&agent).with_store(store.clone());
    let lines = TWO.lines().next().unwrap();
    for _ in 0..2 {
        let trials = evaluate(&evaluator, &dataset(lines), &path).await;
        assert_eq!(trials[0].1.status, Status::Paused);
        assert_eq!(trials[0].1.passed(), Some(false));
    }
    let trials = evaluate(&evaluator, &dataset(lines), &path).await;
    let run_id = trials[0].1.run_id.clone();
    let done = agent.resume_stored(store, run_id).respond("yes").await;
    assert!(done.unwrap().finished().is_ok());
    let trials = evaluate(&evaluator, &dataset(lines), &path).await;
    assert_eq!(trials[0].1.passed(), Some(true));
}

#[tokio::test]
async fn a_model_judges_answers_and_steps() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("results.jsonl");
    let line = r#"{"inputs": {"question": "?"}, "expected": {"answer": 42}, "metric": "judge"}"#;
    let model = scripted([
        call("lookup", json!({})).thinking("I look."),
        call("lookup", json!({})).thinking("Nice weather."),
        submit(43),
    ]);
    let agent = agent(&model);
    let judge = || {
        scripted([
            say(r#"{"reason": "43 is not 42.", "correct": false}"#),
            say(r#"{"reason": "The second is off.", "unconnected": [2, 2, 9]}"#),
        ])
    };
    let store = MemoryStore::new();
    let evaluator = Evaluator::new(&agent)
        .with_store(store)
        .with_judge(Judge::new(judge()).unwrap());
    let trials = evaluate(&evaluator, &dataset(line), &path).await;
    let trial = &trials[0].1;
    assert_eq!(trial.passed(), Some(false));
    let score = trial.score.as_ref().unwrap();
    assert_eq!(score.reason.as_deref(), Some("43 is not 42."));
    assert_eq!(trial.judged, Some(Share { hits: 1, of: 2 }));
    assert_eq!(trial.judge_usage.requests, 2);
    // Verdicts are kept, too.
    let trials = evaluate(&evaluator, &dataset(line), &path).await;
    assert!(!trials[0].0);
}

#[tokio::test]
async fn what_a_judge_cannot_say_is_asked_again() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("results.jsonl");
    let line = r#"{"inputs": {"question": "?"}, "expected": {"answer": 42}, "metric": "judge"}"#;
    let model = scripted([submit(42)]);
    let agent = agent(&model);
    let judge = scripted([
        fail(ModelErrorKind::Server, "down"),
        say(r#"{"reason": "Yes.", "correct": true}"#),
    ]);
    let evaluator = Evaluator::new(&agent).with_judge(Judge::new(judge).unwrap());
    let first = evaluate(&evaluator, &dataset(line), &path).await;
    assert!(first[0].1.is_unscored());
    assert_eq!(first[0].1.fault.as_ref().unwrap().kind, "judge");
    let second = evaluate(&evaluator, &dataset(line), &path).await;
    assert_eq!(second[0].1.passed(), Some(true));
    assert_eq!(second[0].1.fault, None);
}

#[test]
fn a_results_file_is_of_one_agent_and_one_process() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("results.jsonl");
    let settings = values! { model: "a", temperature: 0 };
    let open = Results::open(&path, settings.clone()).unwrap();
    let busy = Results::open(&path, settings.clone());
    assert!(matches!(busy, Err(ResultsError::Busy { .. })), "{busy:?}");
    let id = open.heading.evaluation_id.clone();
    drop(open);
    let again = Results::open(&path, settings.clone()).unwrap();
    assert_eq!(again.heading.evaluation_id, id);
    drop(again);
    let other = Results::open(&path, values! { model: "b", temperature: 0 }).unwrap_err();
    assert!(
        other.to_string().contains(r#"`model` was "a", and is "b""#),
        "{other}"
    );
    let fresh = Results::fresh(&path, values! { model: "b" }).unwrap();
    assert_ne!(fresh.heading.evaluation_id, id);
}

#[test]
fn what_is_no_results_file_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notes.txt");
    for text in ["my notes", "my notes\n", "{\"a\": 1}\n"] {
        std::fs::write(&path, text).unwrap();
        for opened in [
            Results::open(&path, Values::new()),
            Results::fresh(&path, Values::new()),
        ] {
            let is_refused = matches!(opened, Err(ResultsError::Unreadable { line: 1, .. }));
            assert!(is_refused, "{text:?}");
        }
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    }
}

#[cfg(unix)]
#[test]
fn truth_results_are_for_their_owner_alone() {
    use std::os::unix::fs::PermissionsExt as _;

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("results.jsonl");
    let mode = || std::fs::metadata(&path).unwrap().permissions().mode() & 0o777;
    drop(Results::open(&path, Values::new()).unwrap());
    assert_eq!(mode(), 0o600);
    // So does a file that others could read until now.
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
    drop(Results::open(&path, Values::new()).unwrap());
    assert_eq!(mode(), 0o600);
}
