//! An agent as a tool of another.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use tokio_util::sync::CancellationToken;

use super::module_tool::{no_answer, output_of};
use super::{Confirmations, Outcome, Paused, ReAct};
use crate::error::{Error, ErrorKind};
use crate::run::store::{MemoryStore, Store, StoreErrorKind};
use crate::run::{ConfirmationStatus, Parent, Question};
use crate::signature::{Dynamic, Shape, Signature, Values};
use crate::tool::{Effect, Tool, ToolContext, ToolError, ToolFuture, ToolOutput, ToolSpec};

/// How deep agents can call agents.
const MAX_DEPTH: u32 = 8;
/// Agents take longer than functions.
const TIMEOUT: Duration = Duration::from_secs(3_600);

/// An agent as a tool of another: its inputs are the arguments, its outputs the result.
///
/// Each call is a run of its own, linked to the caller's, with its own limits inside the caller's.
/// If it waits for a person, so does the caller; when the caller is resumed, it resumes too. Its
/// runs are kept in memory unless a store is set, so set one if callers are resumed in other
/// processes.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// use enact::model::{ScriptedModel, call};
/// use enact::module::AgentTool;
/// use enact::{ReAct, Tools, values};
/// use serde_json::json;
///
/// let researcher = ReAct::builder("topic -> summary")
///     .model(ScriptedModel::new([call("submit", json!({"summary": "Ferris is a crab."}))]))
///     .build()?;
/// let tool = AgentTool::new(researcher, "research", "Researches a topic.");
/// let writer = ReAct::builder("task -> text")
///     .tools(Tools::new().with(tool))
///     .model(ScriptedModel::new([
///         call("research", json!({"topic": "Ferris"})),
///         call("submit", json!({"text": "A crab, then."})),
///     ]))
///     .build()?;
/// let done = writer.call(values! { task: "Who is Ferris?" }).await?.finished()?;
/// assert_eq!(done.outputs["text"], "A crab, then.");
/// # Ok::<_, enact::Error>(()) })?; Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct AgentTool {
    agent: ReAct<Dynamic>,
    spec: ToolSpec,
    store: Arc<dyn Store>,
}

impl AgentTool {
    /// Creates a tool with this name. The description helps the calling agent decide when to use it.
    pub fn new<S: Shape>(
        agent: ReAct<S>,
        name: impl Into<String>,
        description: impl Into<String>,
    ) -> Self {
        let agent = agent.untyped();
        let parameters = agent.signature().input_schema();
        // The same call continues the same run, so it can be repeated.
        let spec = ToolSpec::new(name, description, parameters)
            .with_source(ToolSpec::AGENT)
            .with_effect(Effect::Idempotent)
            .with_timeout(TIMEOUT);
        Self {
            agent,
            spec,
            store: Arc::new(MemoryStore::new()),
        }
    }

    /// Sets the store for the runs.
    #[must_use]
    pub fn with_store(mut self, store: impl Store + 'static) -> Self {
        self.store = Arc::new(store);
        self
    }

    /// Sets the time limit of a call.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.spec = self.spec.with_timeout(timeout);
        self
    }

    /// The signature of the agent: inputs and outputs.
    pub fn signature(&self) -> &Signature {
        self.agent.signature()
    }

    async fn delegate(&self, args: Values, context: ToolContext) -> Result<ToolOutput, ToolError> {
        if context.depth >= MAX_DEPTH {
            return Err(ToolError::new(format!(
                "agents may not call agents more than {MAX_DEPTH} deep"
            )));
        }
        let run_id = run_id(&context);
        let known = match self.store.load(&run_id).await {
            Ok(stored) => Some(stored.run),
            Err(error) if error.kind() == StoreErrorKind::NotFound => None,
            Err(error) => return Err(error.into()),
        };
        let cancellation = context.cancellation.clone();
        let outcome = match known {
            None => {
                let parent = Parent {
                    run_id: context.run_id.clone(),
                    call_id: context.call_id.clone(),
                    depth: context.depth + 1,
                };
                let call = self.agent.call(args).run_id(&run_id).child_of(parent);
                let call = call.limits(|limits| {
                    let tokens = [limits.token_budget, context.tokens_left];
                    limits.token_budget = tokens.into_iter().flatten().min();
                    let money = [limits.cost_budget, context.money_left];
                    limits.cost_budget = money.into_iter().flatten().reduce(f64::min);
                });
                let call = call.store(Arc::clone(&self.store));
                call.cancel_with(cancellation).await
            }
            Some(run) => {
                for question in run.open_questions() {
                    self.pass_on(&question, &run_id, &context).await?;
                }
                let call = self.agent.resume_stored(Arc::clone(&self.store), &run_id);
                call.cancel_with(cancellation).await
            }
        };
        match outcome {
            Ok(Outcome::Finished(prediction)) => Ok(output_of(prediction.into())),
            Ok(Outcome::Paused(paused)) => Err(self.first_question(&paused)),
            Err(error) => Err(told(&error)),
        }
    }

    /// Passes the answer of the caller's person to the inner run, if they were asked. An invalid answer
    /// is for that person to correct, not for the calling model: the question is asked again, with the
    /// problem.
    async fn pass_on(
        &self,
        question: &Question,
        run_id: &str,
        context: &ToolContext,
    ) -> Result<(), ToolError> {
        let questions = Confirmations::of(Arc::clone(&self.store), run_id);
        let id = &question.confirmation_id;
        let mut asked = self.asks(question);
        let mut was_refused = false;
        loop {
            let answer = match context.ask(&asked) {
                Ok(answer) => answer,
                Err(_) if !was_refused => return Ok(()),
                Err(question) => return Err(question),
            };
            let responded = match question.read(&answer) {
                Ok(decision) => questions.respond(id, decision).await,
                Err(problem) => Err(problem.into()),
            };
            let Err(problem) = responded else {
                return Ok(());
            };
            if problem.kind() != ErrorKind::Answer {
                return Err(told(&problem));
            }
            let status = questions.status(id).await;
            if !matches!(status, Ok(ConfirmationStatus::Pending)) {
                return Ok(());
            }
            // Longer each time, so that no two questions have the same text.
            asked = format!("{asked}\n(`{}` does not do: {problem})", answer.trim());
            was_refused = true;
        }
    }

    fn first_question(&self, paused: &Paused) -> ToolError {
        match paused.questions().first() {
            Some(question) => ToolError::question(self.asks(question)),
            None => ToolError::new("the agent waits, and asks nothing"),
        }
    }

    /// A question of the inner agent, with a text that no other question has.
    fn asks(&self, question: &Question) -> String {
        format!(
            "{} asks: {} [{}]",
            self.spec.name, question.question, question.confirmation_id
        )
    }
}

/// The run of a call, independent of who asks.
fn run_id(context: &ToolContext) -> String {
    context.idempotency_key.replace(':', ".")
}

fn told(error: &Error) -> ToolError {
    no_answer("agent", error)
}

impl Tool for AgentTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call<'a>(&'a self, args: Values, context: ToolContext) -> ToolFuture<'a> {
        Box::pin(self.delegate(args, context))
    }

    fn abandon<'a>(&'a self, context: ToolContext) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            let cancelled = CancellationToken::new();
            cancelled.cancel();
            let run = self
                .agent
                .resume_stored(Arc::clone(&self.store), run_id(&context));
            // It may not have started, or may be over: then there is nothing to cancel.
            let _ = run.cancel_with(cancelled).await;
        })
    }
}
