//! `note`: what is kept is in the log, and nowhere else.

use enact::model::{ModelErrorKind, ScriptStep, ScriptedModel, call, fail, say};
use enact::tool::builtin;
use enact::{Decision, Outcome, ReAct, Tools, values};
use serde_json::json;

fn agent(script: impl IntoIterator<Item = ScriptStep>) -> ReAct {
    let tools = Tools::new().with(builtin::note()).with(builtin::ask_user());
    ReAct::builder("task -> answer")
        .tools(tools)
        .model(ScriptedModel::new(script))
        .build()
        .unwrap()
}

fn keep(text: &str) -> ScriptStep {
    call("note", json!({"text": text}))
}

#[tokio::test]
async fn notes_outlive_a_summary_and_a_process() {
    let first = agent([
        keep("the door is 4711"),
        keep("the window is open"),
        call("ask_user", json!({"question": "Go on?"})),
    ]);
    let Outcome::Paused(paused) = first.call(values! { task: "?" }).await.unwrap() else {
        panic!("it asks");
    };
    // As it is read from a file, by another process.
    let written = serde_json::to_string(paused.run()).unwrap();
    let run: enact::Run = serde_json::from_str(&written).unwrap();
    let question = run.open_questions()[0].confirmation_id.clone();
    let second = agent([
        fail(ModelErrorKind::ContextLength, "too long"),
        say("Some notes were kept."),
        call("note", json!({})),
        call("submit", json!({"answer": "4711"})),
    ]);
    let resumed = second
        .resume(run)
        .answer(question, Decision::Answer("yes".into()));
    let done = resumed.await.unwrap().finished().unwrap();
    let trajectory = done.trajectory();
    let observed: Vec<_> = trajectory
        .steps()
        .iter()
        .map(|step| &step.observation)
        .collect();
    assert_eq!(*observed[0], "kept");
    assert_eq!(
        *observed[3],
        json!({"notes": ["the door is 4711", "the window is open"]})
    );
}

#[tokio::test]
async fn each_run_has_notes_of_its_own_and_the_same_text_may_be_kept_again() {
    let agent = agent([
        call("note", json!({})),
        keep("a"),
        keep("a"),
        call("note", json!({"text": " "})),
        call("submit", json!({"answer": "1"})),
        call("note", json!({})),
        call("submit", json!({"answer": "2"})),
    ]);
    let done = agent
        .call(values! { task: "?" })
        .await
        .unwrap()
        .finished()
        .unwrap();
    let steps = done.trajectory();
    assert_eq!(steps.steps()[0].observation, json!({"notes": []}));
    assert_eq!(steps.steps()[3].observation, json!({"notes": ["a", "a"]}));
    let done = agent
        .call(values! { task: "?" })
        .await
        .unwrap()
        .finished()
        .unwrap();
    assert_eq!(
        done.trajectory().steps()[0].observation,
        json!({"notes": []})
    );
}
