//! Edits that a person gets wrong: they are for that person to mend, not for the model to read.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use enact::model::{ScriptedModel, call};
use enact::run::AnswerError;
use enact::{AgentTool, Decision, ErrorKind, Paused, Question, ReAct, Tools, values};
use serde_json::{Value, json};

use super::{Counted, Played, agent, effectful_search, paused};

fn question() -> Question {
    let question = json!({
        "confirmation_id": "q",
        "kind": "confirm",
        "question": "?",
        "tool_call": {"id": "c", "name": "write", "args": {"path": "a", "content": "b"}},
    });
    serde_json::from_value(question).unwrap()
}

fn edit(args: Value) -> Result<Decision, AnswerError> {
    Ok(Decision::Edit {
        name: "write".to_owned(),
        args: serde_json::from_value(args).unwrap(),
    })
}

#[test]
fn truth_an_edit_is_read_in_each_of_its_forms() {
    let whole = || edit(json!({"path": "c", "content": "d"}));
    let changed = || edit(json!({"path": "c", "content": "b"}));
    for (text, expected) in [
        (
            r#"{"edit": {"args": {"path": "c", "content": "d"}}}"#,
            whole(),
        ),
        (
            r#"{"edit": {"name": "write", "args": {"path": "c", "content": "d"}}}"#,
            whole(),
        ),
        (r#"edit {"path": "c"}"#, changed()),
        (r#"Edit: {"path": "c"}"#, changed()),
        (r#" EDIT{"path": "c"} "#, changed()),
    ] {
        assert_eq!(question().read(text), expected, "{text}");
    }
}

#[test]
fn truth_what_begins_like_an_edit_is_never_feedback() {
    for text in [
        "edit",
        "edit nonsense",
        "Edit nonsense",
        "edit path=c",
        "edit it please",
        r#"edit {"path": }"#,
        r#"edit ["c"]"#,
        r#"{"edit": {"path": "c"}}"#,
        r#"{"edit": {"args": {"path": "c"}, "path": "c"}}"#,
        r#"{"edit": {"args": {"path": "c"}}, "why": "better"}"#,
        r#"{"edit": {"name": 3, "args": {}}}"#,
        r#"{"edit": 3}"#,
        r#"{"path": "c"}"#,
        "{",
    ] {
        let error = question().read(text).unwrap_err();
        let shown = error.to_string();
        assert!(
            matches!(error, AnswerError::UnreadableEdit { .. }),
            "{text}: {shown}"
        );
        assert!(shown.contains(r#"edit {"path": "new value"}"#), "{shown}");
    }
    for text in ["", "  "] {
        assert_eq!(question().read(text), Err(AnswerError::Empty));
    }
}

async fn waiting(tools: Tools, first: (&str, Value)) -> (Played, Paused) {
    let script = [
        call(first.0, first.1),
        call("submit", json!({"answer": "done"})),
    ];
    let played = agent("question -> answer", tools, script);
    let waiting = paused(played.agent.call(values! { question: "q" }).await.unwrap());
    (played, waiting)
}

#[tokio::test]
async fn truth_an_edit_that_cannot_be_read_leaves_the_question_open() {
    let count = Arc::new(AtomicUsize::new(0));
    let tool = Counted::new(effectful_search().require_confirmation(), count.clone());
    let first = ("search", json!({"query": "oak"}));
    let (played, mut waiting) = waiting(Tools::new().with(tool), first).await;
    for text in ["edit nonsense", r#"{"edit": {"query": "elm"}}"#] {
        let error = played
            .agent
            .resume(waiting)
            .respond(text)
            .await
            .unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Answer);
        assert!(error.to_string().contains("edit {\"query\""), "{error}");
        let run = error.into_run().unwrap();
        assert_eq!(run.open_questions().len(), 1);
        waiting = paused(played.agent.resume(run).await.unwrap());
    }
    assert_eq!(count.load(Ordering::SeqCst), 0);
    let outcome = played
        .agent
        .resume(waiting)
        .respond(r#"edit {"query": "elm"}"#);
    let done = outcome.await.unwrap().finished().unwrap();
    assert_eq!(count.load(Ordering::SeqCst), 1);
    assert_eq!(done.trajectory().steps()[0].tool_args["query"], "elm");
}

/// The person of the caller answers the question of the agent that it called.
#[tokio::test]
async fn truth_an_answer_that_an_inner_agent_cannot_use_comes_back_to_the_person() {
    let count = Arc::new(AtomicUsize::new(0));
    let tool = Counted::new(effectful_search().require_confirmation(), count.clone());
    let inner = ReAct::builder("topic -> summary")
        .tools(Tools::new().with(tool))
        .model(ScriptedModel::new([
            call("search", json!({"query": "oak"})),
            call("submit", json!({"summary": "a tree"})),
        ]))
        .build()
        .unwrap();
    let tool = AgentTool::new(inner, "research", "Finds things out.");
    let first = ("research", json!({"topic": "oak"}));
    let (played, mut waiting) = waiting(Tools::new().with(tool), first).await;
    for (text, problem) in [
        ("edit nonsense", "cannot be read"),
        (r#"{"edit": {"args": {"other": 4}}}"#, "cannot run"),
    ] {
        waiting = paused(played.agent.resume(waiting).respond(text).await.unwrap());
        let asked = &waiting.questions()[0].question;
        assert!(asked.contains(problem), "{asked}");
        assert_eq!(count.load(Ordering::SeqCst), 0);
    }
    let outcome = played
        .agent
        .resume(waiting)
        .respond(r#"edit {"query": "elm"}"#);
    let done = outcome.await.unwrap().finished().unwrap();
    assert_eq!(count.load(Ordering::SeqCst), 1);
    assert_eq!(done.trajectory().steps()[0].observation, "a tree");
}
