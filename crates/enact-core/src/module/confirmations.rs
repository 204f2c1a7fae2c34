//! The questions of a stored run, by id: list them, answer them, withdraw answers.

use std::sync::Arc;

use crate::error::Error;
use crate::react::check_call;
use crate::run::store::{Store, StoredRun};
use crate::run::{AnswerError, Answerer, AskedQuestion, ConfirmationStatus, Decision, Event, Run};
use crate::time::Timestamp;

/// The questions of a stored run. This needs no agent: an answer is written to the log, and takes
/// effect when the run is resumed.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// use enact::model::{ScriptedModel, call};
/// use enact::run::ConfirmationStatus;
/// use enact::run::store::MemoryStore;
/// use enact::{Confirmations, Decision, Outcome, ReAct, ToolError, tool, tools, values};
/// use serde_json::json;
///
/// /// Deletes a file.
/// #[tool(require_confirmation)]
/// async fn delete_file(path: String) -> Result<String, ToolError> {
///     Ok(format!("deleted {path}"))
/// }
///
/// let store = MemoryStore::new();
/// let agent = ReAct::builder("task -> report")
///     .tools(tools![delete_file])
///     .model(ScriptedModel::new([
///         call("delete_file", json!({"path": "a.txt"})),
///         call("submit", json!({"report": "done"})),
///     ]))
///     .build()?;
/// let outcome = agent.call(values! { task: "Tidy up." }).store(store.clone()).await?;
/// let Outcome::Paused(paused) = outcome else { panic!("it asks first") };
///
/// // Elsewhere, with no more than the ids:
/// let questions = Confirmations::of(store.clone(), paused.run().id());
/// let id = &paused.questions()[0].confirmation_id;
/// assert_eq!(questions.status(id).await?, ConfirmationStatus::Pending);
/// questions.respond(id, Decision::Approve).await?;
/// assert_eq!(questions.status(id).await?, ConfirmationStatus::Approved);
///
/// let done = agent.resume_stored(store, paused.run().id()).await?.finished()?;
/// assert_eq!(done.trajectory().steps()[0].observation, "deleted a.txt");
/// # Ok::<_, enact::Error>(()) })?; Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Confirmations {
    store: Arc<dyn Store>,
    run_id: String,
}

impl Confirmations {
    /// Accesses the questions of this run.
    pub fn of(store: impl Store + 'static, run_id: impl Into<String>) -> Self {
        Self {
            store: Arc::new(store),
            run_id: run_id.into(),
        }
    }

    /// Every question of the run with its status. An expired question is shown as rejected, even before
    /// the run is resumed.
    pub async fn list(&self) -> Result<Vec<AskedQuestion>, Error> {
        Ok(questions(&self.load().await?))
    }

    /// The status of a question.
    pub async fn status(&self, confirmation_id: &str) -> Result<ConfirmationStatus, Error> {
        Ok(find(&self.load().await?, confirmation_id)?.status)
    }

    /// Answers an open question. The run continues when it is resumed.
    pub async fn respond(&self, confirmation_id: &str, decision: Decision) -> Result<(), Error> {
        self.write(|run| {
            let asked = find(run, confirmation_id)?;
            if asked.status != ConfirmationStatus::Pending {
                return Err(AnswerError::Unknown(confirmation_id.to_owned()));
            }
            let decision = match asked.question.fitting(decision)? {
                Decision::Edit { name, args } => {
                    let (name, args) =
                        check_call(run.tools(), &name, args).map_err(AnswerError::InvalidEdit)?;
                    Decision::Edit { name, args }
                }
                other => other,
            };
            Ok(vec![Event::answered(
                confirmation_id,
                decision,
                Answerer::Person,
            )])
        })
        .await
    }

    /// Withdraws an answer that has not been used: the question is open again.
    pub async fn clear(&self, confirmation_id: &str) -> Result<(), Error> {
        self.write(|run| {
            let asked = find(run, confirmation_id)?;
            match (asked.is_used, asked.decision) {
                (true, _) => Err(AnswerError::Used(confirmation_id.to_owned())),
                (false, None) => Ok(Vec::new()),
                (false, Some(_)) => Ok(vec![Event::withdrawn(confirmation_id)]),
            }
        })
        .await
    }

    /// Withdraws all answers that have not been used.
    pub async fn clear_all(&self) -> Result<(), Error> {
        self.write(|run| {
            let unused = run.questions().iter();
            Ok(unused
                .filter(|asked| asked.decision.is_some() && !asked.is_used)
                .map(|asked| Event::withdrawn(&asked.question.confirmation_id))
                .collect())
        })
        .await
    }

    async fn load(&self) -> Result<Run, Error> {
        Ok(self.store.load(&self.run_id).await?.of(&self.run_id)?.run)
    }

    /// Appends to the log under a lease, so that no process works on the run meanwhile.
    async fn write(
        &self,
        decide: impl FnOnce(&Run) -> Result<Vec<Event>, AnswerError>,
    ) -> Result<(), Error> {
        let lease = self.store.acquire(&self.run_id).await?;
        let stored = self.store.load(&self.run_id).await?;
        let StoredRun { run, damage } = stored.of(&self.run_id)?;
        if let Some(damage) = damage {
            return Err(Error::damaged(&damage).with_run(run));
        }
        let events = match decide(&run) {
            Ok(events) => events,
            Err(error) => return Err(Error::from(error).with_run(run)),
        };
        let records = run.following(events, Timestamp::now());
        if !records.is_empty() {
            self.store.append(&lease, &records).await?;
        }
        Ok(())
    }
}

fn questions(run: &Run) -> Vec<AskedQuestion> {
    let now = Timestamp::now();
    let mut questions = run.questions().to_vec();
    for asked in &mut questions {
        let is_late = asked.question.expires_at.is_some_and(|at| at <= now);
        if asked.status == ConfirmationStatus::Pending && is_late {
            asked.status = ConfirmationStatus::Rejected;
            asked.by = Some(Answerer::Expiry);
        }
    }
    questions
}

fn find(run: &Run, confirmation_id: &str) -> Result<AskedQuestion, AnswerError> {
    questions(run)
        .into_iter()
        .find(|asked| asked.question.confirmation_id == confirmation_id)
        .ok_or_else(|| AnswerError::NoSuch(confirmation_id.to_owned()))
}
