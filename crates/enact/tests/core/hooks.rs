//! Checks of the user's own, before and after calls.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use enact::model::{Message, Request, call, say};
use enact::run::Observation;
use enact::{Builder, Completion, Prediction, ReAct, Tools, Values, Verdict, values};
use serde_json::{Value, json};

use super::{Counted, Played, agent, effectful_search, paused};

fn searching(change: impl FnOnce(Builder<ReAct>) -> Builder<ReAct>) -> (Played, Arc<AtomicUsize>) {
    let count = Arc::new(AtomicUsize::new(0));
    let tools = Tools::new().with(Counted::new(effectful_search(), count.clone()));
    let script = [
        call("search", json!({"query": "x"})),
        call("submit", json!({"answer": "a"})),
    ];
    (
        agent("question -> answer", tools, script).map(change),
        count,
    )
}

fn first(done: &Prediction<Values>) -> (Value, Value, bool) {
    let step = done.trajectory().steps()[0].clone();
    (
        step.tool_args["query"].clone(),
        step.observation,
        step.is_error,
    )
}

#[tokio::test]
async fn a_check_before_a_call_allows_changes_or_vetoes_it() {
    for (verdict, runs, query, observed, is_error) in [
        (Verdict::Allow, 1, "x", "about x", false),
        (
            Verdict::Change(values! { query: "y" }),
            1,
            "y",
            "about y",
            false,
        ),
        (
            Verdict::Veto("Not on Sundays.".to_owned()),
            0,
            "x",
            "Not on Sundays.",
            true,
        ),
    ] {
        let (played, count) = searching(|agent| {
            agent.before_call(move |call| match call.name.as_str() {
                "search" => verdict.clone(),
                name => {
                    assert_eq!(name, "submit");
                    Verdict::Allow
                }
            })
        });
        let done = played.call(values! { question: "q" }).await;
        assert_eq!(first(&done), (query.into(), observed.into(), is_error));
        assert_eq!(count.load(Ordering::SeqCst), runs);
    }
}

#[tokio::test]
async fn a_check_can_have_a_person_asked_and_what_it_changes_is_checked() {
    let (played, count) = searching(|agent| agent.before_call(|_| Verdict::Ask));
    let waiting = paused(played.agent.call(values! { question: "q" }).await.unwrap());
    assert_eq!(count.load(Ordering::SeqCst), 0);
    let outcome = played.agent.resume(waiting).respond("yes").await.unwrap();
    assert_eq!(first(&outcome.finished().unwrap()).1, "about x");

    let (played, count) = searching(|agent| {
        agent.before_call(|call| match call.name.as_str() {
            "search" => Verdict::Change(values! { quary: 1 }),
            _ => Verdict::Allow,
        })
    });
    let done = played.call(values! { question: "q" }).await;
    let (_, observed, is_error) = first(&done);
    assert!(
        is_error && observed.as_str().unwrap().contains("do not fit"),
        "{observed}"
    );
    assert_eq!(count.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn a_check_that_fails_is_an_observation() {
    let (played, count) = searching(|agent| {
        agent.before_call(|call| match call.name.as_str() {
            "search" => panic!("at /secret/path"),
            _ => Verdict::Allow,
        })
    });
    let done = played.call(values! { question: "q" }).await;
    let (_, observed, is_error) = first(&done);
    assert!(is_error);
    assert_eq!(
        observed,
        "This call was not executed: the check before it failed."
    );
    assert_eq!(count.load(Ordering::SeqCst), 0);

    let (played, count) = searching(|agent| agent.after_call(|_, _| panic!("at /secret/path")));
    let done = played.call(values! { question: "q" }).await;
    let (_, observed, is_error) = first(&done);
    assert!(
        is_error && observed.as_str().unwrap().contains("is not shown"),
        "{observed}"
    );
    assert_eq!(count.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_check_after_a_call_decides_what_is_seen_and_written_down() {
    let (played, _) = searching(|agent| {
        agent.after_call(|call, observation| {
            Observation::value(format!(
                "{}: {}",
                call.name,
                observation.text().replace('x', "▇")
            ))
        })
    });
    let done = played.call(values! { question: "q" }).await;
    assert_eq!(first(&done).1, "search: about ▇");
    let log = serde_json::to_string(done.run()).unwrap();
    assert!(!log.contains("about x"), "{log}");
}

fn last_message(request: &Request) -> String {
    let last = request.prompt.iter().last();
    last.map(Message::text).unwrap_or_default().to_string()
}

/// A check that wants a source, and notes what it sees.
fn wants_source(agent: Builder<ReAct>, seen: &Arc<Mutex<Vec<Values>>>) -> Builder<ReAct> {
    let seen = seen.clone();
    agent.before_call(move |call| {
        assert!(["submit", "finish"].contains(&&*call.name), "{}", call.name);
        seen.lock().unwrap().push(call.args.clone());
        match call.args["answer"].as_str() {
            Some(answer) if answer.contains("source") => Verdict::Allow,
            _ => Verdict::Veto("Name a source.".to_owned()),
        }
    })
}

#[tokio::test]
async fn outputs_are_vetoed_with_a_reason_whichever_way_they_come() {
    let submit = |answer: &str| call("submit", json!({"answer": answer}));
    let structured = |answer: &str| say(json!({"answer": answer}).to_string());
    for (way, completion, script) in [
        (
            "submitted",
            Completion::Submit,
            vec![submit("a"), submit("source b")],
        ),
        (
            "written",
            Completion::Submit,
            vec![structured("a"), structured("source b")],
        ),
        (
            "said",
            Completion::Submit,
            vec![say("It is a."), say("It is source b.")],
        ),
        (
            "finished with",
            Completion::Finish,
            vec![
                call("finish", json!({"answer": "a"})),
                call("finish", json!({"answer": "source b"})),
            ],
        ),
        (
            "extracted",
            Completion::Finish,
            vec![
                call("finish", json!({})),
                structured("a"),
                structured("source b"),
            ],
        ),
    ] {
        let seen = Arc::default();
        let played = agent("question -> answer", Tools::new(), script)
            .map(|agent| wants_source(agent, &seen).completion(completion));
        let done = played.call(values! { question: "q" }).await;
        assert!(
            done.outputs["answer"]
                .as_str()
                .unwrap()
                .contains("source b"),
            "{way}"
        );
        assert!(done.success(), "{way}");
        assert_eq!(seen.lock().unwrap().len(), 2, "{way}");
        // The model was told why.
        let asked = played.model.requests();
        let last = last_message(asked.last().unwrap());
        assert!(last.contains("Name a source."), "{way}: {last}");
        // What was decided is in the log: it reads the same again, without the check.
        let text = serde_json::to_string(done.run()).unwrap();
        let read: enact::Run = serde_json::from_str(&text).unwrap();
        assert_eq!(read.outputs(), done.run().outputs(), "{way}");
    }
}

#[tokio::test]
async fn outputs_that_are_vetoed_every_time_never_come_out() {
    let script = vec![call("submit", json!({"answer": "a"})); 7];
    let seen = Arc::default();
    let played = agent("question -> answer", Tools::new(), script)
        .map(|agent| wants_source(agent, &seen).max_repairs(2));
    let error = played
        .agent
        .call(values! { question: "q" })
        .await
        .unwrap_err();
    assert_eq!(error.kind(), enact::ErrorKind::NoAnswer);
    let run = error.run().unwrap();
    assert_eq!(run.outputs(), None);
    // Three steps, the demand, and three extractions.
    assert_eq!(seen.lock().unwrap().len(), 7);
    assert!(error.to_string().contains("Name a source."), "{error}");
}

#[tokio::test]
async fn a_check_changes_outputs_and_what_does_not_fit_is_told() {
    let script = [
        call("submit", json!({"count": 3})),
        call("submit", json!({"count": 4})),
    ];
    let played = agent("question -> count: int", Tools::new(), script).map(|agent| {
        agent.before_call(|call| match call.args["count"].as_i64() {
            Some(3) => Verdict::Change(values! { count: "many" }),
            _ => Verdict::Change(values! { count: 5 }),
        })
    });
    let done = played.call(values! { question: "q" }).await;
    assert_eq!(done.outputs["count"], 5);
    let asked = played.model.requests();
    let last = last_message(asked.last().unwrap());
    assert!(last.contains("outputs that do not fit"), "{last}");

    // Nobody can be asked about outputs.
    let script = [call("submit", json!({"count": 3}))];
    let played = agent("question -> count: int", Tools::new(), script)
        .map(|agent| agent.before_call(|_| Verdict::Ask));
    assert_eq!(
        played.call(values! { question: "q" }).await.outputs["count"],
        3
    );
}

#[test]
fn the_tools_of_an_agent_are_those_that_the_model_sees() {
    for (completion, last) in [
        (Completion::Submit, "submit"),
        (Completion::Finish, "finish"),
    ] {
        let agent = ReAct::builder("question -> answer")
            .tools(Tools::new().with(effectful_search()))
            .completion(completion)
            .build()
            .unwrap();
        let names: Vec<&str> = agent.tools().iter().map(|tool| &*tool.name).collect();
        assert_eq!(names, ["search", last]);
    }
}
