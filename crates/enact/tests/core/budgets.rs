//! Budgets: what may be spent, and that it never is more.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use enact::model::{
    Capabilities, LanguageModel, ModelInfo, Price, Prices, ReplyStream, Request, ScriptedModel,
    Usage, call, calls, say,
};
use enact::run::Event;
use enact::tool::ToolSpec;
use enact::{ErrorKind, FnTool, ReAct, TerminationReason, ToolError, Tools, values};
use futures_util::StreamExt as _;
use proptest::prelude::*;
use serde_json::json;

use super::{Counted, agent, effectful_search, search};

fn searching() -> Tools {
    Tools::new().with(search())
}

#[tokio::test]
async fn calls_over_the_budget_are_refused_and_the_others_run() {
    let count = Arc::new(AtomicUsize::new(0));
    let tools = Tools::new().with(Counted::new(effectful_search(), count.clone()));
    let played = agent(
        "question -> answer",
        tools,
        [
            calls(["a", "b", "c"].map(|query| ("search", json!({"query": query})))),
            say(r#"{"reasoning": "r", "answer": "a"}"#),
        ],
    )
    .map(|agent| agent.limits(|limits| limits.max_tool_calls = Some(2)));
    let done = played.call(values! { question: "q" }).await;
    assert_eq!(count.load(Ordering::SeqCst), 2);
    assert_eq!(done.termination, TerminationReason::ToolCallBudget);
    assert!(done.trajectory().steps()[2].is_error);
}

#[tokio::test]
async fn a_cost_limit_needs_prices() {
    let played = agent("question -> answer", searching(), [])
        .map(|agent| agent.limits(|limits| limits.cost_budget = Some(1.0)));
    let error = played
        .agent
        .call(values! { question: "q" })
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NoPrice);
}

#[tokio::test]
async fn a_budget_without_room_for_an_answer_asks_nobody() {
    let played = agent("question -> answer", searching(), [])
        .map(|agent| agent.limits(|limits| limits.token_budget = Some(100)));
    let error = played
        .agent
        .call(values! { question: "q" })
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NoAnswer);
    let run = error.into_run().unwrap();
    assert_eq!(run.termination(), Some(TerminationReason::TokenBudget));
}

/// A search that finds a text of so many characters.
fn finding(characters: usize) -> Tools {
    let spec = ToolSpec::new("search", "Looks up.", json!({"type": "object"}));
    Tools::new().with(FnTool::from_spec(spec, move |_, _| async move {
        Ok::<_, ToolError>("word ".repeat(characters / 5))
    }))
}

#[tokio::test]
async fn room_for_the_answer_is_kept_whatever_a_call_gives() {
    let played = agent(
        "question -> answer",
        finding(7_500),
        [
            call("search", json!({})).costing(Usage::of_request(300, 20)),
            say(r#"{"reasoning": "r", "answer": "from what there is"}"#)
                .costing(Usage::of_request(900, 20)),
        ],
    )
    .map(|agent| agent.limits(|limits| limits.token_budget = Some(2_600)));
    let done = played.call(values! { question: "q" }).await;
    assert_eq!(done.termination, TerminationReason::TokenBudget);
    assert_eq!(done.outputs["answer"], "from what there is");
    let asked = &played.model.requests()[1];
    let shown = asked.prompt.iter().last().unwrap().text();
    assert!(shown.contains("characters left out"), "{shown}");
}

/// A model that uses as many tokens as its prompt can have at most, and as many for its reply as
/// it is allowed, or fewer by chance.
#[derive(Debug)]
struct Spendthrift {
    shares: Vec<u64>,
    asked: AtomicUsize,
    /// Whether its answers cannot be read.
    mumbles: bool,
}

impl LanguageModel for Spendthrift {
    fn info(&self) -> ModelInfo<'_> {
        ModelInfo::new("scripted", Capabilities::FULL)
    }

    fn stream(&self, request: Request) -> ReplyStream<'_> {
        let nth = self.asked.fetch_add(1, Ordering::SeqCst);
        let share = self.shares[nth % self.shares.len()];
        let tools: usize = request
            .tools
            .list()
            .iter()
            .map(|tool| tool.description.len() + tool.parameters.to_string().len())
            .sum();
        let most = (request.prompt.bytes() + tools) as u64 / 3;
        let allowed = u64::from(request.options.max_tokens.unwrap_or(5_000));
        let usage = Usage::of_request(most * share / 100, allowed * share / 100);
        let step = if request.tools.is_empty() && self.mumbles {
            say("{")
        } else if request.tools.is_empty() {
            say(r#"{"reasoning": "r", "answer": "a"}"#)
        } else {
            call("search", json!({"query": format!("query number {nth}")}))
        };
        let model = ScriptedModel::new([step.costing(usage)]);
        Box::pin(
            futures_util::stream::once(
                async move { model.stream(request).collect::<Vec<_>>().await },
            )
            .flat_map(futures_util::stream::iter),
        )
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn promise_8_no_budget_is_ever_passed(
        shares in prop::collection::vec(0_u64..=100, 1..8),
        tokens in prop::option::of(100_u64..60_000),
        cost in prop::option::of(0.001_f64..0.5),
        calls in prop::option::of(0_u32..6),
        padding in 0_usize..3_000,
        found in 0_usize..20_000,
        judges: bool,
        condenses: bool,
        mumbles: bool,
    ) {
        let price = Price { input: 2.0, cached_input: None, output: 10.0 };
        let agent = ReAct::builder("question -> answer")
            .tools(finding(found))
            .prices(Prices::new().with("scripted", price))
            .limits(|limits| {
                limits.max_iterations = 12;
                limits.token_budget = tokens;
                limits.cost_budget = cost;
                limits.max_tool_calls = calls;
                limits.max_observation_tokens = if condenses { 1 } else { 2_000 };
            })
            .rules(|rules| {
                rules.judges = judges;
                rules.condenses = condenses;
            })
            .model(Spendthrift { shares, asked: AtomicUsize::new(0), mumbles })
            .build().unwrap();
        let question = "word ".repeat(padding / 5);
        let outcome = agent.call(values! { question: question }).blocking();
        let answered = outcome.is_ok();
        let run = match outcome {
            Ok(outcome) => outcome.run().clone(),
            Err(error) => {
                prop_assert_eq!(error.kind(), ErrorKind::NoAnswer, "{}", error);
                error.into_run().unwrap()
            }
        };
        let began = run.events().any(|event| matches!(event, Event::ToolStarted { .. }));
        prop_assert!(answered || mumbles || !began, "no room was kept for the answer");
        let usage = run.usage();
        if let Some(budget) = tokens {
            let spent = usage.input_tokens + usage.output_tokens;
            prop_assert!(spent <= budget, "{spent} of {budget} tokens");
        }
        if let Some(budget) = cost {
            let spent = run.cost().unwrap();
            prop_assert!(spent <= budget + 1e-9, "{spent} of {budget}");
        }
        if let Some(most) = calls {
            let started = run.events().filter(|event| matches!(event, Event::ToolStarted { .. }));
            prop_assert!(started.count() as u32 <= most);
        }
    }
}
