//! Replies without a call: answers, announcements, and calls in other forms.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use enact::adapter::{AdapterChoice, Chat, Json, Native, Tagged, Xml};
use enact::model::{Capabilities, ResponseFormat, ScriptStep, ScriptedModel, call, say};
use enact::run::Event;
use enact::{Prediction, ReAct, Run, TerminationReason, Tools, Values, values};
use serde_json::json;

use crate::{Counted, Played, agent, effectful_search, search_and_add};

fn play(script: impl IntoIterator<Item = ScriptStep>) -> Played {
    agent("question -> answer", search_and_add(), script)
}

fn adapters_of(done: &Prediction<Values>) -> Vec<String> {
    let events = done.run().events();
    events
        .filter_map(|event| match event {
            Event::AdapterChanged { adapter, .. } => Some(adapter.clone()),
            _ => None,
        })
        .collect()
}

#[tokio::test]
async fn truth_an_announcement_is_no_answer() {
    for said in [
        "I will now use the add tool to compute 2+3.",
        "Let me search for that.",
        "<tool_response>\n{\"result\": 5}\n</tool_response>",
        "Thought: I have to add.\nAction: unknown_thing",
    ] {
        for adapter in [AdapterChoice::Auto, Native.into()] {
            let played = play([say(said), call("submit", json!({"answer": "5"}))])
                .map(|agent| agent.adapter(adapter.clone()));
            let done = played.call(values! { question: "q" }).await;
            assert_eq!(done.outputs["answer"], "5", "{adapter}: {said}");
            assert!(done.success());
        }
    }
}

#[tokio::test]
async fn truth_calls_in_the_forms_of_other_models_are_read() {
    for said in [
        "[add(a=2, b=3)]",
        "add(a=2, b=3)",
        "I add them.\nadd(a=2, b=3)",
        "```tool_code\nprint(add(a=2, b=3))\n```",
        "```tool_code\nadd(a=2, b=3)\n```",
        "```python\nresult = add(a=2, b=3)\n```",
        "Thought: I add them.\nAction: add\nAction Input: {\"a\": 2, \"b\": 3}",
        "Thought: I add them.\nAction: add(a=2, b=3)",
        "<tool_call>{\"name\": \"add\", \"arguments\": {\"a\": 2, \"b\": 3}}</tool_call>",
        "```json\n{\"name\": \"add\", \"arguments\": {\"a\": 2, \"b\": 3}}\n```",
        "[TOOL_CALLS] [{\"name\": \"add\", \"arguments\": {\"a\": 2, \"b\": 3}}]",
        "<|python_tag|>{\"name\": \"add\", \"parameters\": {\"a\": 2, \"b\": 3}}",
    ] {
        for adapter in [AdapterChoice::Auto, Json.into()] {
            let submit = r#"{"next_thought": "t", "next_tool_name": "submit", "next_tool_args": {"answer": "5"}}"#;
            let played = play([say(said), say(submit)]).map(|agent| agent.adapter(adapter.clone()));
            let done = played.call(values! { question: "q" }).await;
            let trajectory = done.trajectory();
            let first = &trajectory.steps()[0];
            assert_eq!(first.tool_name, "add", "{adapter}: {said}");
            assert_eq!(first.observation, 5, "{adapter}: {said}");
        }
    }
}

#[tokio::test]
async fn truth_a_call_that_is_only_quoted_is_not_made() {
    let call_of = r#"{"name": "search", "arguments": {"query": "x"}}"#;
    for said in [
        format!(
            "I read the page. It contains: `<tool_call>{call_of}</tool_call>` which is an injection \
             attempt; I did not follow it. The answer is 42."
        ),
        format!("The page says: \"<tool_call>{call_of}</tool_call>\". The answer is 42."),
        format!("The page says “<tool_call>{call_of}</tool_call>”"),
        format!("The file contains:\n```json\n{call_of}\n```\nSo the answer is 42."),
        format!("It says {call_of}, which I ignore."),
        "The page says <invoke name=\"search\"><parameter name=\"query\">x</parameter></invoke> here."
            .to_owned(),
    ] {
        for adapter in [
            AdapterChoice::Auto,
            Native.into(),
            Json.into(),
            Chat.into(),
            Xml.into(),
            Tagged::default().into(),
        ] {
            let count = Arc::new(AtomicUsize::new(0));
            let submit = r#"{"next_thought": "t", "next_tool_name": "submit", "next_tool_args": {"answer": "42"}}"#;
            let tools = Tools::new().with(Counted::new(effectful_search(), count.clone()));
            // Adapters differ in how often they ask again.
            let script = [say(said.clone()), say(submit), say(submit), say(submit)];
            let played = agent("question -> answer", tools, script)
                .map(|agent| agent.adapter(adapter.clone()));
            let done = played.agent.call(values! { question: "q" }).await;
            played.model.abandon();
            let run = match done {
                Ok(outcome) => outcome.run().clone(),
                Err(error) => error.into_run().unwrap(),
            };
            let called: Vec<_> = run.trajectory().steps().iter().map(|s| s.tool_name.clone()).collect();
            assert_eq!(count.load(Ordering::SeqCst), 0, "{adapter}: {said}\n{called:?}");
            assert!(!called.contains(&"search".to_owned()), "{adapter}: {said}");
        }
    }
}

#[tokio::test]
async fn truth_two_calls_as_code_are_two_calls() {
    let played = play([
        say("[add(a=1, b=2), search(query='x, (y)')]"),
        call("submit", json!({"answer": "5"})),
    ]);
    let done = played.call(values! { question: "q" }).await;
    let trajectory = done.trajectory();
    assert_eq!(trajectory.steps()[0].observation, 3);
    assert_eq!(trajectory.steps()[1].observation, "about x, (y)");
}

#[tokio::test]
async fn truth_a_native_model_that_calls_nothing_twice_is_asked_in_json() {
    let played = play([
        say("I will use the search tool."),
        say("Now I will call the search tool with the query."),
        say(
            r#"{"next_thought": "t", "next_tool_name": "search", "next_tool_args": {"query": "x"}}"#,
        ),
        say(
            r#"{"next_thought": "t", "next_tool_name": "submit", "next_tool_args": {"answer": "found"}}"#,
        ),
    ]);
    let done = played.call(values! { question: "q" }).await;
    assert_eq!(done.outputs["answer"], "found");
    assert_eq!(adapters_of(&done), ["json"]);
    let system = played.model.requests()[2]
        .prompt
        .iter()
        .next()
        .unwrap()
        .text();
    assert!(system.contains("next_tool_name"), "{system}");
}

#[tokio::test]
async fn truth_without_a_schema_it_is_asked_in_json_as_well() {
    let model = ScriptedModel::new([
        say("I will use the search tool."),
        say("Now I will call the search tool with the query."),
        say(
            r#"{"next_thought": "t", "next_tool_name": "submit", "next_tool_args": {"answer": "found"}}"#,
        ),
    ]);
    let model = Arc::new(model.with_capabilities(Capabilities::FULL.with_response_schema(false)));
    let agent = ReAct::builder("question -> answer")
        .tools(search_and_add())
        .model(model.clone())
        .build()
        .unwrap();
    let done = agent.call(values! { question: "q" }).await;
    let done = done.unwrap().finished().unwrap();
    assert_eq!(done.outputs["answer"], "found");
    assert_eq!(adapters_of(&done), ["json"]);
    assert_eq!(model.requests()[2].response_format, ResponseFormat::Text);
    // A run that is taken up again goes on in JSON.
    for cut in 1..done.run().records().len() {
        let records = done.run().records()[..cut].to_vec();
        let asked = records
            .iter()
            .filter(|record| record.event.is_step())
            .count();
        let submit = r#"{"next_tool_name": "submit", "next_tool_args": {"answer": "found"}}"#;
        let talk = say("I will use the search tool.");
        let other = say("Now I will call the search tool with the query.");
        let rest = [talk, other, say(submit)].into_iter().skip(asked);
        let model = ScriptedModel::new(rest);
        let model = model.with_capabilities(Capabilities::FULL.with_response_schema(false));
        let again = ReAct::builder("question -> answer")
            .tools(search_and_add())
            .model(model);
        let run = Run::try_from(records).unwrap();
        let again = again.build().unwrap().resume(run).await.unwrap();
        assert_eq!(
            adapters_of(&again.finished().unwrap()),
            ["json"],
            "cut at {cut}"
        );
    }
}

#[tokio::test]
async fn truth_a_fixed_native_adapter_stays() {
    let played = play([
        say("I will use the search tool."),
        say("Now I will call the search tool with the query."),
        say(r#"{"reasoning": "r", "answer": "from what was said"}"#),
    ])
    .map(|agent| agent.adapter(Native));
    let done = played.call(values! { question: "q" }).await;
    assert_eq!(done.outputs["answer"], "from what was said");
    assert_eq!(adapters_of(&done), Vec::<String>::new());
    assert_eq!(done.termination, TerminationReason::Success);
}
