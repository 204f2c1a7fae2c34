//! The only place where tools are executed.

use std::any::Any;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use tokio::time::Instant;

use super::Update;
use super::effects::{Done, Failure, Outcome};
use super::hooks::AfterCall;
use super::local::Local;
use crate::model::Usage;
use crate::react::ToolCall;
use crate::run::{Call, Observation, Run};
use crate::tool::{Tool, ToolContext, ToolError, ToolOutput};

/// How long a tool can take to release a call.
const LETTING_GO: Duration = Duration::from_secs(10);

/// A call with everything that it needs to run.
pub(super) struct ReadyCall {
    call: Arc<Call>,
    tool: Option<Arc<dyn Tool>>,
    /// Whether the tool is the one that the call was approved for.
    is_approved_tool: bool,
    context: ToolContext,
    after_call: Option<AfterCall>,
}

impl ReadyCall {
    pub(super) fn new(local: &Local, run: &Run, planned: ToolCall) -> Self {
        let tool = local.tool(&planned.call.name);
        // In any case, a call runs only with the tool that it was approved for.
        let is_current = planned.tools == run.tools_record() && local.are_known(run);
        let is_approved_tool = match (&tool, is_current) {
            (Some(_), true) => true,
            (Some(tool), false) => run
                .tool_at(planned.tools, &planned.call.name)
                .is_some_and(|listed| local.is_tool(tool.spec(), listed)),
            (None, _) => false,
        };
        Self {
            tool,
            is_approved_tool,
            call: Arc::clone(&planned.call),
            context: context(local, run, planned),
            after_call: local.after_call.clone(),
        }
    }

    /// Releases a call that won't be resumed.
    pub(super) async fn let_go(self) {
        if let Some(tool) = self.tool {
            let_go(&*tool, self.context).await;
        }
    }

    /// The result of a call for which the run has no time left.
    pub(super) async fn give_up(self, began: Instant) -> Done {
        let name = &self.call.name;
        let text = format!("Error executing {name}: given up, the time of the run is over");
        let call_id = self.call.id.clone();
        self.let_go().await;
        unexecuted(call_id, text, Failure::Timeout, began)
    }

    /// Runs the call. Errors, panics and time-outs are observations.
    pub(super) async fn run(&mut self) -> Done {
        let Self {
            call,
            tool,
            is_approved_tool,
            context,
            after_call,
        } = self;
        let began = Instant::now();
        let name = call.name.clone();
        let Some(tool) = tool else {
            let text = format!("Error executing {name}: it is not available any more");
            return unexecuted(call.id.clone(), text, Failure::NotFound, began);
        };
        if !*is_approved_tool {
            let text = format!(
                "Error executing {name}: it has changed since the call was made. The call was not \
                 executed."
            );
            return unexecuted(call.id.clone(), text, Failure::ToolChanged, began);
        }
        let timeout = tool.spec().timeout;
        context.deadline = began.checked_add(timeout).map(Instant::into_std);
        // The arguments are only cloned if they are needed afterwards.
        let args = match &after_call {
            Some(_) => call.args.clone(),
            None => match Arc::get_mut(call) {
                Some(call) => std::mem::take(&mut call.args),
                None => call.args.clone(),
            },
        };
        let (mut usage, mut cost) = (Usage::default(), 0.0);
        let told = context.clone();
        let work = AssertUnwindSafe(async { tool.call(args, told).await }).catch_unwind();
        let (observation, failure) = match tokio::time::timeout(timeout, work).await {
            Ok(Ok(Ok(output))) => {
                (usage, cost) = (output.usage, output.cost);
                (observed(output), None)
            }
            Ok(Ok(Err(error))) => match error.into_question() {
                Ok(question) => {
                    return Done {
                        call_id: call.id.clone(),
                        outcome: Outcome::Asks(question),
                        failure: None,
                    };
                }
                Err(error) => {
                    (usage, cost) = error.spent();
                    failed(&name, &error, Failure::ToolError)
                }
            },
            Ok(Err(panic)) => failed(&name, &ToolError::new(panic_text(&*panic)), Failure::Panic),
            Err(_) => {
                context.cancellation.cancel();
                let_go(&**tool, context.clone()).await;
                let error = ToolError::new(format!("no result within {timeout:?}"));
                failed(&name, &error, Failure::Timeout)
            }
        };
        let observation = match after_call {
            Some(check) => check.apply(call, observation),
            None => observation,
        };
        let outcome = Outcome::Observed {
            observation,
            took: began.elapsed(),
            usage,
            cost,
        };
        Done {
            call_id: call.id.clone(),
            outcome,
            failure,
        }
    }
}

/// The context of a call.
fn context(local: &Local, run: &Run, planned: ToolCall) -> ToolContext {
    let context = ToolContext::of_call(planned.call.id.clone(), planned.idempotency_key);
    let mut context = context.with_secrets(local.secrets.clone());
    context.run_id = run.id().to_owned();
    let parent = run.started().parent.as_ref();
    context.depth = parent.map_or(0, |parent| parent.depth);
    context.tokens_left = planned.tokens_left;
    context.money_left = planned.money_left;
    context.cancellation = local.cancellation.child_token();
    for (question, answer) in planned.answers {
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

fn unexecuted(call_id: String, text: String, failure: Failure, began: Instant) -> Done {
    let outcome = Outcome::Observed {
        observation: Observation::error(text),
        took: began.elapsed(),
        usage: Usage::default(),
        cost: 0.0,
    };
    Done {
        call_id,
        outcome,
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
