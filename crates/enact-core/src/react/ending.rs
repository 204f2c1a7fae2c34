//! How a run comes to its outputs when its loop of steps is over: the model is told to submit them,
//! and if that fails they are extracted from the trajectory.

use super::compact;
use super::state::{Phase, RunState};
use crate::adapter::Completion;
use crate::adapter::describe::{names, quoted};
use crate::model::{Prompt, Request, ToolChoice};
use crate::predictor::Predictor;
use crate::run::{Event, Notice, PredictorName, TerminationReason};

/// How long the texts of a trajectory may be where a budget has no room for all of it.
const CLIPS: [usize; 3] = [2_000, 300, 40];

impl RunState {
    /// Tells the model to submit its outputs, on the same transcript: its beginning has been paid for,
    /// and nothing is left out. Where that cannot be, they are extracted.
    pub(super) fn enter_answer(&mut self, reason: TerminationReason) {
        self.answering = Some(reason);
        if !self.can_demand() {
            return self.enter_extract(reason);
        }
        let text = submit_now(reason, &self.output_names());
        self.phase = Phase::Record(Event::noticed(Notice::SubmitNow, text));
    }

    pub(super) fn can_demand(&self) -> bool {
        // An extraction must still be possible afterwards.
        let room = self.room(PredictorName::Step, &self.step_prompt);
        // Without a step there is no transcript to go on with.
        self.steps_taken() > 0
            && self.program.completion == Completion::Submit
            && !self.is_demand_ignored()
            // A prompt that did not fit fits no better with a notice.
            && self.overflow.attempts() == 0
            && room.is_ok()
    }

    /// Whether the demand would be one that the model is known not to hear.
    fn is_demand_ignored(&self) -> bool {
        let predictor = PredictorName::Step;
        let can = self.wording.capabilities(predictor);
        let demand = |step: &Predictor| {
            let adapter = self.wording.adapter(predictor);
            adapter.demand(step.task(), can, Request::new(Prompt::new()))
        };
        let is_choice = |step| demand(step).tool_choice != ToolChoice::Auto;
        can.ignores_tool_choice && self.program.step.as_ref().is_some_and(is_choice)
    }

    /// The declared outputs, as a model is told of them.
    pub(super) fn output_names(&self) -> String {
        quoted(names(self.program.declared.outputs()))
    }

    /// Asks for the outputs, from as much of the trajectory as there is room for: the last reply and
    /// what its calls gave may be longer than what was kept free for the answer.
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
