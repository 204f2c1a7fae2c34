//! The one place where tools are executed.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Instant;

use futures_util::FutureExt as _;

use super::{Update, World, spans};
use crate::react::ToolCall;
use crate::run::{Event, Observation};
use crate::tool::{ToolContext, ToolError, ToolOutput};

/// What came of a call.
pub(super) enum Outcome {
    /// It is over.
    Finished(Box<Event>),
    /// It wants to know something from a person first.
    Asks { call_id: String, question: String },
}

/// Runs a call and tells what came of it. Errors, panics and time-outs are observations.
pub(super) fn run(
    world: &World,
    run_id: String,
    planned: ToolCall,
) -> impl Future<Output = Outcome> + Send + use<> {
    let tool = world.tools.get(&planned.call.name).cloned();
    let cancellation = world.cancellation.child_token();
    let listener = world.listener.clone();
    async move {
        let began = Instant::now();
        let ToolCall {
            call,
            idempotency_key,
            answers,
        } = planned;
        let name = call.name;
        let Some(tool) = tool else {
            let observation =
                Observation::error(format!("Error executing {name}: it is not available"));
            spans::fail_here("not_found");
            return finished(call.id, observation, began);
        };
        let timeout = tool.spec().timeout;
        let mut context = ToolContext::detached(call.id.clone());
        context.run_id = run_id;
        context.idempotency_key = idempotency_key;
        context.deadline = began.checked_add(timeout);
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
        let work = AssertUnwindSafe(async { tool.call(call.args, context).await }).catch_unwind();
        let observation = match tokio::time::timeout(timeout, work).await {
            Ok(Ok(Ok(output))) => success(output),
            Ok(Ok(Err(error))) => match error.into_question() {
                Ok(question) => {
                    return Outcome::Asks {
                        call_id: call.id,
                        question,
                    };
                }
                Err(error) => failure(&name, &error, "tool_error"),
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
        finished(call.id, observation, began)
    }
}

fn finished(call_id: String, observation: Observation, began: Instant) -> Outcome {
    Outcome::Finished(Box::new(Event::ToolFinished {
        call_id,
        observation,
        duration: began.elapsed(),
    }))
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
