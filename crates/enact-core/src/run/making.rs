//! Constructors for the events that the core and the drivers write.

use std::sync::Arc;
use std::time::Duration;

use super::event::{Asked, Event, Notice, PredictorName, Reading, Replied, TerminationReason};
use super::history::Observation;
use super::question::{Answerer, Decision};
use super::repair::Repair;
use super::seal::SealKey;
use super::started::Started;
use super::step_call::Done;
use crate::model::{Capabilities, ModelError, ModelErrorKind, Reply, Usage};
use crate::tool::ToolSpec;

impl Event {
    /// The run starts.
    pub(crate) fn began(started: Started) -> Self {
        Self::Started(Arc::new(started))
    }

    /// Seals the start of a run.
    pub(crate) fn sealed(mut self, key: &SealKey) -> Self {
        if let Self::Started(started) = &mut self {
            let seal = key.seal(started);
            Arc::make_mut(started).seal = Some(seal);
        }
        self
    }

    /// A model replied.
    pub(crate) fn replied(replied: Replied) -> Self {
        Self::Replied(Arc::new(replied))
    }

    /// Whether it is a step.
    pub fn is_step(&self) -> bool {
        self.reply().is_some_and(|reply| reply.stepped().is_some())
    }

    /// The reply in the event, if there is one.
    pub fn reply(&self) -> Option<&Replied> {
        match self {
            Self::Replied(replied) => Some(replied),
            _ => None,
        }
    }

    /// How long a model or a tool worked on it, if one did.
    pub fn took(&self) -> Option<Duration> {
        match self {
            Self::Replied(replied) => Some(replied.duration),
            Self::ToolFinished(done) => Some(done.duration),
            _ => None,
        }
    }

    /// A request to a model failed.
    pub(crate) fn failed_request(predictor: PredictorName, error: &ModelError) -> Self {
        Self::failed_request_of(predictor, error.kind(), error.to_string())
    }

    /// Whether it is the result of a model request: a reply or a failure.
    pub(crate) fn is_of_model(&self) -> bool {
        matches!(self, Self::Replied(_) | Self::ModelFailed { .. })
    }

    /// A request to a model failed with this kind of error.
    pub(crate) fn failed_request_of(
        predictor: PredictorName,
        kind: ModelErrorKind,
        message: impl Into<String>,
    ) -> Self {
        Self::ModelFailed {
            predictor,
            kind,
            message: message.into(),
        }
    }

    /// A call is about to run.
    pub fn tool_started(call_id: impl Into<String>) -> Self {
        Self::ToolStarted {
            call_id: call_id.into(),
        }
    }

    /// A call finished, with its duration and cost.
    pub fn tool_finished(
        call_id: impl Into<String>,
        observation: Observation,
        duration: Duration,
        (usage, cost): (Usage, f64),
    ) -> Self {
        Self::ToolFinished(Done::new(call_id, observation).spending(duration, usage, cost))
    }

    /// A call gave this.
    pub(crate) fn tool_done(done: Done) -> Self {
        Self::ToolFinished(done)
    }

    /// The result of a call that doesn't run.
    pub(crate) fn tool_decided(call_id: impl Into<String>, observation: Observation) -> Self {
        Self::ToolFinished(Done::new(call_id, observation))
    }

    /// A call is answered by the record at this index.
    pub(crate) fn recalled(call_id: impl Into<String>, answer: usize) -> Self {
        Self::Recalled {
            call_id: call_id.into(),
            answer: answer as u64,
        }
    }

    /// The model receives a notice.
    pub(crate) fn noticed(about: Notice, text: impl Into<String>) -> Self {
        Self::Noticed {
            about,
            text: text.into(),
        }
    }

    /// The tools changed.
    pub(crate) fn tools_changed(tools: Vec<ToolSpec>) -> Self {
        Self::ToolsChanged { tools }
    }

    /// The steps use another adapter.
    pub(crate) fn adapter_changed(
        predictor: PredictorName,
        adapter: impl Into<String>,
        capabilities: Capabilities,
        why: impl Into<String>,
    ) -> Self {
        Self::AdapterChanged {
            predictor,
            adapter: adapter.into(),
            capabilities,
            why: why.into(),
        }
    }

    /// A person is asked.
    pub(crate) fn asked(asked: Asked) -> Self {
        Self::Asked(Box::new(asked))
    }

    /// A question was answered.
    pub(crate) fn answered(
        confirmation_id: impl Into<String>,
        decision: Decision,
        by: Answerer,
    ) -> Self {
        Self::Answered {
            confirmation_id: confirmation_id.into(),
            decision,
            by,
        }
    }

    /// An answer was withdrawn.
    pub(crate) fn withdrawn(confirmation_id: impl Into<String>) -> Self {
        Self::Withdrawn {
            confirmation_id: confirmation_id.into(),
        }
    }

    /// A custom condition was checked.
    pub(crate) fn condition_checked(ends: bool) -> Self {
        Self::ConditionChecked { ends }
    }

    /// The loop of steps ended.
    pub(crate) fn loop_ended(reason: TerminationReason) -> Self {
        Self::LoopEnded { reason }
    }

    /// The run ended with outputs.
    pub(crate) fn finished(reason: TerminationReason) -> Self {
        Self::Finished { reason }
    }

    /// The run ended without outputs.
    pub(crate) fn failed(reason: TerminationReason, message: impl Into<String>) -> Self {
        Self::Failed {
            reason,
            message: message.into(),
        }
    }
}

impl Replied {
    /// A reply with its reading.
    pub(crate) fn new(
        predictor: PredictorName,
        reply: Reply,
        read: Reading,
        duration: Duration,
    ) -> Self {
        Self {
            predictor,
            reply,
            read,
            repairs: Vec::new(),
            duration,
        }
    }

    /// Adds the repairs.
    pub(crate) fn mended(mut self, repairs: Vec<Repair>) -> Self {
        self.repairs = repairs;
        self
    }
}
