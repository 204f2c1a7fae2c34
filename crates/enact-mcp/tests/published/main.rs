//! Servers that nobody here wrote, each driven end to end by an agent.

#![cfg(unix)]
#![expect(
    clippy::expect_used,
    clippy::panic,
    reason = "test code outside of test functions"
)]

mod everything;
mod place;
mod reference;

use enact::model::{ScriptStep, ScriptedModel, call};
use enact::{Outcome, ReAct, Tools, Values};
use serde_json::{Value, json};

/// An agent that makes these calls, one a step, and then says that it is done. The script panics
/// at the end if calls are left over.
fn agent(tools: Tools, script: impl IntoIterator<Item = ScriptStep>) -> ReAct {
    let done = call("submit", json!({"report": "done"}));
    let model = ScriptedModel::new(script.into_iter().chain([done]));
    ReAct::builder("task -> report")
        .tools(tools)
        .model(model)
        .build()
        .expect("the tools can be used")
}

fn task() -> Values {
    enact::values! { task: "Do it." }
}

/// What the calls of a run gave, in order.
fn observations(outcome: Outcome<Values>) -> Vec<Value> {
    let Outcome::Finished(prediction) = outcome else {
        panic!("it waits for a person: {outcome:?}")
    };
    assert!(prediction.success());
    let trajectory = prediction.trajectory();
    let steps = trajectory.steps().iter();
    steps
        .filter(|step| step.tool_name != "submit")
        .map(|step| step.observation.clone())
        .collect()
}
