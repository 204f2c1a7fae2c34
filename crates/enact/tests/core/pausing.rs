//! Tools that ask first.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use enact::model::{call, calls};
use enact::{Decision, ErrorKind, FnTool, Paused, ToolError, Tools, values};
use serde_json::json;

use super::{Played, agent, paused, search};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Path {
    path: String,
}

fn delete(count: Arc<AtomicUsize>) -> FnTool {
    FnTool::new("delete_file", "Deletes a file.", move |args: Path, _| {
        count.fetch_add(1, Ordering::SeqCst);
        async move { Ok::<_, ToolError>(format!("deleted {}", args.path)) }
    })
    .require_confirmation()
}

async fn waiting() -> (Played, Paused, Arc<AtomicUsize>) {
    let count = Arc::new(AtomicUsize::new(0));
    let played = agent(
        "question -> answer",
        Tools::new().with(delete(count.clone())).with(search()),
        [
            call("delete_file", json!({"path": "a.txt"})).thinking("It has to go."),
            call("submit", json!({"answer": "done"})),
        ],
    );
    let paused = paused(played.agent.call(values! { question: "q" }).await.unwrap());
    assert_eq!(count.load(Ordering::SeqCst), 0);
    (played, paused, count)
}

fn id(paused: &Paused) -> String {
    paused.questions()[0].confirmation_id.clone()
}

#[tokio::test]
async fn udspy_react_tool_confirmation_asks_before_the_tool_runs() {
    let (played, paused, _) = waiting().await;
    let question = &paused.questions()[0];
    assert!(
        question
            .question
            .contains("Confirm execution of delete_file")
    );
    assert_eq!(question.tool_call.name, "delete_file");
    assert_eq!(question.tool_call.args["path"], "a.txt");
    assert_eq!(paused.context().iteration, 0);
    assert_eq!(paused.context().inputs["question"], "q");
    played.model.abandon();
}

#[tokio::test]
async fn udspy_tool_execution_after_confirmation_runs_exactly_once() {
    let (played, paused, count) = waiting().await;
    // A pause is a value: it survives the way through JSON, in another process if need be.
    let json = serde_json::to_string(&paused).unwrap();
    let back: Paused = serde_json::from_str(&json).unwrap();
    assert_eq!(back, paused);
    let id = id(&back);
    let outcome = played
        .agent
        .resume(back)
        .answer(id, Decision::Approve)
        .await
        .unwrap();
    let done = outcome.finished().unwrap();
    assert_eq!(count.load(Ordering::SeqCst), 1);
    assert_eq!(done.trajectory().steps()[0].observation, "deleted a.txt");
    assert_eq!(done.outputs["answer"], "done");
}

#[tokio::test]
async fn udspy_user_feedback_triggers_re_reasoning_and_is_never_a_yes() {
    let (played, paused, count) = waiting().await;
    let decision = paused.questions()[0]
        .read("wait, please do not do that")
        .unwrap();
    let id = id(&paused);
    let done = played
        .agent
        .resume(paused)
        .answer(id, decision)
        .await
        .unwrap()
        .finished()
        .unwrap();
    assert_eq!(count.load(Ordering::SeqCst), 0);
    assert_eq!(
        done.trajectory().steps()[0].observation,
        "User feedback: wait, please do not do that"
    );
}

#[tokio::test]
async fn a_rejection_is_a_plain_observation() {
    let (played, paused, count) = waiting().await;
    let id = id(&paused);
    let decision = Decision::Reject(Some("too risky".to_owned()));
    let done = played
        .agent
        .resume(paused)
        .answer(id, decision)
        .await
        .unwrap()
        .finished()
        .unwrap();
    assert_eq!(count.load(Ordering::SeqCst), 0);
    let step = &done.trajectory().steps()[0].clone();
    assert_eq!(step.observation, "The user declined this call: too risky");
}

#[tokio::test]
async fn lesson_an_edit_is_validated_and_the_record_shows_what_ran() {
    let (played, paused, count) = waiting().await;
    let id = id(&paused);
    let wrong = Decision::Edit {
        name: "delete_file".into(),
        args: values! { file: 3 },
    };
    let error = played
        .agent
        .resume(paused)
        .answer(&id, wrong)
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Answer);
    assert_eq!(count.load(Ordering::SeqCst), 0);
    // The question is still open: the answer was not lost, and neither was the run.
    let run = error.into_run().unwrap();
    let question = &run.open_questions()[0];
    let right = question
        .read(r#"{"edit": {"args": {"path": "b.txt"}}}"#)
        .unwrap();
    let done = played
        .agent
        .resume(run)
        .answer(&id, right)
        .await
        .unwrap()
        .finished()
        .unwrap();
    assert_eq!(done.trajectory().steps()[0].tool_args["path"], "b.txt");
    assert_eq!(done.trajectory().steps()[0].observation, "deleted b.txt");
    let entries = serde_json::to_string(&done.history).unwrap();
    assert!(!entries.contains("a.txt"), "{entries}");
}

#[tokio::test]
async fn lesson_no_answer_is_no_approval() {
    let (played, paused, count) = waiting().await;
    let again = super::paused(played.agent.resume(paused.clone()).await.unwrap());
    assert_eq!(again.questions(), paused.questions());
    assert_eq!(count.load(Ordering::SeqCst), 0);
    played.model.abandon();
}

#[tokio::test]
async fn lesson_an_approval_is_used_once() {
    let count = Arc::new(AtomicUsize::new(0));
    let same = || call("delete_file", json!({"path": "a.txt"}));
    let played = agent(
        "question -> answer",
        Tools::new().with(delete(count.clone())),
        [same(), same()],
    );
    let first = paused(played.agent.call(values! { question: "q" }).await.unwrap());
    let first_id = id(&first);
    let resumed = played
        .agent
        .resume(first)
        .answer(&first_id, Decision::Approve)
        .await
        .unwrap();
    // The next identical call asks again, under another id.
    let second = paused(resumed);
    assert_eq!(count.load(Ordering::SeqCst), 1);
    assert_ne!(id(&second), first_id);
    let error = played
        .agent
        .resume(second)
        .answer(&first_id, Decision::Approve)
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Answer);
    assert_eq!(count.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn lesson_siblings_of_a_waiting_call_keep_their_results() {
    let count = Arc::new(AtomicUsize::new(0));
    let played = agent(
        "question -> answer",
        Tools::new().with(delete(count.clone())).with(search()),
        [
            calls([
                ("search", json!({"query": "x"})),
                ("delete_file", json!({"path": "a"})),
                ("delete_file", json!({"path": "b"})),
            ]),
            call("submit", json!({"answer": "done"})),
        ],
    );
    let first = paused(played.agent.call(values! { question: "q" }).await.unwrap());
    assert_eq!(first.questions().len(), 2);
    // Answered in two sittings, the later one first.
    let later = first.questions()[1].confirmation_id.clone();
    let earlier = first.questions()[0].confirmation_id.clone();
    let second = paused(
        played
            .agent
            .resume(first)
            .answer(later, Decision::Approve)
            .await
            .unwrap(),
    );
    assert_eq!(count.load(Ordering::SeqCst), 1);
    assert_eq!(second.questions().len(), 1);
    let decision = Decision::Reject(None);
    let done = played
        .agent
        .resume(second)
        .answer(earlier, decision)
        .await
        .unwrap()
        .finished()
        .unwrap();
    assert_eq!(count.load(Ordering::SeqCst), 1);
    let trajectory = done.trajectory();
    let seen: Vec<_> = trajectory
        .steps()
        .iter()
        .map(|step| step.observation.clone())
        .collect();
    assert_eq!(seen[0], "about x");
    assert!(seen[1].as_str().unwrap().contains("declined"));
    assert_eq!(seen[2], "deleted b");
}

#[tokio::test]
async fn a_pause_where_none_is_expected_is_an_error_with_the_run() {
    let (played, paused, _) = waiting().await;
    let outcome = enact::Outcome::<enact::Values>::Paused(paused);
    let error = outcome.finished().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Paused);
    assert!(error.run().is_some());
    played.model.abandon();
}

#[test]
fn text_answers_are_read_as_documented() {
    let asked = |kind: &str| -> enact::Question {
        let call = json!({"id": "c", "name": "t", "args": {}});
        let question = json!({
            "confirmation_id": "q", "kind": kind, "question": "?", "tool_call": call
        });
        serde_json::from_value(question).unwrap()
    };
    for kind in ["confirm", "in_doubt"] {
        for yes in ["yes", "y", " Y ", "YES"] {
            assert_eq!(asked(kind).read(yes), Ok(Decision::Approve));
        }
        for no in ["no", "n", "No"] {
            assert_eq!(asked(kind).read(no), Ok(Decision::Reject(None)));
        }
        for text in [
            "yes please",
            "ok",
            "sure",
            "always",
            "y?",
            "yes.",
            "editing is fine",
        ] {
            let feedback = Decision::Feedback(text.trim().to_owned());
            assert_eq!(asked(kind).read(text), Ok(feedback));
        }
    }
    // A tool that asks wants to hear what was said, whatever it is.
    assert_eq!(
        asked("clarify").read(" yes "),
        Ok(Decision::Answer("yes".to_owned()))
    );
}

/// A run whose process ended while a call was under way.
fn interrupted(run: &enact::Run) -> enact::Run {
    let mut records: Vec<enact::run::Record> = run.clone().into();
    let started =
        |record: &enact::run::Record| matches!(record.event, enact::run::Event::ToolStarted { .. });
    let length = records.iter().position(started).expect("a call began") + 1;
    records.truncate(length);
    enact::Run::try_from(records).unwrap()
}

/// An agent with one counted tool whose run was cut off while its call was under way.
async fn in_doubt(tool: FnTool) -> (Played, enact::Run, Arc<AtomicUsize>) {
    let count = Arc::new(AtomicUsize::new(0));
    let played = agent(
        "question -> answer",
        Tools::new().with(super::Counted::new(tool, count.clone())),
        [
            call("search", json!({"query": "x"})),
            call("submit", json!({"answer": "a"})),
            call("submit", json!({"answer": "a"})),
        ],
    );
    let done = played.call(values! { question: "q" }).await;
    (played, interrupted(done.run()), count)
}

#[tokio::test]
async fn promise_1_a_call_in_doubt_is_repeated_unasked_only_if_that_is_harmless() {
    for tool in [search(), search().idempotent()] {
        let (played, run, count) = in_doubt(tool).await;
        let done = played.agent.resume(run).await.unwrap().finished().unwrap();
        assert_eq!(count.load(Ordering::SeqCst), 2);
        assert_eq!(done.trajectory().steps()[0].observation, "about x");
        assert_eq!(done.usage.requests, 2);
    }
}

#[tokio::test]
async fn promise_1_a_person_decides_about_an_effect_in_doubt() {
    for (decision, runs, observed) in [
        (Decision::Approve, 2, "about x"),
        (Decision::Answer("found it".to_owned()), 1, "found it"),
        (
            Decision::Reject(None),
            1,
            "The call did not happen, and the user declined to run it again. It was not executed.",
        ),
        (
            Decision::Feedback("leave it".to_owned()),
            1,
            "User feedback: leave it",
        ),
    ] {
        let (played, run, count) = in_doubt(super::effectful_search()).await;
        let asked = paused(played.agent.resume(run).await.unwrap());
        assert_eq!(count.load(Ordering::SeqCst), 1);
        assert_eq!(asked.questions()[0].kind, enact::run::QuestionKind::InDoubt);
        // Asked again in another process, it is the same question.
        let again = paused(played.agent.resume(asked.clone()).await.unwrap());
        assert_eq!(again, asked);
        let id = id(&asked);
        let outcome = played
            .agent
            .resume(again)
            .answer(id, decision)
            .await
            .unwrap();
        let done = outcome.finished().unwrap();
        assert_eq!(count.load(Ordering::SeqCst), runs);
        assert_eq!(done.trajectory().steps()[0].observation, observed);
    }
}

#[tokio::test]
async fn promise_1_where_nobody_is_to_be_asked_an_effect_in_doubt_is_an_error_observation() {
    let count = Arc::new(AtomicUsize::new(0));
    let played = agent(
        "question -> answer",
        Tools::new().with(super::Counted::new(
            super::effectful_search(),
            count.clone(),
        )),
        [
            call("search", json!({"query": "x"})),
            call("submit", json!({"answer": "a"})),
            call("submit", json!({"answer": "a"})),
        ],
    );
    let outcome = played
        .agent
        .call(values! { question: "q" })
        .unattended()
        .await
        .unwrap();
    let run = interrupted(outcome.run());
    let done = played.agent.resume(run).await.unwrap().finished().unwrap();
    assert_eq!(count.load(Ordering::SeqCst), 1);
    let step = done.trajectory().steps()[0].clone();
    assert!(step.is_error);
    assert!(
        step.observation
            .as_str()
            .unwrap()
            .contains("not known whether it happened")
    );
}

#[tokio::test]
async fn a_call_that_did_not_run_has_no_result_to_be_told() {
    let (played, paused, count) = waiting().await;
    let id = id(&paused);
    let told = Decision::Answer("deleted".to_owned());
    let error = played
        .agent
        .resume(paused)
        .answer(id, told)
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Answer);
    assert_eq!(count.load(Ordering::SeqCst), 0);
    played.model.abandon();
}

#[tokio::test]
async fn a_run_goes_on_only_with_an_agent_that_fits_it() {
    let (played, paused, _) = waiting().await;
    played.model.abandon();
    let other = agent("city -> celsius: float", Tools::new().with(search()), []);
    let error = other.agent.resume(paused.clone()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Log);
    assert!(
        error.to_string().contains("question: str -> answer: str"),
        "{error}"
    );
    assert!(error.run().is_some());
    let other = agent("question -> answer", Tools::new().with(search()), []);
    let error = other.agent.resume(paused).await.unwrap_err();
    assert!(error.to_string().contains("delete_file"), "{error}");
}
