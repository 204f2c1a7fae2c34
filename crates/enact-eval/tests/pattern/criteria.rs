//! The success criteria, measured on runs of agents as an evaluation does it.

use std::time::Duration;

use enact::model::{LanguageModel, ModelInfo, ReplyStream, Request, ScriptStep};
use enact::{Run, TerminationReason, Tools};
use enact_eval::Trial;
use enact_eval::criteria::{Criterion, criteria};
use enact_eval::dataset::Example;
use futures_util::StreamExt as _;

use crate::scripted::{answers, failing, looks, question, search, submits, with_tools};
use crate::{Row, rows};

pub(crate) fn rows() -> Vec<Row> {
    rows! { "success criteria":
        "reasoning coherence in 90 % or more of the steps" => coherence,
        "termination accuracy in 95 % or more of the runs" => termination,
        "trace completeness of all steps" => completeness,
        "error recovery in 80 % or more of the cases" => recovery,
        "iteration efficiency below 50 % on average" => efficiency,
    }
}

/// A model that takes a moment, so that its replies have a duration.
#[derive(Debug)]
struct Unhurried(std::sync::Arc<enact::model::ScriptedModel>);

impl LanguageModel for Unhurried {
    fn info(&self) -> ModelInfo<'_> {
        self.0.info()
    }

    fn stream(&self, request: Request) -> ReplyStream<'_> {
        let pause = futures_util::stream::once(tokio::time::sleep(Duration::from_millis(100)));
        Box::pin(pause.flat_map(move |()| self.0.stream(request.clone())))
    }
}

async fn run(tools: Tools, script: Vec<ScriptStep>) -> Run {
    let agent = with_tools(tools, script);
    let unhurried = agent
        .builder
        .model(Unhurried(agent.model.clone()))
        .build()
        .unwrap();
    let outcome = unhurried.call(question()).await.unwrap();
    outcome.finished().unwrap().run().clone()
}

async fn searches(script: Vec<ScriptStep>) -> Trial {
    trial(run(Tools::new().with(search()), script).await, None)
}

fn trial(run: Run, termination: Option<TerminationReason>) -> Trial {
    let example = Example {
        id: "e".to_owned(),
        inputs: question(),
        expected: None,
        termination,
    };
    Trial::of(&example, &run)
}

fn measured(trials: &[Trial], name: &str) -> Criterion {
    let all = criteria(trials);
    all.into_iter().find(|one| one.name == name).unwrap()
}

/// Whether a criterion is met, and by which share.
fn judged(trials: &[Trial], name: &str) -> (Option<f64>, Option<bool>) {
    let one = measured(trials, name);
    (one.value, one.is_met)
}

async fn coherence() {
    let coherent: Vec<_> = (0..9)
        .map(|number| looks(&format!("tree {number}")))
        .collect();
    let off_topic = looks("oak").thinking("The weather is fine today.");
    let with = |steps: &[ScriptStep]| {
        let mut script = steps.to_vec();
        script.push(submits("a tree"));
        script
    };
    let nine_of_ten = [
        searches(with(&coherent)).await,
        searches(with(std::slice::from_ref(&off_topic))).await,
    ];
    let name = "reasoning coherence";
    assert_eq!(judged(&nine_of_ten, name), (Some(0.9), Some(true)));
    let one_of_two = searches(with(&[coherent[0].clone(), off_topic])).await;
    assert_eq!(judged(&[one_of_two], name), (Some(0.5), Some(false)));
}

async fn termination() {
    let name = "termination accuracy";
    let expected = |reason| async move {
        let script = vec![looks("oak"), submits("a tree")];
        trial(run(Tools::new().with(search()), script).await, Some(reason))
    };
    let mut trials = Vec::new();
    for _ in 0..19 {
        trials.push(expected(TerminationReason::Success).await);
    }
    trials.push(expected(TerminationReason::Stalled).await);
    assert_eq!(judged(&trials, name), (Some(0.95), Some(true)));
    trials.push(expected(TerminationReason::Timeout).await);
    assert_eq!(measured(&trials, name).is_met, Some(false));
}

async fn completeness() {
    let name = "trace completeness";
    let whole = searches(vec![looks("oak"), submits("a tree")]).await;
    assert_eq!(judged(&[whole], name), (Some(1.0), Some(true)));
    // A reply of which nobody knows what it cost is not complete.
    let costless = |step: ScriptStep| step.costing(enact::model::Usage::default());
    let agent = with_tools(Tools::new().with(search()), []);
    for step in [costless(looks("oak")), costless(submits("a tree"))] {
        agent.model.push(step);
    }
    let unhurried = agent
        .builder
        .model(Unhurried(agent.model.clone()))
        .build()
        .unwrap();
    let outcome = unhurried.call(question()).await.unwrap();
    let trial = trial(outcome.run().clone(), None);
    assert_eq!(judged(&[trial], name), (Some(0.0), Some(false)));
}

async fn recovery() {
    let name = "error recovery";
    let tools = || Tools::new().with(failing("archive")).with(search());
    let fails = || {
        let args = serde_json::json!({"query": "oak"});
        enact::model::call("archive", args).thinking("The archive may know of oak.")
    };
    let recovers = run(tools(), vec![fails(), looks("oak"), submits("a tree")]).await;
    let stalls = std::iter::repeat_with(fails).take(5);
    let stalls = stalls.chain([answers("partly")]).collect();
    let stalls = run(tools(), stalls).await;
    let recovered = trial(recovers, None);
    let mut trials = vec![recovered.clone(); 4];
    trials.push(trial(stalls, None));
    assert_eq!(judged(&trials, name), (Some(0.8), Some(true)));
    assert_eq!(judged(&trials[4..], name), (Some(0.0), Some(false)));
}

async fn efficiency() {
    let name = "iteration efficiency";
    let quick = searches(vec![looks("oak"), submits("a tree")]).await;
    assert_eq!(
        judged(std::slice::from_ref(&quick), name),
        (Some(0.2), Some(true))
    );
    let mut script: Vec<_> = (0..9)
        .map(|number| looks(&format!("tree {number}")))
        .collect();
    script.push(submits("a tree"));
    let slow = searches(script).await;
    assert_eq!(judged(&[quick, slow], name).1, Some(false));
}
