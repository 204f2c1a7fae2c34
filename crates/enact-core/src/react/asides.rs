//! Requests besides the steps: judging the task, and summarising large observations.

use serde_json::Value;

use super::calls::CallStatus;
use super::state::RunState;
use super::{shorten, text};
use crate::model::Prompt;
use crate::run::{Call, Entry, Observation, PredictorName, Standing, TerminationReason};
use crate::signature::Values;

/// How much more of an observation the summarising model sees than a prompt shows.
const SHOWN_TO_SUMMARISE: u32 = 16;

impl RunState {
    /// The request for judging the task, if the budgets allow it.
    pub(super) fn judging(&self) -> Option<Prompt> {
        if !self.is_unjudged {
            return None;
        }
        let own = self.started().history.entries().len();
        let entries = self.run.transcript();
        let positions = crate::run::visible_positions(&entries).into_iter();
        let steps: Vec<_> = positions
            .filter(|position| *position > own)
            .map(|position| self.shown(&entries[position]))
            .collect();
        let trajectory = text::of_entries(steps.iter().map(AsRef::as_ref), usize::MAX);
        let values = [("task", self.task()), ("trajectory", trajectory)];
        self.aside(PredictorName::Judge, values)
    }

    pub(super) fn fold_judgement(&mut self, standing: Standing) {
        self.is_unjudged = false;
        self.ending = match standing {
            Standing::Open => None,
            Standing::Done => Some(TerminationReason::Success),
            Standing::Impossible => Some(TerminationReason::Failure),
        };
    }

    /// Whether an observation is to be summarised by a model.
    pub(super) fn is_to_condense(&self, observation: &Observation) -> bool {
        let tokens = self.started().limits.max_observation_tokens;
        self.started().rules.condenses && shorten::is_large(&observation.value, tokens)
    }

    /// The call whose observation is summarised next, once all calls of the step are complete, if the
    /// budgets allow the request.
    pub(super) fn condensing(&self) -> Option<(&Call, Prompt)> {
        let calls = self.calls();
        let large = calls.iter().find(|state| state.is_large)?;
        if calls.iter().any(|state| state.status != CallStatus::Done) {
            return None;
        }
        let step = self.last_step()?;
        let call = self.call(large);
        let value = &self.step_call(large).done.as_ref()?.observation.value;
        let tokens = self.started().limits.max_observation_tokens;
        let result = shorten::text(value, tokens.saturating_mul(SHOWN_TO_SUMMARISE));
        let args = Value::Object(call.args.clone());
        let values = [
            ("task", self.task()),
            ("thought", step.thought().to_owned()),
            ("call", format!("{} {args}", call.name)),
            ("result", result),
        ];
        let prompt = self.aside(PredictorName::Condense, values)?;
        Some((call, prompt))
    }

    /// The reply of a predictor is unusable: the run continues as if it had not been asked.
    pub(super) fn do_without(&mut self, predictor: PredictorName) {
        if predictor == PredictorName::Judge {
            self.is_unjudged = false;
        } else if let Some(call) = self.calls_mut().iter_mut().find(|call| call.is_large) {
            call.is_large = false;
        }
    }

    fn task(&self) -> String {
        format!("{}\n{}", text::of_task(self), self.program.declared.arrow())
    }

    fn aside<const N: usize>(
        &self,
        predictor: PredictorName,
        values: [(&str, String); N],
    ) -> Option<Prompt> {
        let values = values.map(|(name, text)| (name.to_owned(), Value::String(text)));
        let values = Values::from_iter(values);
        let prompt = self.render_alone(predictor, &[Entry::Inputs { values }]);
        self.room(predictor, &prompt).ok().map(|_| prompt)
    }
}
