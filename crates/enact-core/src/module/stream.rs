//! A run as a stream of updates.

use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};

use futures_util::Stream;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_util::sync::{CancellationToken, DropGuard};
use tracing::Instrument as _;

use super::call::{Call, StartFrom};
use super::prediction::Outcome;
use crate::adapter::Piece;
use crate::driver::{Listener, Update};
use crate::error::{Error, ErrorKind};
use crate::run::{Record, Run, indented};
use crate::settings;
use crate::signature::Shape;

/// A run as a stream of updates, in order. Created by [`Call::stream`](super::Call::stream).
///
/// The run continues in the background, however slowly the stream is read. Dropping the stream
/// cancels the run: no further requests are sent, tools are notified, and the log ends with `cancelled`.
#[derive(Debug)]
pub struct RunStream<O> {
    updates: mpsc::UnboundedReceiver<Update>,
    seen: Seen,
    /// Why the run could not start, if it couldn't.
    work: Result<JoinHandle<Result<Outcome<O>, Error>>, Error>,
    /// Cancels the run when it is dropped.
    _cancellation: DropGuard,
}

impl<S: Shape, B> Call<'_, S, B>
where
    S::Output: 'static,
    B: StartFrom<S> + 'static,
{
    /// Starts the call in a background task, and returns its updates as a stream; a function set with
    /// [`on_update`](Self::on_update) is also called. Dropping the stream cancels the run.
    ///
    /// ```
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
    /// use enact::adapter::Piece;
    /// use enact::model::{ScriptedModel, call};
    /// use enact::{ReAct, Update, values};
    /// use serde_json::json;
    ///
    /// let agent = ReAct::builder("question -> answer").model(
    ///     ScriptedModel::new([call("submit", json!({"answer": "Paris"})).thinking("I know it.")]),
    /// ).build()?;
    /// let mut run = agent.call(values! { question: "Capital of France?" }).stream();
    /// let mut answer = String::new();
    /// while let Some(update) = run.next().await {
    ///     match update {
    ///         Update::Writing { piece: Piece::Output(_), text } => answer.push_str(&text),
    ///         Update::TakenBack { piece: Piece::Output(_) } => answer.clear(),
    ///         _ => {}
    ///     }
    /// }
    /// let done = run.outcome().await?.finished()?;
    /// assert_eq!(answer, "Paris");
    /// assert_eq!(done.outputs["answer"], "Paris");
    /// # Ok::<_, enact::Error>(()) })?; Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    pub fn stream(mut self) -> RunStream<S::Output> {
        if tokio::runtime::Handle::try_current().is_err() {
            let message = "a stream needs a tokio runtime: call it inside one";
            return RunStream {
                updates: mpsc::unbounded_channel().1,
                seen: Seen::default(),
                work: Err(Error::new(ErrorKind::Misuse, message)),
                _cancellation: CancellationToken::new().drop_guard(),
            };
        }
        let cancellation = self.stops.cancellation.child_token();
        self.stops.cancellation = cancellation.clone();
        let (told, updates) = mpsc::unbounded_channel();
        let also = self.listener.take();
        self.listener = Some(Listener::new(move |update| {
            if let Some(listener) = &also {
                listener.tell(update);
            }
            // The stream was dropped, so no one needs the update.
            let _ = told.send(update.clone());
        }));
        let seen = Seen::default();
        self.begun = Some(Arc::clone(&seen.begun));
        let work = settings::inherit(self.into_owned().into_future()).in_current_span();
        RunStream {
            updates,
            seen,
            work: Ok(tokio::spawn(work)),
            _cancellation: cancellation.drop_guard(),
        }
    }
}

impl<O> RunStream<O> {
    /// The next update; `None` once the run is over, paused or failed.
    pub async fn next(&mut self) -> Option<Update> {
        let update = self.updates.recv().await;
        self.seen.take(update.as_ref());
        update
    }

    /// The reasoning as text, up to the last update you read: all steps, and the thought that is being
    /// written. Use [`Run::scratchpad`] for a run that is over or paused.
    ///
    /// ```
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
    /// use enact::model::{ScriptedModel, call};
    /// use enact::{ReAct, Update, values};
    /// use serde_json::json;
    ///
    /// let agent = ReAct::builder("question -> answer").model(
    ///     ScriptedModel::new([call("submit", json!({"answer": "Paris"})).thinking("I know it.")]),
    /// ).build()?;
    /// let mut run = agent.call(values! { question: "Capital of France?" }).stream();
    /// while let Some(update) = run.next().await {
    ///     if let Update::Writing { .. } = update {
    ///         assert!(run.scratchpad().starts_with("Thought: I"));
    ///     }
    /// }
    /// assert_eq!(run.scratchpad(), "Thought: I know it.\nFinal Answer: Paris");
    /// # Ok::<_, enact::Error>(()) })?; Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    pub fn scratchpad(&self) -> String {
        self.seen.scratchpad()
    }

    /// Waits for the run, and returns the result of the call.
    pub async fn outcome(self) -> Result<Outcome<O>, Error> {
        // Dropping this future drops the stream, which cancels the run.
        match self.work?.await {
            Ok(outcome) => outcome,
            Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
            Err(error) => {
                let message = "the runtime ended before the run";
                Err(Error::new(ErrorKind::Interrupted, message).with_source(error))
            }
        }
    }
}

/// What the updates have shown so far.
#[derive(Debug, Default)]
struct Seen {
    /// The run before the first update.
    begun: Arc<OnceLock<Run>>,
    /// The records since then.
    records: Vec<Record>,
    /// The thought that is being written.
    thought: String,
}

impl Seen {
    fn take(&mut self, update: Option<&Update>) {
        match update {
            Some(Update::Recorded { record }) => {
                self.records.push((**record).clone());
                self.thought.clear();
            }
            Some(Update::Writing {
                piece: Piece::Thought,
                text,
            }) => self.thought.push_str(text),
            Some(Update::TakenBack {
                piece: Piece::Thought,
            }) => self.thought.clear(),
            _ => {}
        }
    }

    fn scratchpad(&self) -> String {
        let earlier = self.begun.get().map_or(&[][..], Run::records);
        let known = earlier.len() as u64;
        let later = self
            .records
            .iter()
            .filter(|record| record.position >= known);
        let records: Vec<Record> = earlier.iter().chain(later).cloned().collect();
        // There is no run before the first record.
        let mut text =
            Run::try_from(records).map_or_else(|_| String::new(), |run| run.scratchpad());
        if !self.thought.trim().is_empty() {
            if !text.is_empty() {
                text.push_str("\n\n");
            }
            text.push_str("Thought: ");
            text.push_str(&indented(self.thought.trim()));
        }
        text
    }
}

impl<O> Stream for RunStream<O> {
    type Item = Update;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Update>> {
        let polled = self.updates.poll_recv(context);
        if let Poll::Ready(update) = &polled {
            self.seen.take(update.as_ref());
        }
        polled
    }
}

impl<O> Unpin for RunStream<O> {}
