//! The requests of a run, made again from its log.

use std::sync::Arc;

use super::core::{Core, Stops};
use crate::error::{Error, ErrorKind};
use crate::model::Request;
use crate::react::{ModelCall, Next, RunState};
use crate::run::{PredictorName, Run};

/// A request that a run made to a model, as `prompts` of a module makes it again from the log.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Asked {
    /// On behalf of whom.
    pub predictor: PredictorName,
    /// What was asked.
    pub request: Request,
    /// The place in the log of what came of it: the reply, or the failure.
    pub answered_at: u64,
}

impl Core {
    /// The requests of a run of this program, in order. Those of other programs that take part are
    /// in runs of their own.
    pub(super) fn prompts(&self, run: &Run) -> Result<Vec<Asked>, Error> {
        let ready = self.prepare(Stops::default(), None, None)?;
        let began = &run.started().agent;
        let mut program = self.program().clone();
        if !ready.local.has_tools(&began.tools) {
            program = Arc::new(program.with_tools(began.tools.clone())?);
        }
        let mut expected = began.clone();
        // The tools are those of the log.
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
