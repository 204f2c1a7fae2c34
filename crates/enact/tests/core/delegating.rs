//! Agents as tools of other agents.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use enact::model::{ModelErrorKind, Price, Prices, ScriptedModel, Usage, call, fail, say};
use enact::run::store::{MemoryStore, RunFilter, Store as _};
use enact::run::{ActionKind, Event};
use enact::tool::{Confirmation, ToolSpec};
use enact::{
    AgentTool, CancellationToken, Decision, ErrorKind, FnTool, HandOver, ReAct, TerminationReason,
    ToolContext, ToolError, Tools, values,
};
use serde_json::json;

use super::{Counted, agent, effectful_search, paused, search};

fn researcher(tools: Tools, script: Vec<enact::model::ScriptStep>) -> ReAct {
    priced_researcher(tools, script, Prices::new())
}

fn priced_researcher(tools: Tools, script: Vec<enact::model::ScriptStep>, prices: Prices) -> ReAct {
    ReAct::builder("topic -> summary")
        .tools(tools)
        .model(ScriptedModel::new(script))
        .prices(prices)
        .build()
        .unwrap()
}

fn ask(topic: &str) -> enact::model::ScriptStep {
    call("research", json!({"topic": topic}))
}

fn done() -> enact::model::ScriptStep {
    call("submit", json!({"answer": "done"}))
}

#[tokio::test]
async fn the_inputs_are_the_arguments_and_the_outputs_the_observation() {
    let inner = researcher(
        Tools::new().with(search()),
        vec![
            call("search", json!({"query": "oak"})).costing(Usage::of_request(100, 10)),
            call("submit", json!({"summary": "a tree"})).costing(Usage::of_request(120, 10)),
        ],
    );
    let store = MemoryStore::new();
    let tool = AgentTool::new(inner, "research", "Finds things out.").with_store(store.clone());
    let played = agent(
        "question -> answer",
        Tools::new().with(tool),
        [ask("oak"), done()],
    );
    let outer = played.call(values! { question: "q" }).await;
    assert_eq!(outer.trajectory().steps()[0].observation, "a tree");
    let trace = outer.run().trace();
    let kinds: Vec<ActionKind> = trace
        .steps
        .iter()
        .map(|step| step.actions[0].kind)
        .collect();
    assert_eq!(kinds, [ActionKind::Delegate, ActionKind::FinalAnswer]);
    // What the inner one spent counts.
    assert_eq!(outer.usage.input_tokens, 220);
    assert_eq!(outer.run().usage().requests, 4);
    // A run of its own, linked to the call.
    let runs = store.list(&RunFilter::all()).await.unwrap();
    let inner = store.load(&runs[0].run_id).await.unwrap().run;
    let parent = inner.started().parent.clone().unwrap();
    assert_eq!(parent.run_id, outer.run().id());
    assert_eq!(parent.depth, 1);
    let called = outer.run().trace().steps[0].actions[0].call.id.clone();
    assert_eq!(parent.call_id, called);
}

#[tokio::test]
async fn when_the_inner_agent_waits_so_does_the_outer_one() {
    let count = Arc::new(AtomicUsize::new(0));
    let tools = Tools::new().with(Counted::new(
        effectful_search().require_confirmation(),
        count.clone(),
    ));
    let same = || call("search", json!({"query": "oak"}));
    let inner = researcher(
        tools,
        vec![same(), same(), call("submit", json!({"summary": "a tree"}))],
    );
    let tool = AgentTool::new(inner, "research", "Finds things out.");
    let played = agent(
        "question -> answer",
        Tools::new().with(tool),
        [ask("oak"), done()],
    );
    let first = paused(played.agent.call(values! { question: "q" }).await.unwrap());
    let question = &first.questions()[0].question;
    assert!(
        question.starts_with("research asks: Confirm execution of search"),
        "{question}"
    );
    assert_eq!(count.load(Ordering::SeqCst), 0);
    // The yes is for this call; the next one of the same kind asks again.
    let second = played.agent.resume(first).respond("yes").await.unwrap();
    let second = paused(second);
    assert_eq!(count.load(Ordering::SeqCst), 1);
    let id = second.questions()[0].confirmation_id.clone();
    let no = Decision::Answer("no".to_owned());
    let outcome = played.agent.resume(second).answer(id, no).await.unwrap();
    let outer = outcome.finished().unwrap();
    assert_eq!(count.load(Ordering::SeqCst), 1);
    assert_eq!(outer.trajectory().steps()[0].observation, "a tree");
}

#[tokio::test]
async fn after_a_crash_the_inner_run_goes_on_and_nothing_is_done_twice() {
    let count = Arc::new(AtomicUsize::new(0));
    let tools = || Tools::new().with(Counted::new(effectful_search(), count.clone()));
    let store = MemoryStore::new();
    let tool = |script| {
        AgentTool::new(researcher(tools(), script), "research", "Finds things out.")
            .with_store(store.clone())
    };
    let whole = vec![
        call("search", json!({"query": "oak"})),
        call("submit", json!({"summary": "a tree"})),
    ];
    let played = agent(
        "question -> answer",
        Tools::new().with(tool(whole)),
        [ask("oak"), done()],
    );
    let run = played.call(values! { question: "q" }).await.run().clone();
    let mut records: Vec<_> = run.into();
    let started = records
        .iter()
        .position(|record| matches!(record.event, Event::ToolStarted { .. }))
        .unwrap();
    records.truncate(started + 1);
    // The outer process ended before it heard of the inner one's answer.
    let again = agent(
        "question -> answer",
        Tools::new().with(tool(vec![])),
        [done()],
    );
    let outcome = again
        .agent
        .resume(enact::Run::try_from(records).unwrap())
        .await;
    let outer = outcome.unwrap().finished().unwrap();
    assert_eq!(outer.trajectory().steps()[0].observation, "a tree");
    assert_eq!(count.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn the_inner_agent_stays_within_what_the_outer_one_has_left() {
    let inner = researcher(
        Tools::new().with(search()),
        vec![
            call("search", json!({"query": "oak"})).costing(Usage::of_request(2_000, 100)),
            say(r#"{"reasoning": "r", "summary": "partial"}"#).costing(Usage::of_request(300, 50)),
        ],
    );
    let tool = AgentTool::new(inner, "research", "Finds things out.");
    let played = agent(
        "question -> answer",
        Tools::new().with(tool),
        [ask("oak"), done()],
    )
    .map(|agent| agent.limits(|limits| limits.token_budget = Some(6_000)));
    let outer = played.call(values! { question: "q" }).await;
    assert_eq!(outer.trajectory().steps()[0].observation, "partial");
    let usage = outer.run().usage();
    assert!(usage.input_tokens + usage.output_tokens <= 6_000);
}

#[tokio::test]
async fn agents_that_call_each_other_come_to_an_end() {
    // Nine agents, each the tool of the next.
    let mut tools = Tools::new();
    for _ in 0..9 {
        let script = vec![
            call("research", json!({"topic": "deeper"})),
            call("submit", json!({"summary": "up"})),
        ];
        let script = if tools.is_empty() {
            vec![call("submit", json!({"summary": "bottom"}))]
        } else {
            script
        };
        let model = ScriptedModel::new(script);
        model.abandon();
        let inner = ReAct::builder("topic -> summary")
            .tools(tools)
            .model(model)
            .build()
            .unwrap();
        tools = Tools::new().with(AgentTool::new(inner, "research", "Finds things out."));
    }
    let played = agent("question -> answer", tools, [ask("all"), done()]);
    let outer = played.call(values! { question: "q" }).await;
    assert!(outer.success());
    assert_eq!(outer.termination, TerminationReason::Success);
}

#[tokio::test]
async fn a_failure_of_the_inner_agent_is_an_observation() {
    let script = vec![
        call("search", json!({"query": "oak"})).costing(Usage::of_request(100, 10)),
        fail(ModelErrorKind::Authentication, "no key"),
    ];
    let inner = researcher(Tools::new().with(search()), script);
    let tool = AgentTool::new(inner, "research", "Finds things out.");
    let played = agent(
        "question -> answer",
        Tools::new().with(tool),
        [ask("oak"), done()],
    );
    let outer = played.call(values! { question: "q" }).await;
    let step = &outer.trajectory().steps()[0].clone();
    assert!(step.is_error);
    assert!(
        step.observation
            .as_str()
            .unwrap()
            .contains("came to no answer"),
        "{step:?}"
    );
    // What it spent until then counts.
    assert_eq!(outer.usage.input_tokens, 100);
}

#[tokio::test]
async fn an_agent_hands_over_by_name() {
    let research = researcher(
        Tools::new(),
        vec![call("submit", json!({"summary": "a tree"}))],
    );
    let translate = ReAct::builder("text, language -> translation")
        .model(ScriptedModel::new([call(
            "submit",
            json!({"translation": "ein Baum"}),
        )]))
        .build()
        .unwrap();
    let team = HandOver::among([
        AgentTool::new(research, "researcher", "Finds things out."),
        AgentTool::new(translate, "translator", "Translates texts."),
    ])
    .unwrap();
    let to = |name: &str, inputs| call("hand_over", json!({"agent": name, "inputs": inputs}));
    let played = agent(
        "question -> answer",
        Tools::new().with(team),
        [
            to("researcher", json!({"topic": "oak"})),
            to("poet", json!({})),
            to("translator", json!({"text": "a tree"})),
            to(
                "translator",
                json!({"text": "a tree", "language": "German"}),
            ),
            done(),
        ],
    );
    let outer = played.call(values! { question: "q" }).await;
    let steps = outer.trajectory().steps().to_vec();
    assert_eq!(steps[0].observation, "a tree");
    let refused = steps[1].observation.as_str().unwrap();
    assert!(refused.contains("researcher"), "{refused}");
    let missing = steps[2].observation.as_str().unwrap();
    assert!(missing.contains("language"), "{missing}");
    assert_eq!(steps[3].observation, "ein Baum");
    let described = played.model.requests()[0].tools.list()[0]
        .description
        .clone();
    assert!(
        described.contains(
            "- translator (text: str, language: str -> translation: str): Translates texts."
        ),
        "{described}"
    );
}

#[test]
fn two_agents_of_one_name_are_refused() {
    let one = || AgentTool::new(researcher(Tools::new(), vec![]), "researcher", "Finds.");
    let error = HandOver::among([one(), one()]).unwrap_err();
    assert!(error.to_string().contains("researcher"), "{error}");
}

/// The end of the only inner run of a store.
async fn inner_end(store: &MemoryStore) -> Option<TerminationReason> {
    let runs = store.list(&RunFilter::all()).await.unwrap();
    assert_eq!(runs.len(), 1);
    let stored = store.load(&runs[0].run_id).await.unwrap();
    stored.run.termination()
}

#[tokio::test]
async fn the_inner_run_is_cancelled_with_the_outer_one() {
    let token = CancellationToken::new();
    let cancel = token.clone();
    let stuck = FnTool::from_spec(
        ToolSpec::new("stuck", "Never ends.", json!({"type": "object"})),
        move |_, _| {
            cancel.cancel();
            std::future::pending::<Result<(), ToolError>>()
        },
    );
    let inner = researcher(Tools::new().with(stuck), vec![call("stuck", json!({}))]);
    let store = MemoryStore::new();
    let tool = AgentTool::new(inner, "research", "Finds.").with_store(store.clone());
    let played = agent(
        "question -> answer",
        Tools::new().with(HandOver::among([tool]).unwrap()),
        [call(
            "hand_over",
            json!({"agent": "research", "inputs": {"topic": "oak"}}),
        )],
    );
    let outer = played.agent.call(values! { question: "q" });
    let error = outer.cancel_with(token).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Cancelled);
    assert_eq!(inner_end(&store).await, Some(TerminationReason::Cancelled));
}

#[tokio::test]
async fn an_inner_run_that_waits_is_cancelled_with_the_outer_one() {
    // Also where a rule was set for the tool from outside.
    for is_ruled in [false, true] {
        let asking = FnTool::from_spec(
            ToolSpec::new("ask", "Asks.", json!({"type": "object"})),
            |_, context: ToolContext| async move { context.ask("Which?") },
        );
        let inner = researcher(Tools::new().with(asking), vec![call("ask", json!({}))]);
        let store = MemoryStore::new();
        let tool = AgentTool::new(inner, "research", "Finds.").with_store(store.clone());
        let mut tools = Tools::new().with(tool);
        if is_ruled {
            tools = tools
                .with_confirmation("research", Confirmation::Never)
                .unwrap();
        }
        let played = agent("question -> answer", tools, [ask("oak")]);
        let waiting = paused(played.agent.call(values! { question: "q" }).await.unwrap());
        assert_eq!(inner_end(&store).await, None);
        let token = CancellationToken::new();
        token.cancel();
        let error = played.agent.resume(waiting).cancel_with(token).await;
        assert_eq!(error.unwrap_err().kind(), ErrorKind::Cancelled);
        assert_eq!(inner_end(&store).await, Some(TerminationReason::Cancelled));
    }
}

#[tokio::test(start_paused = true)]
async fn the_inner_run_ends_when_the_call_is_out_of_time() {
    let stuck = FnTool::from_spec(
        ToolSpec::new("stuck", "Never ends.", json!({"type": "object"})),
        |_, _| std::future::pending::<Result<(), ToolError>>(),
    );
    let inner = researcher(Tools::new().with(stuck), vec![call("stuck", json!({}))]);
    let store = MemoryStore::new();
    let tool = AgentTool::new(inner, "research", "Finds.")
        .with_store(store.clone())
        .with_timeout(std::time::Duration::from_secs(5));
    let played = agent(
        "question -> answer",
        Tools::new().with(tool),
        [ask("oak"), done()],
    );
    assert!(played.call(values! { question: "q" }).await.success());
    assert_eq!(inner_end(&store).await, Some(TerminationReason::Cancelled));
}

#[tokio::test]
async fn what_the_inner_agent_costs_counts_and_is_limited() {
    let price = Price {
        input: 10.0,
        cached_input: None,
        output: 10.0,
    };
    let prices = || Prices::new().with("scripted", price);
    let inner = priced_researcher(
        Tools::new().with(search()),
        vec![
            call("search", json!({"query": "oak"})).costing(Usage::of_request(1_000, 0)),
            call("submit", json!({"summary": "a tree"})).costing(Usage::of_request(1_000, 0)),
        ],
        prices(),
    );
    let store = MemoryStore::new();
    let tool = AgentTool::new(inner, "research", "Finds.").with_store(store.clone());
    let script = [ask("oak"), done()].map(|step| step.costing(Usage::of_request(1_000, 0)));
    let played = agent("question -> answer", Tools::new().with(tool), script).map(|agent| {
        agent
            .prices(prices())
            .limits(|limits| limits.cost_budget = Some(0.5))
    });
    let outer = played.call(values! { question: "q" }).await;
    assert_eq!(outer.run().cost(), Some(0.04));
    let runs = store.list(&RunFilter::all()).await.unwrap();
    let inner = store.load(&runs[0].run_id).await.unwrap().run;
    let budget = inner.started().limits.cost_budget.unwrap();
    // What is left of it, less the final answer.
    assert!(budget > 0.4 && budget < 0.49, "{budget}");
}
