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
use crate::tool::{ToolContext, ToolError, ToolOutput};

/// What came of a call.
pub(super) enum Outcome {
    /// It is over.
    Finished {
        call_id: String,
        observation: Observation,
        duration: Duration,
        usage: Usage,
    },
    /// It wants to know something from a person first.
    Asks { call_id: String, question: String },
}

/// Runs a call and tells what came of it. Errors, panics and time-outs are observations.
pub(super) fn run(
    world: &World,
    run: &Run,
    planned: ToolCall,
) -> impl Future<Output = Outcome> + Send + use<> {
    let tool = world.tools.get(&planned.call.name).cloned();
    let run_id = run.id().to_owned();
    let depth = run
        .started()
        .parent
        .as_ref()
        .map_or(0, |parent| parent.depth);
    let cancellation = world.cancellation.child_token();
    let after_call = world.after_call.clone();
    let listener = world.listener.clone();
    async move {
        let began = Instant::now();
        let ToolCall {
            call,
            idempotency_key,
            answers,
            tokens_left,
        } = planned;
        let name = call.name.clone();
        let Some(tool) = tool else {
            let observation =
                Observation::error(format!("Error executing {name}: it is not available"));
            spans::fail_here("not_found");
            return finished(call.id, observation, began);
        };
        let timeout = tool.spec().timeout;
        let mut context = ToolContext::detached(call.id.clone());
        context.run_id = run_id;
        context.depth = depth;
        context.tokens_left = tokens_left;
        context.idempotency_key = idempotency_key;
        context.deadline = began.checked_add(timeout).map(Instant::into_std);
        context.cancellation = cancellation.clone();
        for (question, answer) in answers {
            context = context.with_answer(question, answer);
        }
        if let Some(listener) = listener {
            let call_id = call.id.clone();
            context = context.with_progress(Arc::new(move |message| {
                listener.tell(&Update::Progress {
                    call_id: &call_id,
                    message,
                });
            }));
        }
        let args = call.args.clone();
        let mut usage = Usage::default();
        let work = AssertUnwindSafe(async { tool.call(args, context).await }).catch_unwind();
        let observation = match tokio::time::timeout(timeout, work).await {
            Ok(Ok(Ok(output))) => {
                usage = output.usage;
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
                    usage = error.usage();
                    failure(&name, &error, "tool_error")
                }
            },
            Ok(Err(panic)) => failure(&name, &ToolError::new(panic_text(&*panic)), "panic"),
            Err(_) => {
                cancellation.cancel();
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
        }
    }
}

fn finished(call_id: String, observation: Observation, began: Instant) -> Outcome {
    Outcome::Finished {
        call_id,
        observation,
        duration: began.elapsed(),
        usage: Usage::default(),
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
        value: output.value,
        images: output.images,
        is_error: false,
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
