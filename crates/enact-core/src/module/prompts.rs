//! The requests of a run, recomputed from its log.

use std::sync::Arc;

use super::core::{Core, Stops};
use crate::error::{Error, ErrorKind};
use crate::model::Request;
use crate::react::{ModelCall, Next, RunState};
use crate::run::{PredictorName, Run};

/// A request of a run, recomputed from the log by a module's `prompts`.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Asked {
    /// The predictor that asked.
    pub predictor: PredictorName,
    /// The request.
    pub request: Request,
    /// The position of the result in the log: a reply or a failure.
    pub answered_at: u64,
}

impl Core {
    /// The requests of a run of this program, in order. Requests of other programs belong to runs of
    /// their own.
    pub(super) fn prompts(&self, run: &Run) -> Result<Vec<Asked>, Error> {
        let ready = self.prepare(Stops::default(), None, None)?;
        let began = &run.started().agent;
        let mut program = self.program().clone();
        if !ready.local.has_tools(&began.tools) {
            program = Arc::new(program.with_tools(began.tools.clone())?);
        }
        let mut expected = began.clone();
        // The tools come from the log.
        expected.tools.clear();
        if let Some(difference) = expected.difference(&ready.agent) {
            let message = format!("the run was made by another agent: {difference}");
            return Err(Error::new(ErrorKind::Log, message));
        }
        let mut records = run.records().iter().cloned();
        let Some(first) = records.next() else {
            return Ok(Vec::new());
        };
        let mut state = RunState::begin(program, ready.wording, first)?;
        let mut asked = Vec::new();
        for record in records {
            if record.event.is_of_model()
                && let Next::Model(ModelCall { predictor, request }) = state.decide()
                && !ready.local.programs.contains_key(&predictor)
            {
                asked.push(Asked {
                    predictor,
                    request,
                    answered_at: record.position,
                });
            }
            state.apply(record);
        }
        Ok(asked)
    }
}
