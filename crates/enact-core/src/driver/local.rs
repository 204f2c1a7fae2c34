//! The effects of a run in this process.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::effects::{Answered, Asking, Doing, Durability, Effect, Effects, Stopped};
use super::hooks::{AfterCall, BeforeCall, Condition, HookCall, HookStep};
use super::updates::{Listener, Update};
use super::writing::Writing;
use crate::model::{Delivery, LanguageModel, ModelError, ModelErrorKind, Reply, Secrets};
use crate::react::{CallCheck, Schemas, ToolCall, Verdict, check_tools};
use crate::run::{Call, PredictorName, Record, Run, TraceStep, redacted_tools};
use crate::signature::Values;
use crate::time::Timestamp;
use crate::tool::{self, Tool, ToolSpec, Tools};

/// A custom program that replaces a predictor: it returns its outputs as a model's reply.
pub(crate) type Program =
    dyn Fn(Values) -> Pin<Box<dyn Future<Output = Result<Reply, ModelError>> + Send>> + Send + Sync;

/// Does the work of a run in this process: asks models, runs tools, calls custom functions, and notifies
/// the listener. The log is kept in memory.
#[derive(Default)]
pub struct Local {
    pub(crate) models: HashMap<PredictorName, Arc<dyn LanguageModel>>,
    /// Programs that replace predictors.
    pub(crate) programs: HashMap<PredictorName, Arc<Program>>,
    pub(crate) tools: RwLock<Tools>,
    /// Whether the tools have been listed for the run.
    pub(crate) is_listed: Mutex<bool>,
    pub(crate) cancellation: CancellationToken,
    /// Stops the loop without ending the run.
    pub(crate) interruption: CancellationToken,
    pub(crate) listener: Option<Listener>,
    /// What was reported of the last reply, until it is logged.
    pub(super) writing: Mutex<Option<Writing>>,
    pub(crate) before_call: Option<BeforeCall>,
    pub(crate) after_call: Option<AfterCall>,
    pub(crate) condition: Option<Condition>,
    /// The secrets, which must not be reported.
    pub(crate) secrets: Secrets,
    /// The checks of arguments that are compiled already.
    pub(crate) schemas: Arc<Schemas>,
}

impl Local {
    pub(crate) fn new(
        models: HashMap<PredictorName, Arc<dyn LanguageModel>>,
        tools: Tools,
    ) -> Self {
        Self {
            models,
            tools: RwLock::new(tools),
            ..Self::default()
        }
    }

    /// The current tools.
    fn tools_now(&self) -> Tools {
        let tools = self.tools.read().unwrap_or_else(PoisonError::into_inner);
        tools.clone()
    }

    /// The tool with this name.
    pub(super) fn tool(&self, name: &str) -> Option<Arc<dyn Tool>> {
        let tools = self.tools.read().unwrap_or_else(PoisonError::into_inner);
        tools.get(name).cloned()
    }

    /// Whether the tools match those in a log.
    pub(crate) fn has_tools(&self, listed: &[ToolSpec]) -> bool {
        let tools = self.tools_now().specs().cloned().collect();
        matches!(redacted_tools(tools, &self.secrets), Ok(tools) if tools == listed)
    }

    /// Whether a tool matches the one in a log.
    pub(super) fn is_tool(&self, tool: &ToolSpec, listed: &ToolSpec) -> bool {
        if tool.is_same_tool(listed) {
            return true;
        }
        let redacted = self.secrets.redact_all(tool);
        matches!(redacted, Ok(Some(redacted)) if redacted.is_same_tool(listed))
    }

    /// Runs a future unless the run is stopped, within the remaining time.
    async fn unless_stopped<T>(
        &self,
        time: Option<Duration>,
        work: impl Future<Output = T>,
    ) -> Result<T, Stopped> {
        tokio::select! {
            biased;
            () = self.cancellation.cancelled() => Err(Stopped::Cancelled),
            () = self.interruption.cancelled() => Err(Stopped::Interrupted),
            done = within(time, work) => done.ok_or(Stopped::TimeUp),
        }
    }

    /// Does something unless the run is cancelled. An interruption waits for it: it is short, and a
    /// reply that was paid for depends on it.
    async fn unless_cancelled<T>(
        &self,
        work: impl Future<Output = Result<T, Stopped>>,
    ) -> Result<T, Stopped> {
        tokio::select! {
            biased;
            () = self.cancellation.cancelled() => Err(Stopped::Cancelled),
            done = work => done,
        }
    }

    async fn reply(&self, asking: Asking<'_>) -> Result<Reply, ModelError> {
        if let Some(program) = self.programs.get(&asking.predictor) {
            return program(asking.inputs()).await;
        }
        let Some(model) = self.models.get(&asking.predictor) else {
            return Err(ModelError::new(
                ModelErrorKind::NotFound,
                "no model is set for this predictor",
            ));
        };
        if let Some(listener) = &self.listener {
            listener.tell(&Update::Asking {
                predictor: asking.predictor,
            });
        }
        let is_read = matches!(
            asking.predictor,
            PredictorName::Step | PredictorName::Extract
        );
        let (request, live) = asking.with_reader();
        let Some(listener) = self.listener.as_ref().filter(|_| is_read) else {
            return model.complete(request.with_delivery(Delivery::Whole)).await;
        };
        let mut writing = Writing::new(listener.clone(), self.secrets.clone());
        let asked = writing.ask(&**model, request, &live).await;
        if asked.is_ok() {
            *self.writing() = Some(writing);
        }
        asked
    }

    fn writing(&self) -> MutexGuard<'_, Option<Writing>> {
        self.writing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the rule of its tool and the user's own check say about a call.
    async fn say(&self, run: &Run, call: &Call) -> CallCheck {
        let verdict = match &self.before_call {
            Some(check) => {
                let call = HookCall {
                    run_id: run.id().to_owned(),
                    step: run.steps().len() + 1,
                    call: call.clone(),
                };
                check.apply(call).await
            }
            None => Verdict::Allow,
        };
        let asks = match self.tool(&call.name) {
            Some(tool) => {
                tool::asks(&*tool, &call.args)
                    || matches!(&verdict, Verdict::Change(args) if tool::asks(&*tool, args))
            }
            None => true,
        };
        CallCheck { asks, verdict }
    }

    async fn list(&self, time: Option<Duration>) -> Result<Option<Vec<ToolSpec>>, Stopped> {
        let tools = self.tools_now();
        let is_known = *self.is_listed();
        let listed = match self.unless_stopped(time, tools.refreshed()).await? {
            Ok(refreshed) => refreshed,
            // The run continues with the tools it has: a call of a missing one reports that.
            Err(error) => {
                tracing::warn!(%error, "the tools could not be listed again");
                tools.clone()
            }
        };
        // The log, which may come from another process, determines the tools at first; after that, the
        // listed tools count.
        if is_known && tools.specs().eq(listed.specs()) {
            return Ok(None);
        }
        let specs: Vec<ToolSpec> = listed.specs().cloned().collect();
        if let Err(error) = check_tools(&specs, &self.schemas) {
            tracing::warn!(%error, "the tools have changed to what cannot be used");
            return Ok(None);
        }
        *self.is_listed() = true;
        *self.tools.write().unwrap_or_else(PoisonError::into_inner) = listed;
        Ok(Some(specs))
    }

    /// Whether the tools match the log, and can't change.
    pub(super) fn are_known(&self, run: &Run) -> bool {
        let tools = self.tools.read().unwrap_or_else(PoisonError::into_inner);
        if tools.may_change() {
            return false;
        }
        let mut is_listed = self.is_listed();
        // The tools at build time.
        *is_listed = *is_listed || tools.specs().eq(run.tools());
        *is_listed
    }

    fn is_listed(&self) -> MutexGuard<'_, bool> {
        self.is_listed
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl Effects for Local {
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }

    fn proceed(&self) -> Result<(), Stopped> {
        if self.cancellation.is_cancelled() {
            return Err(Stopped::Cancelled);
        }
        match self.interruption.is_cancelled() {
            true => Err(Stopped::Interrupted),
            false => Ok(()),
        }
    }

    /// Reports records to the listener.
    fn append<'a>(
        &'a self,
        records: Vec<Record>,
        _durability: Durability,
    ) -> Effect<'a, Vec<Record>> {
        if let Some(listener) = &self.listener {
            for record in &records {
                if let Some(replied) = record.event.reply()
                    && let Some(writing) = self.writing().take()
                {
                    writing.settle(replied);
                }
                let record = Box::new(record.clone());
                listener.tell(&Update::Recorded { record });
            }
        }
        Box::pin(std::future::ready(Ok(records)))
    }

    fn ask<'a>(&'a self, asking: Asking<'a>) -> Effect<'a, Answered> {
        Box::pin(async move {
            let began = Instant::now();
            let time = asking.time_left;
            let outcome = self.unless_stopped(time, self.reply(asking)).await?;
            let took = began.elapsed();
            Ok(Answered { outcome, took })
        })
    }

    fn act<'a>(&'a self, run: &Run, calls: Vec<ToolCall>) -> Doing<'a> {
        self.run_all(run, calls)
    }

    fn abandon<'a>(&'a self, run: &'a Run, calls: Vec<ToolCall>) -> Effect<'a, ()> {
        Box::pin(async move {
            for call in &calls {
                self.let_go(run, call).await;
            }
            Ok(())
        })
    }

    fn check<'a>(&'a self, run: &'a Run, calls: Vec<&'a Call>) -> Effect<'a, Vec<CallCheck>> {
        Box::pin(self.unless_cancelled(async move {
            let mut said = Vec::with_capacity(calls.len());
            for call in calls {
                said.push(self.say(run, call).await);
            }
            Ok(said)
        }))
    }

    fn ends<'a>(&'a self, run: &'a Run, step: &'a TraceStep) -> Effect<'a, bool> {
        let Some(condition) = &self.condition else {
            return Box::pin(std::future::ready(Ok(false)));
        };
        let step = HookStep {
            run_id: run.id().to_owned(),
            step: step.clone(),
        };
        Box::pin(self.unless_cancelled(async { Ok(condition.holds(step).await?) }))
    }

    fn tools<'a>(
        &'a self,
        run: &'a Run,
        time: Option<Duration>,
    ) -> Effect<'a, Option<Vec<ToolSpec>>> {
        match self.are_known(run) {
            true => Box::pin(std::future::ready(Ok(None))),
            false => Box::pin(self.list(time)),
        }
    }

    fn stepped(&self, run: &Run) {
        if let Some(listener) = &self.listener
            && let Some(step) = run.last_step()
        {
            let step = Box::new(step);
            listener.tell(&Update::StepFinished { step });
        }
    }
}

/// Does something in the time that is left; `None` when it takes longer.
pub(super) async fn within<T>(time: Option<Duration>, work: impl Future<Output = T>) -> Option<T> {
    match time {
        Some(time) => tokio::time::timeout(time, work).await.ok(),
        None => Some(work.await),
    }
}
