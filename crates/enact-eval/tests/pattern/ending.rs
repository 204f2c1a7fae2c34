//! The conditions for early termination, and the reasons for ending.

use std::time::Duration;

use enact::model::{Capabilities, LanguageModel, ModelInfo, ReplyStream, Request, Usage};
use enact::run::{Event, Rules};
use enact::{
    Builder, CancellationToken, ErrorKind, FnTool, ReAct, Run, TerminationReason, ToolError, Tools,
    Update,
};
use futures_util::StreamExt as _;

use crate::scripted::{answers, looks, question, scripted, search, submits, with_tools};
use crate::{Row, rows};

pub(crate) fn rows() -> Vec<Row> {
    let mut all = rows! { "early termination":
        "success detection by phrases" => success_phrases,
        "failure detection by phrases" => failure_phrases,
        "no progress" => no_progress,
        "token budget" => token_budget,
        "time budget, of tools" => time_budget_of_tools,
        "time budget, of models" => time_budget_of_models,
        "custom condition" => custom_condition,
    };
    all.extend(rows! { "termination reasons":
        "success" => success,
        "max_iterations" => max_iterations,
        "failure" => failure,
        "stalled" => stalled,
        "token_budget" => token_budget_is_a_reason,
        "timeout" => timeout,
        "cancelled" => cancelled,
        "custom" => custom,
    });
    all
}

/// The run of an agent that ends before it has answered by itself.
async fn ends(agent: &crate::scripted::Scripted) -> Run {
    let done = agent.run().await;
    assert_eq!(done.outputs["answer"], "partly");
    assert!(done.run().outputs().is_some());
    done.run().clone()
}

/// Whether a run says of its ending what it should, in every place where it says it.
fn says(run: &Run, reason: TerminationReason, name: &str) {
    assert_eq!(run.termination(), Some(reason));
    assert_eq!(reason.as_str(), name);
    let trace = run.trace();
    assert_eq!(trace.termination_reason, Some(reason));
    assert_eq!(trace.success, reason == TerminationReason::Success);
    assert_eq!(serde_json::to_value(reason).unwrap(), name);
}

fn ruled(change: impl FnOnce(&mut Rules)) -> impl FnOnce(Builder<ReAct>) -> Builder<ReAct> {
    |agent| agent.rules(change)
}

async fn successful() -> Run {
    let agent = scripted([
        looks("oak").thinking("One search, then I Have It."),
        answers("partly"),
    ]);
    let agent = agent.with(ruled(|rules| {
        rules.success_phrases = vec!["i have it".to_owned(), "all done".to_owned()];
    }));
    ends(&agent).await
}

async fn success_phrases() {
    let run = successful().await;
    assert_eq!(run.termination(), Some(TerminationReason::Success));
    // What the agent was about to do still happened.
    assert_eq!(run.trajectory().steps()[0].observation, "about oak");
}

async fn hopeless() -> Run {
    let agent = scripted([
        looks("oak").thinking("This is hopeless."),
        answers("partly"),
    ]);
    let agent = agent.with(ruled(|rules| {
        rules.failure_phrases = vec!["hopeless".to_owned()];
    }));
    ends(&agent).await
}

async fn failure_phrases() {
    let run = hopeless().await;
    assert_eq!(run.termination(), Some(TerminationReason::Failure));
}

async fn circling() -> Run {
    let agent = scripted([
        looks("height of an oak"),
        looks("Height of an oak?"),
        looks("height of an  oak"),
        looks("HEIGHT of an oak"),
        answers("partly"),
    ]);
    let agent = agent.with(|agent| agent.limits(|limits| limits.stall_threshold = 2));
    ends(&agent).await
}

async fn no_progress() {
    let run = circling().await;
    assert_eq!(run.termination(), Some(TerminationReason::Stalled));
    // The model was warned first.
    let trace = run.trace();
    assert!(trace.steps[2].notices[0].contains("brought nothing new"));
    assert_eq!(trace.total_iterations, 4);
    // Similar, not just equal, and something else in between is progress.
    let agent = scripted([
        looks("oak"),
        looks("oak"),
        looks("elm"),
        looks("elm"),
        submits("a tree"),
    ])
    .with(|agent| agent.limits(|limits| limits.stall_threshold = 2));
    assert!(agent.run().await.success());
}

async fn spendthrift() -> Run {
    let costly = |query| looks(query).costing(Usage::of_request(10_000, 1_000));
    let agent = with_tools(Tools::new().with(search()), []);
    for step in [costly("oak"), costly("elm"), answers("partly")] {
        agent.model.push(step);
    }
    let agent = agent.with(|agent| agent.limits(|limits| limits.token_budget = Some(40_000)));
    ends(&agent).await
}

async fn token_budget() {
    let run = spendthrift().await;
    assert_eq!(run.termination(), Some(TerminationReason::TokenBudget));
    let usage = run.usage();
    assert!(usage.input_tokens + usage.output_tokens <= 40_000);
}

fn sleepy() -> FnTool {
    let spec = enact::Tool::spec(&search()).clone();
    FnTool::from_spec(
        spec.with_timeout(Duration::from_secs(7_200)),
        |_, _| async {
            tokio::time::sleep(Duration::from_secs(3_600)).await;
            Ok::<_, ToolError>("late")
        },
    )
}

async fn slow() -> Run {
    let agent = with_tools(
        Tools::new().with(sleepy()),
        [looks("oak"), answers("partly")],
    );
    let agent = agent
        .with(|agent| agent.limits(|limits| limits.time_budget = Some(Duration::from_secs(10))));
    ends(&agent).await
}

async fn time_budget_of_tools() {
    let began = tokio::time::Instant::now();
    let run = slow().await;
    assert_eq!(run.termination(), Some(TerminationReason::Timeout));
    assert!(began.elapsed() <= Duration::from_secs(10));
}

/// A model that answers in its own time.
#[derive(Debug)]
struct Slow(std::sync::Arc<enact::model::ScriptedModel>);

impl LanguageModel for Slow {
    fn info(&self) -> ModelInfo<'_> {
        ModelInfo::new("slow", Capabilities::FULL)
    }

    fn stream(&self, request: Request) -> ReplyStream<'_> {
        let pause = futures_util::stream::once(tokio::time::sleep(Duration::from_secs(60)));
        Box::pin(pause.flat_map(move |()| self.0.stream(request.clone())))
    }
}

async fn time_budget_of_models() {
    let agent = scripted([]);
    let slow = agent
        .builder
        .model(Slow(agent.model.clone()))
        .limits(|limits| limits.time_budget = Some(Duration::from_secs(10)))
        .build()
        .unwrap();
    let began = tokio::time::Instant::now();
    let error = slow.call(question()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NoAnswer);
    assert_eq!(began.elapsed(), Duration::from_secs(10));
    let run = error.into_run().unwrap();
    assert_eq!(run.termination(), Some(TerminationReason::Timeout));
}

/// The custom termination of the pattern's own example.
async fn found() -> Run {
    let agent = scripted([looks("oak"), looks("FOUND: oak"), answers("partly")]);
    let agent = agent.with(|agent| {
        agent.max_iterations(20).ending_when(|step| {
            let seen = step
                .actions
                .iter()
                .filter_map(|one| one.observation.as_ref());
            seen.into_iter().any(|one| one.text().contains("FOUND:"))
        })
    });
    ends(&agent).await
}

async fn custom_condition() {
    let run = found().await;
    assert_eq!(run.termination(), Some(TerminationReason::Custom));
    assert_eq!(run.trace().total_iterations, 2);
}

async fn success() {
    let agent = scripted([looks("oak"), submits("a tree")]);
    let done = agent.run().await;
    says(done.run(), TerminationReason::Success, "success");
    says(&successful().await, TerminationReason::Success, "success");
}

async fn max_iterations() {
    let agent = scripted([looks("oak"), answers("partly")]).with(|agent| agent.max_iterations(1));
    let reason = TerminationReason::MaxIterations;
    says(&ends(&agent).await, reason, "max_iterations");
}

async fn failure() {
    says(&hopeless().await, TerminationReason::Failure, "failure");
}

async fn stalled() {
    says(&circling().await, TerminationReason::Stalled, "stalled");
}

async fn token_budget_is_a_reason() {
    let reason = TerminationReason::TokenBudget;
    says(&spendthrift().await, reason, "token_budget");
}

async fn timeout() {
    says(&slow().await, TerminationReason::Timeout, "timeout");
}

async fn cancelled() {
    let token = CancellationToken::new();
    let stop = token.clone();
    let agent = scripted([looks("oak")]);
    let call = agent.agent.call(question()).cancel_with(token);
    let call = call.on_update(move |update| {
        if let Update::Recorded { record } = update
            && matches!(record.event, Event::ToolFinished { .. })
        {
            stop.cancel();
        }
    });
    let error = call.await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Cancelled);
    let run = error.into_run().unwrap();
    says(&run, TerminationReason::Cancelled, "cancelled");
    assert_eq!(run.trajectory().steps()[0].observation, "about oak");
}

async fn custom() {
    says(&found().await, TerminationReason::Custom, "custom");
}
