//! The one place where tools are executed.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use tokio::time::Instant;

use super::{Update, World, spans};
use crate::model::Usage;
use crate::react::ToolCall;
use crate::run::{Call, Observation, Run};
use crate::tool::{Tool, ToolContext, ToolError, ToolOutput};

/// What came of a call.
pub(super) enum Outcome {
    /// It is over.
    Finished {
        call_id: String,
        observation: Observation,
        duration: Duration,
        usage: Usage,
        cost: f64,
    },
    /// It wants to know something from a person first.
    Asks { call_id: String, question: String },
}

/// How long a tool may take to let go of a call.
const LETTING_GO: Duration = Duration::from_secs(10);

/// What a tool is told about a call.
fn context(world: &World, run: &Run, planned: &ToolCall) -> ToolContext {
    let mut context =
        ToolContext::detached(planned.call.id.clone()).with_secrets(world.secrets.clone());
    context.run_id = run.id().to_owned();
    let parent = run.started().parent.as_ref();
    context.depth = parent.map_or(0, |parent| parent.depth);
    context.tokens_left = planned.tokens_left;
    context.money_left = planned.money_left;
    context.idempotency_key = planned.idempotency_key.clone();
    context.cancellation = world.cancellation.child_token();
    for (question, answer) in &planned.answers {
        context = context.with_answer(question.clone(), answer.clone());
    }
    match world.listener.clone() {
        Some(listener) => {
            let call_id = planned.call.id.clone();
            let secrets = world.secrets.clone();
            context.with_progress(Arc::new(move |message| {
                listener.tell(&Update::Progress {
                    call_id: call_id.clone(),
                    message: secrets.redact(message).into_owned(),
                });
            }))
        }
        None => context,
    }
}

/// Lets go of a call that will not be taken up again.
pub(super) async fn abandon(world: &World, run: &Run, call: &ToolCall) {
    if let Some(tool) = world.tool(&call.call.name) {
        let_go(&*tool, context(world, run, call)).await;
    }
}

async fn let_go(tool: &dyn Tool, context: ToolContext) {
    let work = AssertUnwindSafe(async { tool.abandon(context).await }).catch_unwind();
    // Whoever does not manage it, or panics over it, has had the chance.
    let _ = tokio::time::timeout(LETTING_GO, work).await;
}

/// Runs a call and tells what came of it. Errors, panics and time-outs are observations.
pub(super) fn run(
    world: &World,
    run: &Run,
    planned: ToolCall,
) -> impl Future<Output = Outcome> + Send + use<> {
    let tool = world.tool(&planned.call.name);
    // Whatever led here, a call runs with the tool that it was approved for, or not at all.
    let listed = run.tool_at(planned.tools, &planned.call.name);
    let is_it = match (&tool, listed) {
        (Some(tool), Some(listed)) => world.is_listed(tool.spec(), listed),
        _ => false,
    };
    let mut context = context(world, run, &planned);
    let after_call = world.after_call.clone();
    async move {
        let began = Instant::now();
        let mut call = planned.call;
        let name = call.name.clone();
        let Some(tool) = tool else {
            let observation = Observation::error(format!(
                "Error executing {name}: it is not available any more"
            ));
            spans::fail_here("not_found");
            return finished(call.id, observation, began);
        };
        if !is_it {
            let observation = Observation::error(format!(
                "Error executing {name}: it has changed since the call was made. The call was not \
                 executed."
            ));
            spans::fail_here("tool_changed");
            return finished(call.id, observation, began);
        }
        let timeout = tool.spec().timeout;
        context.deadline = began.checked_add(timeout).map(Instant::into_std);
        // Only who looks at the call afterwards needs the arguments twice.
        let args = match &after_call {
            Some(_) => call.args.clone(),
            None => std::mem::take(&mut call.args),
        };
        let (mut usage, mut cost) = (Usage::default(), 0.0);
        let told = context.clone();
        let work = AssertUnwindSafe(async { tool.call(args, told).await }).catch_unwind();
        let observation = match tokio::time::timeout(timeout, work).await {
            Ok(Ok(Ok(output))) => {
                (usage, cost) = (output.usage, output.cost);
                success(output)
            }
            Ok(Ok(Err(error))) => match error.into_question() {
                Ok(question) => {
                    return Outcome::Asks {
                        call_id: call.id,
                        question,
                    };
                }
                Err(error) => {
                    (usage, cost) = error.spent();
                    failure(&name, &error, "tool_error")
                }
            },
            Ok(Err(panic)) => failure(&name, &ToolError::new(panic_text(&*panic)), "panic"),
            Err(_) => {
                context.cancellation.cancel();
                let_go(&*tool, context).await;
                failure(
                    &name,
                    &ToolError::new(format!("no result within {timeout:?}")),
                    "timeout",
                )
            }
        };
        let observation = match after_call {
            Some(check) => check.apply(&call, observation),
            None => observation,
        };
        Outcome::Finished {
            call_id: call.id,
            observation,
            duration: began.elapsed(),
            usage,
            cost,
        }
    }
}

fn finished(call_id: String, observation: Observation, began: Instant) -> Outcome {
    Outcome::Finished {
        call_id,
        observation,
        duration: began.elapsed(),
        usage: Usage::default(),
        cost: 0.0,
    }
}

/// What comes of a call for which the run has no time left.
pub(super) fn given_up(call: Call, began: Instant) -> Outcome {
    let observation = Observation::error(format!(
        "Error executing {}: given up, the time of the run is over",
        call.name
    ));
    finished(call.id, observation, began)
}

impl Outcome {
    pub(super) fn call_id(&self) -> &str {
        match self {
            Self::Finished { call_id, .. } | Self::Asks { call_id, .. } => call_id,
        }
    }
}

fn success(output: ToolOutput) -> Observation {
    Observation {
        images: output.images,
        ..Observation::value(output.value)
    }
}

fn failure(name: &str, error: &ToolError, kind: &str) -> Observation {
    spans::fail_here(kind);
    Observation::error(format!("Error executing {name}: {error}"))
}

/// What a panic said. Never where: the model has no use for paths.
fn panic_text(panic: &(dyn Any + Send)) -> String {
    let said = panic
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned());
    match said {
        Some(text) => format!("the tool panicked: {text}"),
        None => "the tool panicked".to_owned(),
    }
}
