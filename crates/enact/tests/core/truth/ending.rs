//! When a limit is reached, the agent answers from what it has.

use std::sync::Arc;

use enact::adapter::{AdapterChoice, Chat, Completion, Json, Tagged, Xml};
use enact::model::{
    Capabilities, ResponseFormat, ScriptStep, ScriptedModel, ToolChoice, call, calls, fail, say,
};
use enact::run::{Event, Notice};
use enact::{
    Builder, ChainOfThought, ErrorKind, Outcome, Prediction, ReAct, TerminationReason, Values,
    values,
};
use serde_json::json;

use crate::{Played, agent, search_and_add};

fn limited(script: impl IntoIterator<Item = ScriptStep>) -> Played {
    agent("question -> answer", search_and_add(), script).map(|agent| agent.max_iterations(2))
}

fn two_steps() -> [ScriptStep; 2] {
    [
        call("search", json!({"query": "a"})),
        call("search", json!({"query": "b"})),
    ]
}

async fn ended(last: impl IntoIterator<Item = ScriptStep>) -> (Prediction<Values>, Played) {
    let played = limited(two_steps().into_iter().chain(last));
    (played.call(values! { question: "q" }).await, played)
}

#[tokio::test]
async fn truth_an_answer_at_a_limit_needs_no_helper_field() {
    let (done, played) = ended([say(r#"{"answer": "partial"}"#)]).await;
    assert_eq!(done.outputs["answer"], "partial");
    assert_eq!(done.termination, TerminationReason::MaxIterations);
    assert!(!done.success());
    assert_eq!(played.model.requests().len(), 3);
}

#[tokio::test]
async fn truth_chain_of_thought_takes_an_answer_without_its_reasoning() {
    let model = std::sync::Arc::new(enact::model::ScriptedModel::new([say(
        r#"{"answer": "yes"}"#,
    )]));
    let module = ChainOfThought::builder("question -> answer")
        .model(model.clone())
        .build()
        .unwrap();
    let done = module.call(values! { question: "q" }).await.unwrap();
    assert_eq!(done.finished().unwrap().outputs["answer"], "yes");
}

#[tokio::test]
async fn truth_a_submit_call_at_a_limit_is_read_and_was_demanded() {
    let submit = call("submit", json!({"answer": "partial"})).thinking("It is all I have.");
    let (done, played) = ended([submit]).await;
    assert_eq!(done.outputs["answer"], "partial");
    assert_eq!(done.termination, TerminationReason::MaxIterations);
    assert_eq!(done.reasoning(), Some("It is all I have."));
    let requests = played.model.requests();
    let last = &requests[2];
    assert_eq!(last.tool_choice, ToolChoice::Named("submit".to_owned()));
    assert!(std::sync::Arc::ptr_eq(&last.tools, &requests[1].tools));
    // The same transcript, with a demand at its end.
    let (before, now): (Vec<_>, Vec<_>) = (
        requests[1].prompt.iter().collect(),
        last.prompt.iter().collect(),
    );
    assert_eq!(now[..before.len()], before[..]);
    let demand = now.last().unwrap().text();
    assert!(
        demand.contains("Call `submit` now with `answer`"),
        "{demand}"
    );
    // The demand is no step, and stands in the log.
    assert_eq!(done.run().trace().total_iterations, 2);
    let is_demand = |event: &Event| matches!(event, Event::Noticed { about, .. } if *about == Notice::SubmitNow);
    assert_eq!(
        done.run().events().filter(|event| is_demand(event)).count(),
        1
    );
}

#[tokio::test]
async fn truth_the_extraction_is_the_way_out_when_nothing_is_submitted() {
    let (done, played) = ended([
        call("search", json!({"query": "one more"})),
        say(r#"{"reasoning": "r", "answer": "extracted"}"#),
    ])
    .await;
    assert_eq!(done.outputs["answer"], "extracted");
    assert_eq!(done.termination, TerminationReason::MaxIterations);
    let requests = played.model.requests();
    assert!(requests[3].tools.is_empty());
    let prompt = requests[3].prompt.iter().last().unwrap().text();
    assert!(prompt.contains("about b"), "{prompt}");
}

#[tokio::test]
async fn truth_an_extraction_may_submit_by_a_call() {
    for last in [
        call("submit", json!({"answer": "late"})),
        say(r#"submit(answer="late")"#),
        say(r#"{"name": "submit", "arguments": {"answer": "late"}}"#),
        say("[[ ## answer ## ]]\nlate"),
        say("late"),
    ] {
        let (done, _) = ended([call("search", json!({"query": "more"})), last.clone()]).await;
        assert_eq!(done.outputs["answer"], "late", "{last:?}");
    }
}

#[tokio::test]
async fn truth_the_reason_for_ending_stays_the_real_one_without_an_answer() {
    let nothing = || say("I will now call the search tool.");
    let played = limited(two_steps().into_iter().chain((0..5).map(|_| nothing())));
    let error = played.agent.call(values! { question: "q" }).await;
    let error = error.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NoAnswer);
    let run = error.run().unwrap();
    assert_eq!(run.termination(), Some(TerminationReason::MaxIterations));
}

#[tokio::test]
async fn truth_every_adapter_answers_at_a_limit_in_its_own_form() {
    let adapters: [(AdapterChoice, [&str; 3], &str); 4] = [
        (
            Json.into(),
            [
                r#"{"next_thought": "t", "next_tool_name": "search", "next_tool_args": {"query": "a"}}"#,
                r#"{"next_thought": "t", "next_tool_name": "search", "next_tool_args": {"query": "b"}}"#,
                r#"{"next_thought": "t", "next_tool_name": "submit", "next_tool_args": {"answer": "5"}}"#,
            ],
            r#"{"answer": "5"}"#,
        ),
        (
            Xml.into(),
            [
                "<next_thought>t</next_thought><next_tool_name>search</next_tool_name><next_tool_args>{\"query\": \"a\"}</next_tool_args>",
                "<next_thought>t</next_thought><next_tool_name>search</next_tool_name><next_tool_args>{\"query\": \"b\"}</next_tool_args>",
                "<next_thought>t</next_thought><next_tool_name>submit</next_tool_name><next_tool_args>{\"answer\": \"5\"}</next_tool_args>",
            ],
            "<answer>5</answer>",
        ),
        (
            Chat.into(),
            [
                "[[ ## next_thought ## ]]\nt\n\n[[ ## next_tool_name ## ]]\nsearch\n\n[[ ## next_tool_args ## ]]\n{\"query\": \"a\"}\n\n[[ ## completed ## ]]",
                "[[ ## next_thought ## ]]\nt\n\n[[ ## next_tool_name ## ]]\nsearch\n\n[[ ## next_tool_args ## ]]\n{\"query\": \"b\"}\n\n[[ ## completed ## ]]",
                "[[ ## next_thought ## ]]\nt\n\n[[ ## next_tool_name ## ]]\nsubmit\n\n[[ ## next_tool_args ## ]]\n{\"answer\": \"5\"}\n\n[[ ## completed ## ]]",
            ],
            "[[ ## answer ## ]]\n5\n\n[[ ## completed ## ]]",
        ),
        (
            Tagged::default().into(),
            [
                "Thought: t\nAction: search(query=\"a\")",
                "Thought: t\nAction: search(query=\"b\")",
                "Thought: t\nAction: submit(answer=\"5\")",
            ],
            "answer: 5",
        ),
    ];
    for (adapter, [first, second, submit], bare) in adapters {
        for last in [submit, bare] {
            let played = limited([say(first), say(second), say(last)])
                .map(|agent| agent.adapter(adapter.clone()));
            let done = played.call(values! { question: "q" }).await;
            assert_eq!(done.outputs["answer"], "5", "{adapter}: {last}");
            assert_eq!(done.termination, TerminationReason::MaxIterations);
        }
    }
}

#[tokio::test]
async fn truth_a_demand_that_the_server_refuses_costs_no_answer() {
    use enact::model::ModelErrorKind as Kind;
    for kind in [
        Kind::InvalidRequest,
        Kind::ToolsRefused,
        Kind::FormatRefused,
    ] {
        let (done, _) = ended([
            fail(kind, "tool_choice is not supported"),
            say(r#"{"reasoning": "r", "answer": "extracted"}"#),
        ])
        .await;
        assert_eq!(done.outputs["answer"], "extracted", "{kind:?}");
    }
}

#[tokio::test]
async fn truth_a_finished_agent_shows_its_last_thought_to_the_extraction() {
    let script = [
        call("finish", json!({})).thinking("The answer is 42, by heart."),
        say(r#"{"reasoning": "r", "answer": "42"}"#),
    ];
    let played = agent("question -> answer", search_and_add(), script)
        .map(|agent| agent.completion(Completion::Finish));
    let done = played.call(values! { question: "q" }).await;
    let prompt = played.model.requests()[1]
        .prompt
        .iter()
        .last()
        .unwrap()
        .text();
    assert!(prompt.contains("The answer is 42, by heart."), "{prompt}");
    let history = serde_json::to_string(&done.history).unwrap();
    assert!(history.contains("by heart"), "{history}");
    let trajectory = done.trajectory();
    let last = trajectory.steps().last().unwrap();
    assert_eq!(last.tool_name, "finish");
    assert_eq!(last.thought, "The answer is 42, by heart.");
    assert_eq!(trajectory.steps().len(), 1);
    assert_eq!(done.run().scratchpad().matches("by heart").count(), 1);
}

#[tokio::test]
async fn truth_failure_phrases_count_in_the_last_reply_too() {
    let phrases = |agent: Builder<ReAct>| {
        agent.rules(|rules| rules.failure_phrases = vec!["cannot be done".to_owned()])
    };
    for last in [
        call("submit", json!({"answer": "nothing"})).thinking("This cannot be done."),
        call("submit", json!({"answer": "It CANNOT be done."})),
        say("I am afraid that it cannot be done."),
    ] {
        let played = agent("question -> answer", search_and_add(), [last.clone()]).map(phrases);
        let done = played.call(values! { question: "q" }).await;
        assert_eq!(done.termination, TerminationReason::Failure, "{last:?}");
        assert!(!done.success());
    }
    for (arrow, outputs) in [
        (
            "question -> steps: list[str]",
            json!({"steps": ["Look.", "It cannot be done."]}),
        ),
        (
            "question -> found: dict[str, list[str]]",
            json!({"found": {"why": ["It cannot be done."]}}),
        ),
    ] {
        let script = [call("submit", outputs.clone())];
        let played = agent(arrow, search_and_add(), script).map(phrases);
        let done = played.call(values! { question: "q" }).await;
        assert_eq!(done.termination, TerminationReason::Failure, "{outputs}");
    }
    let script = [
        call("finish", json!({})),
        say(r#"{"reasoning": "It cannot be done.", "answer": "none"}"#),
    ];
    let played = agent("question -> answer", search_and_add(), script)
        .map(|agent| phrases(agent.completion(Completion::Finish)));
    let done = played.call(values! { question: "q" }).await;
    assert_eq!(done.termination, TerminationReason::Failure);
}

#[tokio::test]
async fn truth_a_demand_survives_a_crash() {
    let script = two_steps().into_iter().chain([calls([
        ("search", json!({"query": "c"})),
        ("submit", json!({"answer": "done"})),
    ])]);
    let played = limited(script);
    let done = played.call(values! { question: "q" }).await;
    assert_eq!(done.outputs["answer"], "done");
    // From each prefix of the log, the run comes to the same end.
    let records = done.run().records().to_vec();
    for cut in 1..records.len() {
        let rest: Vec<ScriptStep> = {
            let replies = records[..cut].iter();
            let replies = replies.filter(|record| record.event.reply().is_some());
            let all = two_steps()
                .into_iter()
                .chain([call("submit", json!({"answer": "done"}))]);
            all.skip(replies.count()).collect()
        };
        let played = limited(rest);
        let run = enact::Run::try_from(records[..cut].to_vec()).unwrap();
        let outcome = played.agent.resume(run).await.unwrap();
        let Outcome::Finished(again) = outcome else {
            panic!("cut at {cut}: paused");
        };
        assert_eq!(again.outputs["answer"], "done", "cut at {cut}");
        assert_eq!(again.termination, TerminationReason::MaxIterations);
    }
}

#[tokio::test]
async fn truth_no_demand_is_made_of_a_model_that_is_known_to_ignore_it() {
    let search = || call("search", json!({"query": "x"}));
    let capabilities = Capabilities::FULL.with_tool_choice(false);
    for (adapter, is_demanded) in [("auto", false), ("native", false), ("json", true)] {
        let last = say(r#"{"n": 5}"#);
        let model = ScriptedModel::new([search(), search(), last]);
        let model = Arc::new(model.with_capabilities(capabilities));
        let played = agent("question -> n: int", search_and_add(), []).map(|agent| {
            let adapter: AdapterChoice = adapter.parse().unwrap();
            agent
                .model(model.clone())
                .adapter(adapter)
                .max_iterations(2)
        });
        let done = played.call(values! { question: "q" }).await;
        assert_eq!(done.outputs["n"], 5);
        assert_eq!(done.termination, TerminationReason::MaxIterations);
        let last = model.requests().pop().unwrap();
        assert_eq!(last.tool_choice, ToolChoice::Auto, "{adapter}");
        let told = last
            .prompt
            .iter()
            .any(|message| message.text().contains("No steps are left"));
        assert_eq!(told, is_demanded, "{adapter}");
        let is_extraction = matches!(last.response_format, ResponseFormat::Schema { .. });
        assert!(is_extraction && last.tools.is_empty(), "{adapter}");
    }
}
