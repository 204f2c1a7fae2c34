//! How runs end: every reason, in every adapter, with an answer from what there is.

use std::sync::Arc;
use std::time::Duration;

use enact::model::{
    Capabilities, LanguageModel, ModelInfo, Price, Prices, ReplyStream, Request, ScriptStep,
    ScriptedModel, Usage, call, calls, say,
};
use enact::run::{Call, Entry, Event, Limits, Rules};
use enact::{
    AdapterChoice, Builder, CancellationToken, ErrorKind, FnTool, Module, Prediction, ReAct,
    TerminationReason, ToolContext, ToolError, Tools, Values, values,
};
use futures_util::StreamExt as _;
use serde_json::{Value, json};

use super::{agent, search};

const ADAPTERS: [&str; 5] = ["chat", "json", "xml", "tagged", "native"];

/// An agent and what a model says that speaks the language of its adapter.
struct Speaking {
    builder: Builder<ReAct>,
    adapter: &'static str,
}

impl Speaking {
    fn new(adapter: &'static str, tools: Tools) -> Self {
        let choice: AdapterChoice = adapter.parse().unwrap();
        let builder = ReAct::builder("question -> answer")
            .tools(tools)
            .adapter(choice);
        Self { builder, adapter }
    }

    fn said(&self, predictor: usize, entry: &Entry) -> ScriptStep {
        let choice: AdapterChoice = self.adapter.parse().unwrap();
        let words = choice.resolve(Capabilities::TEXT);
        let agent = self.builder.clone().build().unwrap();
        let task = agent.predictors()[predictor].1.task().clone();
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
            calls: vec![call.into()],
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

    fn with(self, change: impl FnOnce(Builder<ReAct>) -> Builder<ReAct>) -> Self {
        Self {
            builder: change(self.builder),
            ..self
        }
    }

    async fn play(&self, script: Vec<ScriptStep>) -> Prediction<Values> {
        let model = Arc::new(ScriptedModel::new(script));
        let agent = self.builder.clone().model(model.clone()).build().unwrap();
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
        let limits = |change: fn(&mut Limits)| speaking().with(|agent| agent.limits(change));
        let rules = |change: fn(&mut Rules)| speaking().with(|agent| agent.rules(change));

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
            agent.prices(Prices::new().with("scripted", price))
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
            agent.search("THE very same"),
            agent.answer("partial"),
        ];
        ended(&agent.play(script).await, TerminationReason::Stalled, 4);

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
            agent.limits(|limits| limits.time_budget = Some(Duration::from_secs(10)))
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
    fn info(&self) -> ModelInfo<'_> {
        ModelInfo::new("slow", Capabilities::FULL)
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
    let agent = ReAct::builder("question -> answer")
        .tools(searching())
        .limits(|limits| limits.time_budget = Some(Duration::from_secs(10)))
        .model(model)
        .build()
        .unwrap();
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
        if let enact::Update::Recorded { record } = update
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
