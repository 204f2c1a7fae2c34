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

/// How deep agents may call agents.
const MAX_DEPTH: u32 = 8;
/// An agent takes longer than a function.
const TIMEOUT: Duration = Duration::from_secs(3_600);

/// An agent as a tool of another: its inputs are the arguments, its outputs what the call gives.
///
/// Its run is a run of its own, linked to the caller's, with limits of its own inside the caller's.
/// When it waits for a person, so does the caller; when the caller is resumed, it goes on where it
/// was. Its runs are kept in memory unless a store is given, so give one if callers are resumed in
/// other processes.
#[derive(Debug, Clone)]
pub struct AgentTool {
    agent: ReAct<Dynamic>,
    spec: ToolSpec,
    store: Arc<dyn Store>,
}

impl AgentTool {
    /// A tool of this name. The description tells the calling agent when to hand over.
    pub fn new<S: Shape>(
        agent: ReAct<S>,
        name: impl Into<String>,
        description: impl Into<String>,
    ) -> Self {
        let agent = agent.untyped();
        let parameters = agent.signature().input_schema();
        // The same call goes on with the same run, so it may be repeated.
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

    /// Keeps the runs in this store.
    #[must_use]
    pub fn with_store(mut self, store: impl Store + 'static) -> Self {
        self.store = Arc::new(store);
        self
    }

    /// The same with another time limit.
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.spec = self.spec.with_timeout(timeout);
        self
    }

    /// What goes in and what comes out.
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

    /// Gives the inner run what the caller's person said, if they were asked. An answer that does
    /// not fit is for that person to mend, not for the calling model: the question is asked again,
    /// with what is wrong.
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
            // Longer each time, so that no two questions are in the same words.
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

    /// A question of the inner agent in words that fit no other question.
    fn asks(&self, question: &Question) -> String {
        format!(
            "{} asks: {} [{}]",
            self.spec.name, question.question, question.confirmation_id
        )
    }
}

/// The run of a call: the same whoever asks.
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
            // It may not have begun, or be over: then there is nothing to end.
            let _ = run.cancel_with(cancelled).await;
        })
    }
}
