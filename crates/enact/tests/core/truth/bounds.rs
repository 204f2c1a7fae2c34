//! Identities that change or collide, and loops that must end.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use enact::adapter::{Json, Native};
use enact::driver::{Answer, Effect, Effects};
use enact::model::{Message, Prompt, ScriptStep, ScriptedModel, call, calls, say};
use enact::run::store::MemoryStore;
use enact::tool::{Confirmation, ToolSpec};
use enact::{
    Decision, Demo, FnTool, Outcome, Question, ReAct, Run, ToolError, Tools, forward_effects,
    values,
};
use serde_json::json;

use crate::{Counted, agent, effectful_search, search, search_and_add};

/// The ids of all calls in a prompt, and of all results.
fn ids(prompt: &Prompt) -> (Vec<String>, Vec<String>) {
    let (mut made, mut answered) = (Vec::new(), Vec::new());
    for message in prompt.iter() {
        match message {
            Message::Assistant { calls, .. } => {
                made.extend(calls.iter().map(|call| call.id.clone().unwrap()));
            }
            Message::Tool { call_id, .. } => answered.push(call_id.clone()),
            _ => {}
        }
    }
    (made, answered)
}

fn assert_unique(prompt: &Prompt) {
    let (made, answered) = ids(prompt);
    assert_eq!(made, answered);
    let unique: HashSet<&String> = made.iter().collect();
    assert_eq!(unique.len(), made.len(), "{made:?}");
}

fn step(name: &str, args: serde_json::Value) -> ScriptStep {
    let step = json!({"next_thought": "t", "next_tool_name": name, "next_tool_args": args});
    say(step.to_string())
}

#[tokio::test]
async fn truth_ids_are_unique_over_turns_in_different_adapters() {
    let turn = |json: bool| {
        let model = Arc::new(ScriptedModel::new(match json {
            true => vec![
                step("search", json!({"query": "x"})),
                step("submit", json!({"answer": "a"})),
            ],
            false => vec![
                call("search", json!({"query": "x"})),
                call("search", json!({"query": "y"})),
                call("submit", json!({"answer": "a"})),
            ],
        }));
        let agent = ReAct::builder("question -> answer")
            .tools(search_and_add())
            .model(model.clone());
        let agent = match json {
            true => agent.adapter(Json),
            false => agent.adapter(Native),
        };
        (agent.build().unwrap(), model)
    };
    let mut history = enact::History::new();
    for json in [true, true, false, true, false, false] {
        let (agent, model) = turn(json);
        let call = agent.call(values! { question: "q" }).history(&history);
        history = call.await.unwrap().finished().unwrap().history;
        if !json {
            assert_unique(&model.requests().last().unwrap().prompt);
        }
    }
}

#[tokio::test]
async fn truth_answers_in_words_have_ids_of_their_own() {
    let mut history = enact::History::new();
    for _ in 0..3 {
        let played = agent("question -> answer", search_and_add(), [say("yes")]);
        let call = played
            .agent
            .call(values! { question: "q" })
            .history(&history);
        history = call.await.unwrap().finished().unwrap().history;
        assert_unique(&played.model.requests()[0].prompt);
    }
}

#[tokio::test]
async fn truth_examples_have_ids_of_their_own() {
    let example = {
        let played = agent(
            "question -> answer",
            search_and_add(),
            [
                call("search", json!({"query": "x"})),
                call("submit", json!({"answer": "a"})),
            ],
        );
        played.call(values! { question: "q" }).await.history
    };
    let plain = Demo::new(values! { question: "q" }, values! { answer: "a" });
    let played = agent(
        "question -> answer",
        search_and_add(),
        [
            call("search", json!({"query": "x"})),
            call("submit", json!({"answer": "a"})),
        ],
    )
    .map(|agent| {
        let demos = vec![
            Demo::from(&example),
            Demo::from(&example),
            plain.clone(),
            plain,
        ];
        agent.demos(demos)
    });
    played.call(values! { question: "q" }).await;
    assert_unique(&played.model.requests()[1].prompt);
}

#[tokio::test]
async fn truth_colliding_ids_run_each_call_once() {
    for ids in [
        vec!["call_0_1", ""],
        vec!["", ""],
        vec!["same", "same"],
        vec!["call_0_1", "call_0_1", " ", "call_0_3"],
    ] {
        for is_effectful in [false, true] {
            let count = Arc::new(AtomicUsize::new(0));
            let tool = if is_effectful {
                effectful_search()
            } else {
                search()
            };
            let tools = Tools::new().with(Counted::new(tool, count.clone()));
            let queries = (0..ids.len()).map(|n| ("search", json!({"query": n.to_string()})));
            let played = agent(
                "question -> answer",
                tools,
                [
                    calls(queries).with_ids(ids.clone()),
                    call("submit", json!({"answer": "a"})).with_ids(ids.clone()),
                ],
            );
            let store = MemoryStore::new();
            let call = played.agent.call(values! { question: "q" }).store(store);
            let done = call.await.unwrap().finished().unwrap();
            assert!(done.success());
            assert_eq!(count.load(Ordering::SeqCst), ids.len(), "{ids:?}");
            assert_unique(&played.model.requests()[1].prompt);
        }
    }
}

#[tokio::test]
async fn truth_a_reply_of_as_many_calls_as_may_be_ends_in_its_answer() {
    for asks in [false, true] {
        let count = Arc::new(AtomicUsize::new(0));
        let mut tools = Tools::new().with(Counted::new(effectful_search(), count.clone()));
        if asks {
            tools = tools
                .with_confirmation("search", Confirmation::Always)
                .unwrap();
        }
        let query = |number: usize| ("search", json!({"query": number.to_string()}));
        let script = [
            calls((0..128).map(query)),
            call("submit", json!({"answer": "a"})),
        ];
        let played = agent("question -> answer", tools, script);
        let mut outcome = played.agent.call(values! { question: "q" }).await.unwrap();
        while let Outcome::Paused(paused) = outcome {
            let questions = paused.questions().to_vec();
            let resumed = played.agent.resume(paused.run().clone());
            let answered = questions.into_iter().fold(resumed, |call, question| {
                call.answer(question.confirmation_id, Decision::Approve)
            });
            outcome = answered.await.unwrap();
        }
        assert_eq!(outcome.finished().unwrap().outputs["answer"], "a");
        assert_eq!(count.load(Ordering::SeqCst), 128);
    }
}

/// Effects that answer every question in place.
struct Answering(Box<dyn Effects>);

impl Effects for Answering {
    fn wait<'a>(&'a self, _: &'a Run, questions: &'a [Question]) -> Effect<'a, Option<Answer>> {
        let answer = questions.first().map(|question| Answer {
            confirmation_id: question.confirmation_id.clone(),
            decision: Decision::Answer("yes".to_owned()),
        });
        Box::pin(std::future::ready(Ok(answer)))
    }

    forward_effects!(self => (self.0):
        append, now, proceed, ask, act, abandon, check, ends, tools, stepped);
}

#[tokio::test]
async fn truth_a_call_may_ask_as_often_as_it_is_answered() {
    let spec = ToolSpec::new("fill_in", "Fills in a form.", json!({"type": "object"}));
    let form = FnTool::from_spec(spec, |_, context| async move {
        for field in 0..60 {
            context.ask(&format!("Field {field}?"))?;
        }
        Ok::<_, ToolError>("filled in")
    });
    let script = [
        call("fill_in", json!({})),
        call("submit", json!({"answer": "a"})),
    ];
    let played = agent("question -> answer", Tools::new().with(form), script);
    let call = played.agent.call(values! { question: "q" });
    let done = call.through(|inner| Box::new(Answering(inner))).await;
    let done = done.unwrap().finished().unwrap();
    assert_eq!(done.trajectory().steps()[0].observation, "filled in");
}

#[tokio::test]
async fn truth_a_log_in_which_ids_collide_ends() {
    // As an earlier version could write it: two calls of one id, of which none has run.
    let played = agent(
        "question -> answer",
        search_and_add(),
        [
            calls([
                ("search", json!({"query": "x"})),
                ("search", json!({"query": "y"})),
            ]),
            call("submit", json!({"answer": "a"})),
        ],
    );
    let done = played.call(values! { question: "q" }).await;
    let log = serde_json::to_string(&done.run().records()[..2]).unwrap();
    let log = log.replace("call_0_1", "call_0_0");
    let run: enact::Run = serde_json::from_str(&log).unwrap();
    let again = agent("question -> answer", search_and_add(), []);
    let error = again.agent.resume(run).await.unwrap_err();
    let run = error.run().unwrap();
    assert!(error.to_string().contains("without a new reply"), "{error}");
    assert!(run.records().len() < 500, "{}", run.records().len());
    assert!(run.termination().is_some());
}
