//! The only place where tools are executed.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::stream::FuturesUnordered;
use tokio::time::Instant;

use super::Update;
use super::effects::{Acted, Doing, Failure, Stopped};
use super::hooks::HookCall;
use super::local::{Local, within};
use crate::model::Usage;
use crate::react::ToolCall;
use crate::run::{Call, Done, Observation, Run};
use crate::tool::{Tool, ToolContext, ToolError, ToolOutput};

/// How long a tool can take to release a call.
const LETTING_GO: Duration = Duration::from_secs(10);

impl Local {
    /// Runs calls side by side.
    pub(super) fn run_all<'a>(&'a self, run: &Run, calls: Vec<ToolCall>) -> Doing<'a> {
        let step = run.steps().len();
        let calls = calls.into_iter().map(|call| {
            let tool = self.approved(run, &call);
            let context = context(self, run, &call);
            self.run(call, step, tool, context)
        });
        Box::pin(calls.collect::<FuturesUnordered<_>>())
    }

    /// Lets go of a call that will not be resumed.
    pub(super) async fn let_go(&self, run: &Run, call: &ToolCall) {
        if let Some(tool) = self.tool(&call.call.name) {
            let_go(&*tool, context(self, run, call)).await;
        }
    }

    /// Whatever led here, a call runs with the tool that it was approved for, or not at all.
    fn approved(&self, run: &Run, planned: &ToolCall) -> Result<Arc<dyn Tool>, Failure> {
        let name = &planned.call.name;
        let tool = self.tool(name).ok_or(Failure::NotFound)?;
        let is_current = planned.tools == run.tools_record() && self.are_known(run);
        let listed = || run.tool_at(planned.tools, name);
        match is_current || listed().is_some_and(|listed| self.is_tool(tool.spec(), listed)) {
            true => Ok(tool),
            false => Err(Failure::ToolChanged),
        }
    }

    /// Runs a call. When the time of the run is up, it is given up.
    async fn run(
        &self,
        call: ToolCall,
        step: usize,
        tool: Result<Arc<dyn Tool>, Failure>,
        mut context: ToolContext,
    ) -> Result<Acted, Stopped> {
        let began = Instant::now();
        let (call, time) = (&*call.call, call.time_left);
        let tool = match tool {
            Ok(tool) => tool,
            Err(failure) => return Ok(unexecuted(call, failure, began)),
        };
        let timeout = tool.spec().timeout;
        context.deadline = began.checked_add(timeout).map(Instant::into_std);
        let acted = tokio::select! {
            biased;
            () = self.cancellation.cancelled() => return Err(Stopped::Cancelled),
            acted = within(time, self.execute(call, step, &*tool, &context, began)) => acted,
        };
        match acted {
            Some(acted) => Ok(acted),
            None => {
                let_go(&*tool, context).await;
                Ok(unexecuted(call, Failure::Timeout, began))
            }
        }
    }

    /// Errors, panics and time-outs are observations.
    async fn execute(
        &self,
        call: &Call,
        step: usize,
        tool: &dyn Tool,
        context: &ToolContext,
        began: Instant,
    ) -> Acted {
        let (mut usage, mut cost) = (Usage::default(), 0.0);
        let work = async { tool.call(call.args.clone(), context.clone()).await };
        let work = AssertUnwindSafe(work).catch_unwind();
        let timeout = tool.spec().timeout;
        let (observation, failure) = match tokio::time::timeout(timeout, work).await {
            Ok(Ok(Ok(output))) => {
                (usage, cost) = (output.usage, output.cost);
                (observed(output), None)
            }
            Ok(Ok(Err(error))) => match error.into_question() {
                Ok(question) => {
                    let call_id = call.id.clone();
                    return Acted::Asks { call_id, question };
                }
                Err(error) => {
                    (usage, cost) = error.spent();
                    failed(&call.name, &error, Failure::ToolError)
                }
            },
            Ok(Err(panic)) => {
                let error = ToolError::new(panic_text(&*panic));
                failed(&call.name, &error, Failure::Panic)
            }
            Err(_) => {
                context.cancellation.cancel();
                let_go(tool, context.clone()).await;
                let error = ToolError::new(format!("no result within {timeout:?}"));
                failed(&call.name, &error, Failure::Timeout)
            }
        };
        let observation = match &self.after_call {
            Some(check) => {
                let call = HookCall {
                    run_id: context.run_id.clone(),
                    step,
                    call: call.clone(),
                };
                check.apply(call, observation).await
            }
            None => observation,
        };
        let done = Done::new(&call.id, observation).spending(began.elapsed(), usage, cost);
        Acted::Done { done, failure }
    }
}

/// What a tool is told about a call.
fn context(local: &Local, run: &Run, planned: &ToolCall) -> ToolContext {
    let key = planned.idempotency_key.clone();
    let context = ToolContext::of_call(planned.call.id.clone(), key);
    let mut context = context.with_secrets(local.secrets.clone());
    context.run_id = run.id().to_owned();
    let parent = run.started().parent.as_ref();
    context.depth = parent.map_or(0, |parent| parent.depth);
    context.tokens_left = planned.tokens_left;
    context.money_left = planned.money_left;
    context.cancellation = local.cancellation.child_token();
    for (question, answer) in &planned.answers {
        context = context.with_answer(question, answer);
    }
    match local.listener.clone() {
        Some(listener) => {
            let call_id = planned.call.id.clone();
            let secrets = local.secrets.clone();
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

async fn let_go(tool: &dyn Tool, context: ToolContext) {
    let work = AssertUnwindSafe(async { tool.abandon(context).await }).catch_unwind();
    // A tool that times out or panics here has had its chance.
    let _ = tokio::time::timeout(LETTING_GO, work).await;
}

/// What comes of a call whose tool is another one by now, or for which the run has no time left.
fn unexecuted(call: &Call, failure: Failure, began: Instant) -> Acted {
    let why = match failure {
        Failure::NotFound => "it is not available any more",
        Failure::ToolChanged => {
            "it has changed since the call was made. The call was not executed."
        }
        _ => "given up, the time of the run is over",
    };
    let observation = Observation::error(format!("Error executing {}: {why}", call.name));
    let done = Done::new(&call.id, observation);
    Acted::Done {
        done: done.spending(began.elapsed(), Usage::default(), 0.0),
        failure: Some(failure),
    }
}

fn observed(output: ToolOutput) -> Observation {
    Observation {
        images: output.images,
        ..Observation::value(output.value)
    }
}

fn failed(name: &str, error: &ToolError, failure: Failure) -> (Observation, Option<Failure>) {
    let observation = Observation::error(format!("Error executing {name}: {error}"));
    (observation, Some(failure))
}

/// The message of a panic, without its location: models don't need paths.
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
