//! Runs the examples of a dataset concurrently, and scores the results.

use std::sync::Arc;

use enact_core::model::Usage;
use enact_core::run::store::{Store, StoreErrorKind};
use enact_core::{CancellationToken, Error, ErrorKind, History, Outcome, ReAct, Run, Values};
use futures_util::stream::{self, Stream, StreamExt as _};

use crate::dataset::{Dataset, Example};
use crate::error::MetricError;
use crate::judge::Judge;
use crate::metric::{Metric, Score};
use crate::results::Heading;
use crate::trial::{Fault, Status, Trial};

/// An agent under evaluation, and the settings of its runs.
///
/// ```
/// use enact::ReAct;
/// use enact_eval::Evaluator;
///
/// let agent = ReAct::builder("question -> answer").build()?;
/// let evaluator = Evaluator::new(&agent);
/// assert!(evaluator.judge().is_none());
/// # Ok::<_, enact::Error>(())
/// ```
#[derive(Debug)]
pub struct Evaluator<'a> {
    agent: &'a ReAct,
    history: History,
    notes: Values,
    store: Option<Arc<dyn Store>>,
    judge: Option<Judge>,
    interruption: CancellationToken,
}

/// The result of an example.
#[derive(Debug)]
pub enum Tried {
    /// It was run, resumed or scored: the trial is new.
    Now(Trial),
    /// It has an earlier result: nothing was run.
    Before(Trial),
    /// The evaluation was interrupted first.
    Interrupted,
}

impl<'a> Evaluator<'a> {
    /// Creates an evaluator for this agent.
    pub fn new(agent: &'a ReAct) -> Self {
        Self {
            agent,
            history: History::new(),
            notes: Values::new(),
            store: None,
            judge: None,
            interruption: CancellationToken::new(),
        }
    }

    /// Sets the conversation that every run continues.
    #[must_use]
    pub fn with_history(self, history: History) -> Self {
        Self { history, ..self }
    }

    /// Adds notes to every run.
    #[must_use]
    pub fn with_notes(self, notes: Values) -> Self {
        Self { notes, ..self }
    }

    /// Sets the store for the runs, so that they can be resumed.
    #[must_use]
    pub fn with_store(self, store: impl Store + 'static) -> Self {
        Self {
            store: Some(Arc::new(store)),
            ..self
        }
    }

    /// Sets the judge.
    #[must_use]
    pub fn with_judge(self, judge: Judge) -> Self {
        Self {
            judge: Some(judge),
            ..self
        }
    }

    /// Stops when this token is cancelled. Stored runs can be resumed.
    #[must_use]
    pub fn interrupt_with(self, interruption: CancellationToken) -> Self {
        Self {
            interruption,
            ..self
        }
    }

    /// The judge, if there is one.
    pub fn judge(&self) -> Option<&Judge> {
        self.judge.as_ref()
    }

    /// Runs the examples with this concurrency, as they arrive. `known` returns earlier results from another
    /// process.
    pub fn trials<'b>(
        &'b self,
        dataset: &'b Dataset,
        heading: &'b Heading,
        known: impl Fn(&str) -> Option<&'b Trial> + 'b,
        concurrency: usize,
    ) -> impl Stream<Item = (usize, Tried)> + 'b {
        let examples = dataset.examples().iter().enumerate();
        stream::iter(examples)
            .map(move |(index, example)| {
                let known = known(&example.id).filter(|trial| trial.is_of(example));
                async move { (index, self.attempt(example, heading, known).await) }
            })
            .buffer_unordered(concurrency.max(1))
    }

    async fn attempt(&self, example: &Example, heading: &Heading, known: Option<&Trial>) -> Tried {
        if let Some(known) = known.filter(|trial| self.is_settled(trial, example)) {
            let mut trial = known.clone();
            // Comparing the expected termination costs nothing.
            trial.expected_termination = example.termination;
            return Tried::Before(trial);
        }
        if self.interruption.is_cancelled() {
            return Tried::Interrupted;
        }
        let (trial, run) = match known.filter(|trial| trial.is_over()) {
            Some(known) => {
                let mut trial = known.clone();
                trial.describe(example);
                trial.score = None;
                trial.fault = None;
                let run = self.kept(&trial.run_id).await;
                (trial, run.ok().flatten())
            }
            None => match self.run(example, &heading.run_id(example)).await {
                Some(ran) => ran,
                None => return Tried::Interrupted,
            },
        };
        tokio::select! {
            biased;
            () = self.interruption.cancelled() => Tried::Interrupted,
            trial = self.score(example, trial, run) => Tried::Now(trial),
        }
    }

    /// Whether the result is complete.
    fn is_settled(&self, trial: &Trial, example: &Example) -> bool {
        let judge = self.judge.as_ref().map(Judge::name);
        let is_judged = judge.is_none()
            || self.store.is_none()
            || trial.figures.connected.of == 0
            || (trial.judged.is_some() && trial.judge.as_deref() == judge);
        trial.is_over() && trial.is_scored_for(example, judge) && is_judged
    }

    /// Runs an example, or resumes its run; none if it was interrupted.
    async fn run(&self, example: &Example, run_id: &str) -> Option<(Trial, Option<Run>)> {
        let ended = match (self.kept(run_id).await, self.store.clone()) {
            (Ok(Some(run)), _) if run.termination().is_some() => {
                return Some((Trial::of(example, &run), Some(run)));
            }
            (Ok(Some(_)), Some(store)) => {
                let call = self.agent.resume_stored(store, run_id);
                call.interrupt_with(self.interruption.clone()).await
            }
            (Ok(_), _) => self.begin(example, run_id).await,
            (Err(error), _) => Err(error),
        };
        match ended {
            Ok(outcome) => {
                let run = outcome.run().clone();
                Some((Trial::of(example, &run), Some(run)))
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => None,
            // An interruption ends a run that is not stored; that is not its fault.
            Err(error)
                if error.kind() == ErrorKind::Cancelled && self.interruption.is_cancelled() =>
            {
                None
            }
            Err(error) => {
                let mut trial = match error.run() {
                    Some(run) => Trial::of(example, run),
                    None => Trial::empty(example, run_id),
                };
                trial.fault = Some(Fault {
                    kind: error.kind().as_str().to_owned(),
                    message: error.to_string(),
                });
                Some((trial, error.into_run()))
            }
        }
    }

    async fn kept(&self, run_id: &str) -> Result<Option<Run>, Error> {
        let Some(store) = &self.store else {
            return Ok(None);
        };
        match store.load(run_id).await {
            Ok(stored) => Ok(Some(stored.run)),
            Err(error) if error.kind() == StoreErrorKind::NotFound => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    async fn begin(&self, example: &Example, run_id: &str) -> Result<Outcome<Values>, Error> {
        let call = self
            .agent
            .call(example.inputs.clone())
            .history(&self.history)
            .notes(self.notes.clone())
            .run_id(run_id)
            // No one can be asked about calls that a crash left in doubt.
            .unattended();
        match self.store.clone() {
            Some(store) => {
                call.store(store)
                    .interrupt_with(self.interruption.clone())
                    .await
            }
            None => call.cancel_with(self.interruption.clone()).await,
        }
    }

    /// Scores the outputs, and asks the judge about the steps.
    async fn score(&self, example: &Example, mut trial: Trial, run: Option<Run>) -> Trial {
        if let (Status::Finished, Some((expected, metric))) = (trial.status, &example.expected) {
            match self.scored(metric, example, expected, &trial.outputs).await {
                Ok((score, usage)) => {
                    trial.score = Some(score);
                    trial.judge_usage += usage;
                }
                Err(error) => trial.fault = Some(Fault::of(&error)),
            }
        }
        let Some(judge) = &self.judge else {
            return trial;
        };
        let is_judged = trial.judged.is_some() && trial.judge.as_deref() == Some(judge.name());
        trial.judge = Some(judge.name().to_owned());
        if let Some(run) = run.filter(|_| trial.is_over() && !is_judged) {
            match judge.coherence(&run).await {
                Ok(Some((share, usage))) => {
                    trial.judged = Some(share);
                    trial.judge_usage += usage;
                }
                Ok(None) => {}
                Err(error) => trial.fault = trial.fault.or_else(|| Some(Fault::of(&error))),
            }
        }
        trial
    }

    async fn scored(
        &self,
        metric: &Metric,
        example: &Example,
        expected: &Values,
        outputs: &Values,
    ) -> Result<(Score, Usage), MetricError> {
        if let Some(score) = metric.compare(expected, outputs) {
            return Ok((score, Usage::default()));
        }
        match (metric, &self.judge) {
            (Metric::Command(program), _) => {
                let score = program.judge(&example.inputs, expected, outputs).await?;
                Ok((score, Usage::default()))
            }
            (_, Some(judge)) => judge.verdict(&example.inputs, expected, outputs).await,
            (_, None) => Err(MetricError::new("judge", "there is no model to judge")),
        }
    }
}

impl Fault {
    fn of(error: &MetricError) -> Self {
        Self {
            kind: error.kind().to_owned(),
            message: error.to_string(),
        }
    }
}
