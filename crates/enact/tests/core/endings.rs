//! How runs end: every reason, in every adapter, with an answer from what there is.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use enact::model::{
    Capabilities, LanguageModel, Price, Prices, ReplyStream, Request, ScriptStep, ScriptedModel,
    Usage, call, calls, say,
};
use enact::run::{Call, Entry, Event, Limits, Notice, Rules};
use enact::{
    AdapterChoice, CancellationToken, ErrorKind, FnTool, Prediction, ReAct, TerminationReason,
    ToolContext, ToolError, Tools, Values, values,
};
use futures_util::StreamExt as _;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Counted, agent, effectful_search, search};

const ADAPTERS: [&str; 5] = ["chat", "json", "xml", "tagged", "native"];

/// An agent and what a model says that speaks the language of its adapter.
struct Speaking {
    agent: ReAct,
    adapter: &'static str,
}

impl Speaking {
    fn new(adapter: &'static str, tools: Tools) -> Self {
        let choice: AdapterChoice = adapter.parse().unwrap();
        let agent = ReAct::dynamic("question -> answer", tools)
            .unwrap()
            .with_adapter(choice);
        Self { agent, adapter }
    }

    fn said(&self, predictor: usize, entry: &Entry) -> ScriptStep {
        let choice: AdapterChoice = self.adapter.parse().unwrap();
        let words = choice.resolve(Capabilities::TEXT);
        let task = self.agent.predictors()[predictor].1.task().clone();
        say(words.render(&task, entry)[0].text())
    }

    fn step(&self, thought: &str, name: &str, args: Values) -> ScriptStep {
        if self.adapter == "native" {
            return calls([(name, Value::Object(args))]).thinking(thought);
        }
        let call = Call {
            id: String::new(),
            name: name.to_owned(),
            args,
            raw: None,
        };
        let entry = Entry::Assistant {
            text: thought.to_owned(),
            calls: vec![call],
            opaque: None,
        };
        self.said(0, &entry)
    }

    fn search(&self, query: &str) -> ScriptStep {
        self.step("I search.", "search", values! { query: query })
    }

    fn answer(&self, answer: &str) -> ScriptStep {
        let entry = Entry::Outputs {
            values: values! { reasoning: "from what there is", answer: answer },
            thought: String::new(),
            call_id: None,
        };
        self.said(1, &entry)
    }

    fn with(self, change: impl FnOnce(ReAct) -> ReAct) -> Self {
        Self {
            agent: change(self.agent),
            ..self
        }
    }

    async fn play(&self, script: Vec<ScriptStep>) -> Prediction<Values> {
        let model = Arc::new(ScriptedModel::new(script));
        let agent = self.agent.clone().with_model(model.clone());
        let outcome = agent.call(values! { question: "q" }).await;
        model.abandon();
        let done = outcome
            .unwrap_or_else(|error| panic!("{}: {error}", self.adapter))
            .finished()
            .unwrap();
        assert_eq!(model.requests().len() as u64, done.usage.requests);
        done
    }
}

fn searching() -> Tools {
    Tools::new().with(search())
}

/// A partial answer with the right reason, and the work that was done.
fn ended(done: &Prediction<Values>, reason: TerminationReason, steps: usize) {
    assert_eq!(done.termination, reason);
    assert_eq!(done.success(), reason == TerminationReason::Success);
    assert_eq!(done.outputs["answer"], "partial");
    assert_eq!(done.trajectory().steps().len(), steps);
    let trace = done.run().trace();
    assert_eq!(trace.termination_reason, Some(reason));
    assert_eq!(trace.success, done.success());
    assert_eq!(trace.total_iterations, steps);
}

fn usage(step: ScriptStep) -> ScriptStep {
    step.costing(Usage::of_request(10_000, 1_000))
}

#[tokio::test]
async fn every_reason_in_every_adapter() {
    for adapter in ADAPTERS {
        let speaking = || Speaking::new(adapter, searching());
        let limits = |change: fn(&mut Limits)| speaking().with(|agent| agent.with_limits(change));
        let rules = |change: fn(&mut Rules)| speaking().with(|agent| agent.with_rules(change));

        let agent = limits(|limits| limits.max_iterations = 2);
        let script = vec![
            agent.search("a"),
            agent.search("b"),
            agent.answer("partial"),
        ];
        ended(
            &agent.play(script).await,
            TerminationReason::MaxIterations,
            2,
        );

        let agent = limits(|limits| limits.max_tool_calls = Some(2));
        let script = vec![
            agent.search("a"),
            agent.search("b"),
            agent.answer("partial"),
        ];
        ended(
            &agent.play(script).await,
            TerminationReason::ToolCallBudget,
            2,
        );

        let agent = limits(|limits| limits.token_budget = Some(40_000));
        let mut script: Vec<_> = ["a", "b"].map(|query| usage(agent.search(query))).into();
        script.push(usage(agent.answer("partial")));
        ended(&agent.play(script).await, TerminationReason::TokenBudget, 2);

        let agent = limits(|limits| limits.cost_budget = Some(40.0)).with(|agent| {
            let price = Price {
                input: 1_000.0,
                cached_input: None,
                output: 1_000.0,
            };
            agent.with_prices(Prices::new().with("scripted", price))
        });
        let mut script: Vec<_> = ["a", "b"].map(|query| usage(agent.search(query))).into();
        script.push(usage(agent.answer("partial")));
        let done = agent.play(script).await;
        ended(&done, TerminationReason::CostBudget, 2);
        assert!(done.run().cost().unwrap() <= 40.0);

        let agent = limits(|limits| limits.stall_threshold = 2);
        let script = vec![
            agent.search("the very same"),
            agent.search("The very same!"),
            agent.search("the  very same?"),
            agent.answer("partial"),
        ];
        ended(&agent.play(script).await, TerminationReason::Stalled, 3);

        let agent = rules(|rules| rules.success_phrases = vec!["I have it".to_owned()]);
        let script = vec![
            agent.step("i HAVE it now", "search", values! { query: "a" }),
            agent.answer("partial"),
        ];
        ended(&agent.play(script).await, TerminationReason::Success, 1);

        let agent = rules(|rules| rules.failure_phrases = vec!["hopeless".to_owned()]);
        let script = vec![
            agent.step("This is hopeless.", "search", values! { query: "a" }),
            agent.answer("partial"),
        ];
        ended(&agent.play(script).await, TerminationReason::Failure, 1);

        let agent = speaking().with(|agent| {
            agent.ending_when(|step| {
                let seen = step.actions[0].observation.as_ref().unwrap();
                seen.text().contains("FOUND")
            })
        });
        let script = vec![
            agent.search("a"),
            agent.search("FOUND"),
            agent.answer("partial"),
        ];
        ended(&agent.play(script).await, TerminationReason::Custom, 2);

        let agent = limits(|limits| limits.max_repairs = 0);
        let mut wrong = agent.step("I try.", "no_such_tool", values! {});
        if adapter == "tagged" {
            wrong = say("Thought: I try.\nAction: no_such_tool[]");
        }
        let done = agent.play(vec![wrong, agent.answer("partial")]).await;
        assert_eq!(done.termination, TerminationReason::Failure);
        assert_eq!(done.outputs["answer"], "partial");
    }
}

#[tokio::test(start_paused = true)]
async fn time_runs_out_for_tools_and_models_and_the_answer_still_comes() {
    for adapter in ADAPTERS {
        let slow = FnTool::new(
            "search",
            "Takes long.",
            |_: Anything, _: ToolContext| async {
                tokio::time::sleep(Duration::from_secs(3_600)).await;
                Ok::<_, ToolError>("late")
            },
        )
        .timeout(Duration::from_secs(7_200));
        let agent = Speaking::new(adapter, Tools::new().with(slow)).with(|agent| {
            agent.with_limits(|limits| limits.time_budget = Some(Duration::from_secs(10)))
        });
        let began = tokio::time::Instant::now();
        let done = agent
            .play(vec![agent.search("a"), agent.answer("partial")])
            .await;
        ended(&done, TerminationReason::Timeout, 1);
        assert!(done.trajectory().steps()[0].is_error);
        assert!(began.elapsed() <= Duration::from_secs(10), "{adapter}");
    }
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Anything {
    #[serde(rename = "query")]
    _query: String,
}

/// A model that answers in its own time.
#[derive(Debug)]
struct Slow(ScriptedModel, Duration);

impl LanguageModel for Slow {
    fn name(&self) -> &str {
        "slow"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::FULL
    }

    fn stream(&self, request: Request) -> ReplyStream<'_> {
        let wait = self.1;
        Box::pin(
            futures_util::stream::once(async move { tokio::time::sleep(wait).await })
                .flat_map(move |()| self.0.stream(request.clone())),
        )
    }
}

#[tokio::test(start_paused = true)]
async fn a_model_that_takes_too_long_is_not_waited_for() {
    let script = ScriptedModel::new([call("search", json!({"query": "a"}))]);
    script.abandon();
    let model = Slow(script, Duration::from_secs(60));
    let agent = ReAct::dynamic("question -> answer", searching())
        .unwrap()
        .with_limits(|limits| limits.time_budget = Some(Duration::from_secs(10)))
        .with_model(model);
    let began = tokio::time::Instant::now();
    let error = agent.call(values! { question: "q" }).await.unwrap_err();
    // The steps had 8 seconds, the answer the other 2.
    assert_eq!(began.elapsed(), Duration::from_secs(10));
    assert_eq!(error.kind(), ErrorKind::NoAnswer);
    let run = error.into_run().unwrap();
    assert_eq!(run.termination(), Some(TerminationReason::Timeout));
}

#[tokio::test]
async fn a_cancelled_run_keeps_what_it_has() {
    let token = CancellationToken::new();
    let stop = token.clone();
    let played = agent(
        "question -> answer",
        searching(),
        [call("search", json!({"query": "a"}))],
    );
    let call = played.agent.call(values! { question: "q" });
    let call = call.cancel_with(token).on_update(move |update| {
        if let enact::Update::Recorded(record) = update
            && matches!(record.event, Event::ToolFinished { .. })
        {
            stop.cancel();
        }
    });
    let error = call.await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Cancelled);
    let trace = error.run().unwrap().trace();
    assert_eq!(trace.termination_reason, Some(TerminationReason::Cancelled));
    assert_eq!(
        trace.steps[0].actions[0]
            .observation
            .as_ref()
            .unwrap()
            .text(),
        "about a"
    );
}

fn notices(done: &Prediction<Values>) -> Vec<(Notice, String)> {
    let events = done.run().events();
    events
        .filter_map(|event| match event {
            Event::Noticed { about, text } => Some((*about, text.clone())),
            _ => None,
        })
        .collect()
}

#[tokio::test]
async fn lesson_a_stall_is_warned_of_and_a_change_of_course_is_progress() {
    let same = || call("search", json!({"query": "x"}));
    let played = agent(
        "question -> answer",
        searching(),
        [
            same(),
            same(),
            same(),
            call("search", json!({"query": "something else"})),
            same(),
            same(),
            call("submit", json!({"answer": "a"})),
        ],
    );
    let done = played.call(values! { question: "q" }).await;
    assert!(done.success());
    let stalls = notices(&done);
    let stalls: Vec<_> = stalls
        .iter()
        .filter(|(about, _)| *about == Notice::Stall)
        .collect();
    assert_eq!(stalls.len(), 1, "{stalls:?}");
    // The model has read the warning.
    let requests = played.model.requests();
    let last = requests[3].prompt.iter().last().unwrap().text();
    assert!(last.contains("brought nothing new"), "{last}");
}

#[tokio::test]
async fn what_changes_the_world_stalls_only_when_it_is_the_very_same() {
    let write = |n: i64| {
        call(
            "search",
            json!({"query": format!("line of a long text no {}", "x".repeat(n as usize))}),
        )
    };
    let tool = || {
        Tools::new().with(FnTool::new(
            "search",
            "Appends.",
            |_: Anything, _: ToolContext| async { Ok::<_, ToolError>("appended") },
        ))
    };
    let played = agent(
        "question -> answer",
        tool(),
        (1..6)
            .map(write)
            .chain([call("submit", json!({"answer": "a"}))]),
    );
    assert!(played.call(values! { question: "q" }).await.success());
    let played = agent(
        "question -> answer",
        tool(),
        (0..4)
            .map(|_| write(1))
            .chain([say(r#"{"reasoning": "r", "answer": "a"}"#)]),
    );
    let done = played.call(values! { question: "q" }).await;
    assert_eq!(done.termination, TerminationReason::Stalled);
}

#[tokio::test]
async fn the_same_failure_again_is_told() {
    let played = agent(
        "question -> answer",
        Tools::new().with(super::failing()),
        [
            call("failing_tool", json!({})),
            call("failing_tool", json!({})),
            call("submit", json!({"answer": "a"})),
        ],
    );
    let done = played.call(values! { question: "q" }).await;
    let told = notices(&done);
    assert_eq!(told[0].0, Notice::RepeatedFailure);
    assert!(
        told[0].1.contains("`failing_tool` failed before"),
        "{told:?}"
    );
}

#[tokio::test]
async fn a_read_whose_answer_is_known_is_answered_from_the_record() {
    let run = |change: fn(ReAct) -> ReAct, tool: fn(FnTool) -> FnTool, between: bool| async move {
        let count = Arc::new(AtomicUsize::new(0));
        let tools = Tools::new()
            .with(Counted::new(tool(search()), count.clone()))
            .with(FnTool::new(
                "write",
                "Writes.",
                |_: Anything, _: ToolContext| async { Ok::<_, ToolError>("written") },
            ));
        let mut script = vec![call("search", json!({"query": "x"}))];
        if between {
            script.push(call("write", json!({"query": "y"})));
        }
        script.push(call("search", json!({"query": "x"})));
        script.push(call("submit", json!({"answer": "a"})));
        let played = agent("question -> answer", tools, script).map(change);
        let done = played.call(values! { question: "q" }).await;
        (count.load(Ordering::SeqCst), done)
    };
    let (count, done) = run(|agent| agent, |tool| tool, false).await;
    assert_eq!(count, 1);
    let trace = done.run().trace();
    assert!(trace.steps[1].actions[0].from_record);
    assert_eq!(
        trace.steps[1].actions[0]
            .observation
            .as_ref()
            .unwrap()
            .text(),
        "about x"
    );
    assert_eq!(notices(&done)[0].0, Notice::RepeatedCall);
    // Not after something may have changed, not for answers that change by themselves, not if one
    // does not want it.
    assert_eq!(run(|agent| agent, |tool| tool, true).await.0, 2);
    assert_eq!(run(|agent| agent, FnTool::volatile, false).await.0, 2);
    let again = |agent: ReAct| agent.with_rules(|rules| rules.reads_again = true);
    assert_eq!(run(again, |tool| tool, false).await.0, 2);
}

#[tokio::test]
async fn lesson_the_model_is_told_when_a_limit_is_near() {
    let steps = (0..9).map(|n| call("search", json!({"query": format!("q {n}")})));
    let played = agent(
        "question -> answer",
        searching(),
        steps.chain([call("submit", json!({"answer": "a"}))]),
    );
    let done = played.call(values! { question: "q" }).await;
    let told = notices(&done);
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].1.contains("at most 2 steps left"), "{told:?}");
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
    .map(|agent| agent.with_limits(|limits| limits.max_tool_calls = Some(2)));
    let done = played.call(values! { question: "q" }).await;
    assert_eq!(count.load(Ordering::SeqCst), 2);
    assert_eq!(done.termination, TerminationReason::ToolCallBudget);
    assert!(done.trajectory().steps()[2].is_error);
}

#[tokio::test]
async fn a_cost_limit_needs_prices() {
    let played = agent("question -> answer", searching(), [])
        .map(|agent| agent.with_limits(|limits| limits.cost_budget = Some(1.0)));
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
        .map(|agent| agent.with_limits(|limits| limits.token_budget = Some(100)));
    let error = played
        .agent
        .call(values! { question: "q" })
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NoAnswer);
    let run = error.into_run().unwrap();
    assert_eq!(run.termination(), Some(TerminationReason::TokenBudget));
}

/// A model that uses as many tokens as its prompt can have at most, and as many for its reply as
/// it is allowed, or fewer by chance.
#[derive(Debug)]
struct Spendthrift {
    shares: Vec<u64>,
    asked: AtomicUsize,
}

impl LanguageModel for Spendthrift {
    fn name(&self) -> &str {
        "scripted"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::FULL
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
        let step = if request.tools.is_empty() {
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
    ) {
        let price = Price { input: 2.0, cached_input: None, output: 10.0 };
        let agent = ReAct::dynamic("question -> answer", searching())
            .unwrap()
            .with_prices(Prices::new().with("scripted", price))
            .with_limits(|limits| {
                limits.max_iterations = 12;
                limits.token_budget = tokens;
                limits.cost_budget = cost;
                limits.max_tool_calls = calls;
            })
            .with_model(Spendthrift { shares, asked: AtomicUsize::new(0) });
        let question = "word ".repeat(padding / 5);
        let outcome = agent.call(values! { question: question }).blocking();
        let run = match outcome {
            Ok(outcome) => outcome.run().clone(),
            Err(error) => {
                prop_assert_eq!(error.kind(), ErrorKind::NoAnswer, "{}", error);
                error.into_run().unwrap()
            }
        };
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
