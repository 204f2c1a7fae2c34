//! Determines the outputs after the loop of steps: the model is asked to submit them, and if that fails
//! they are extracted from the trajectory.

use super::compact;
use super::state::{Phase, RunState};
use crate::adapter::Completion;
use crate::adapter::describe::{names, quoted};
use crate::model::Prompt;
use crate::run::{Event, Notice, PredictorName, TerminationReason};

/// The maximum length of texts in a trajectory if a budget has no room for all of it.
const CLIPS: [usize; 3] = [2_000, 300, 40];

impl RunState {
    /// Asks the model to submit its outputs, with the same transcript: it is complete, and its beginning is
    /// cached. If that is not possible, they are extracted.
    pub(super) fn enter_answer(&mut self, reason: TerminationReason) {
        self.answering = Some(reason);
        if !self.can_demand() {
            return self.enter_extract(reason);
        }
        let text = submit_now(reason, &self.output_names());
        self.phase = Phase::Record(Event::noticed(Notice::SubmitNow, text));
    }

    pub(super) fn can_demand(&self) -> bool {
        // There must be room for an extraction afterwards.
        let room = self.room(PredictorName::Step, &self.step_prompt);
        // Without steps, there is no transcript to continue.
        self.steps_taken() > 0
            && self.program.completion == Completion::Submit
            // A prompt that did not fit won't fit with a notice.
            && self.overflow.attempts() == 0
            && room.is_ok()
    }

    /// The declared outputs as a model sees them.
    pub(super) fn output_names(&self) -> String {
        quoted(names(self.program.declared.outputs()))
    }

    /// Requests the outputs with as much of the trajectory as there is room for: the last reply and its
    /// results may be longer than what was reserved for the answer.
    pub(super) fn enter_extract(&mut self, reason: TerminationReason) {
        let render = |clip| {
            self.render(
                PredictorName::Extract,
                &compact::extract_entries(self, clip),
            )
        };
        let has_room = |prompt: &Prompt| self.room(PredictorName::Extract, prompt).is_ok();
        let mut prompt = render(usize::MAX);
        for clip in CLIPS {
            if has_room(&prompt) {
                break;
            }
            prompt = render(clip);
        }
        self.ask_for_outputs(reason, prompt, 0);
    }

    pub(super) fn ask_for_outputs(
        &mut self,
        reason: TerminationReason,
        prompt: Prompt,
        misreads: u32,
    ) {
        self.phase = match self.room(PredictorName::Extract, &prompt) {
            Err(budget) => {
                let name = budget.as_str().replace('_', " ");
                let message = format!(
                    "the {name} leaves no room for an answer: raise it, or give shorter inputs"
                );
                Phase::Record(Event::failed(budget, message))
            }
            Ok(_) => Phase::Extract {
                reason,
                prompt,
                misreads,
            },
        };
    }
}

fn submit_now(reason: TerminationReason, outputs: &str) -> String {
    let why = match reason {
        TerminationReason::MaxIterations => "No steps are left.",
        TerminationReason::ToolCallBudget => "No tool calls are left.",
        TerminationReason::TokenBudget | TerminationReason::CostBudget => "The budget is used up.",
        TerminationReason::Timeout => "The time is up.",
        TerminationReason::Stalled => "The last steps brought nothing new.",
        TerminationReason::Success => "The task is done.",
        _ => "Work on the task has ended.",
    };
    format!(
        "{why} Call `submit` now with {outputs}, and nothing else: give the best answer that the \
         results above support."
    )
}
