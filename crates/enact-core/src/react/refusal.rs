//! Handles failed requests, and models that lack a capability.

use super::state::{Phase, RunState};
use crate::model::{Capabilities, ModelErrorKind};
use crate::run::{Event, PredictorName, TerminationReason};

/// Consecutive replies without a call after which a model is assumed not to call tools
/// natively.
const WITHOUT_CALL: u32 = 2;

/// What a run does about a failed request.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Recovery {
    /// Make the prompt shorter, or continue without the reply.
    Shorten,
    /// Assume only these capabilities of the model from now on.
    Adapt(Capabilities),
    /// Ask again, without a response schema.
    Plainer,
    /// Extract the outputs, since they can't be demanded.
    Extract(TerminationReason),
}

impl RunState {
    /// Whether the run continues by itself after such a failure of the current request.
    pub fn recovers_from(&self, predictor: PredictorName, kind: ModelErrorKind) -> bool {
        self.recovery(predictor, kind).is_some()
    }

    pub(super) fn recovery(
        &self,
        predictor: PredictorName,
        kind: ModelErrorKind,
    ) -> Option<Recovery> {
        use ModelErrorKind as Kind;
        let is_step = predictor == PredictorName::Step && self.program.step.is_some();
        let can = self.wording.capabilities(predictor);
        match (&self.phase, kind) {
            (
                Phase::Demand(reason),
                Kind::ContextLength
                | Kind::InvalidRequest
                | Kind::ToolsRefused
                | Kind::FormatRefused
                | Kind::ContentFilter
                | Kind::Server
                | Kind::Protocol
                | Kind::Timeout,
            ) => Some(Recovery::Extract(*reason)),
            (_, Kind::ContextLength) => Some(Recovery::Shorten),
            // A server may mention a grammar that it derives from the tools.
            (_, Kind::ToolsRefused | Kind::FormatRefused)
                if is_step && self.wording.may_write_calls(predictor) =>
            {
                Some(Recovery::Adapt(can.with_tools(false)))
            }
            (_, Kind::FormatRefused) if is_step && can.response_schema => {
                Some(Recovery::Adapt(can.with_response_schema(false)))
            }
            // The problem may be the schema, which is dispensable.
            (_, Kind::FormatRefused | Kind::InvalidRequest)
                if !is_step && can.response_schema && self.has_schema(predictor) =>
            {
                Some(Recovery::Plainer)
            }
            // Some servers have no better word for a schema that they cannot take.
            (Phase::Extract { .. }, Kind::Server | Kind::Protocol)
                if self.program.step.is_some()
                    && can.response_schema
                    && self.has_schema(predictor) =>
            {
                Some(Recovery::Plainer)
            }
            _ => None,
        }
    }

    /// Whether the requests of a predictor contain a response schema.
    fn has_schema(&self, predictor: PredictorName) -> bool {
        let asking = self.program.predictor(predictor);
        let can = self.wording.capabilities(predictor);
        let adapter = self.wording.adapter(predictor);
        let request = asking.request(adapter, can, crate::model::Prompt::new());
        request.response_format != crate::model::ResponseFormat::Text
    }

    /// The capabilities of the model of the steps, if it has shown that it doesn't call natively.
    pub(super) fn lesser_model(&self) -> Option<(Capabilities, String)> {
        let step = PredictorName::Step;
        if self.patience.without_call < WITHOUT_CALL || !self.wording.may_write_calls(step) {
            return None;
        }
        let why = format!(
            "{} replies in a row held no tool call",
            self.patience.without_call
        );
        Some((self.wording.capabilities(step).with_tools(false), why))
    }

    /// From here on the steps are put into other words.
    pub(super) fn change(&self, capabilities: Capabilities, why: &str) -> Event {
        let adapter = self.wording.adapter_with(PredictorName::Step, capabilities);
        change_to(&adapter, capabilities, why)
    }

    pub(super) fn fold_adapter(
        &mut self,
        predictor: PredictorName,
        adapter: &str,
        capabilities: Capabilities,
    ) {
        self.wording.lower(predictor, adapter, capabilities);
        self.patience.without_call = 0;
        self.patience.was_nudged = false;
        self.steps.forget();
        self.budget.forget_prompt_size();
        if let Phase::Record(_) = self.phase {
            self.phase = Phase::Step;
        }
    }
}

/// From here on the steps use this adapter, where none is fixed.
pub(super) fn change_to(adapter: &str, capabilities: Capabilities, why: &str) -> Event {
    Event::adapter_changed(PredictorName::Step, adapter, capabilities, why)
}
