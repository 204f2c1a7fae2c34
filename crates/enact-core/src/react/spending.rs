//! The usage of a run, and whether there is room for another request.

use std::time::Duration;

use super::state::{ModelCall, Next, Phase, RunState};
use crate::model::{ModelErrorKind, Prompt, Request, ResponseFormat, Usage};
use crate::run::{Event, Notice, PredictorName, Replied, TerminationReason};

/// Fewer bytes than a token has in almost any text, so that estimates are rather too
/// high.
const BYTES_PER_TOKEN: usize = 3;
/// Tokens for the reply with the final answer, and for what its prompt adds to that of a step.
const ANSWER_TOKENS: u64 = 512;
const ANSWER_PROMPT_TOKENS: u64 = 300;
/// Tokens that a failed demand to submit adds to the prompt of the final answer.
const DEMAND_TOKENS: u64 = 256;
/// A reply with fewer tokens is not worth a request.
const SMALLEST_REPLY: u64 = 64;

/// The usage of a run so far.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Spent {
    pub(super) cost: f64,
    /// The time of models and tools. Waiting for people doesn't count.
    pub(super) time: Duration,
    pub(super) tool_calls: u32,
    /// The tokens of the last step's prompt, and its size in bytes at that time.
    known: Option<(u64, usize)>,
}

/// The maximum number of tokens of a reply, if it is limited; or the budget that leaves no room for the
/// request.
pub(super) type Room = Result<Option<u64>, TerminationReason>;

impl RunState {
    /// Adds a reply.
    pub(super) fn spend(&mut self, replied: &Replied) {
        let (predictor, usage) = (replied.predictor, replied.reply.usage);
        self.spent.time = self.spent.time.saturating_add(replied.duration);
        if let Some(price) = self.started().agent.prices.get(&predictor) {
            self.spent.cost += price.of(usage);
        }
        if predictor == PredictorName::Step && usage.input_tokens > 0 {
            self.spent.known = Some((usage.input_tokens, self.step_prompt.bytes()));
        }
    }

    /// The step prompt was rebuilt: what is known of the old one no longer applies.
    pub(super) fn forget_prompt_size(&mut self) {
        self.spent.known = None;
    }

    /// The maximum number of tokens of a prompt: by its size, or by the provider's count for its beginning,
    /// whichever is larger.
    fn prompt_tokens(&self, predictor: PredictorName, prompt: &Prompt) -> u64 {
        let tokens = |bytes: usize| bytes.div_ceil(BYTES_PER_TOKEN) as u64;
        let by_bytes = tokens(prompt.bytes() + self.frame_bytes);
        match (predictor, self.spent.known) {
            (PredictorName::Step, Some((known, seen))) => {
                by_bytes.max(known + tokens(prompt.bytes().saturating_sub(seen)))
            }
            _ => by_bytes,
        }
    }

    /// Whether a request is possible, and how long its reply can be, so that no budget is exceeded and there
    /// is room for the final answer.
    pub(super) fn room(&self, predictor: PredictorName, prompt: &Prompt) -> Room {
        let limits = &self.started().limits;
        if !self.is_measured() {
            return Ok(None);
        }
        let input = self.prompt_tokens(predictor, prompt);
        let (answer_input, answer) = match predictor {
            PredictorName::Extract => (0, 0),
            // The prompt of the answer contains what that of the steps contains.
            _ => {
                let shown = self.prompt_tokens(PredictorName::Step, &self.step_prompt);
                let demand = self.answering.map_or(0, |_| DEMAND_TOKENS);
                (shown + ANSWER_PROMPT_TOKENS + demand, ANSWER_TOKENS)
            }
        };
        let mut room = u64::MAX;
        if let Some(budget) = limits.token_budget {
            room = budget.saturating_sub(self.tokens_spent() + input + answer_input + answer);
            if room < SMALLEST_REPLY {
                return Err(TerminationReason::TokenBudget);
            }
        }
        if let Some(budget) = limits.cost_budget {
            let prices = &self.started().agent.prices;
            let price = |name| prices.get(&name).copied();
            if let (Some(now), Some(then)) = (price(predictor), price(PredictorName::Extract)) {
                let left = budget
                    - self.spent.cost
                    - now.of(Usage::of_request(input, 0))
                    - then.of(Usage::of_request(answer_input, answer));
                let one = now.of(Usage::of_request(0, 1));
                // A free model has room as long as nothing is overspent.
                let affordable = match (left >= 0.0, one > 0.0) {
                    (false, _) => 0,
                    (true, false) => u64::MAX,
                    (true, true) => (left / one) as u64,
                };
                room = room.min(affordable);
            }
            if room < SMALLEST_REPLY {
                return Err(TerminationReason::CostBudget);
            }
        }
        Ok(Some(room))
    }

    fn tokens_spent(&self) -> u64 {
        let usage = self.run.usage();
        usage.input_tokens + usage.output_tokens
    }

    /// The tokens that tools can spend on models of their own.
    pub(super) fn tokens_left(&self) -> Option<u64> {
        let budget = self.started().limits.token_budget?;
        let answer = self.prompt_tokens(PredictorName::Step, &self.step_prompt)
            + ANSWER_PROMPT_TOKENS
            + ANSWER_TOKENS;
        Some(budget.saturating_sub(self.tokens_spent() + answer))
    }

    /// The money that tools can spend on them.
    pub(super) fn money_left(&self) -> Option<f64> {
        let budget = self.started().limits.cost_budget?;
        let price = self.started().agent.prices.get(&PredictorName::Extract)?;
        let shown = self.prompt_tokens(PredictorName::Step, &self.step_prompt);
        let answer = Usage::of_request(shown + ANSWER_PROMPT_TOKENS, ANSWER_TOKENS);
        Some((budget - self.spent.cost - price.of(answer)).max(0.0))
    }

    /// Limits a reply to the remaining room.
    pub(super) fn confine(&self, predictor: PredictorName, mut request: Request) -> Request {
        if let Ok(Some(room)) = self.room(predictor, &request.prompt) {
            let room = u32::try_from(room).unwrap_or(u32::MAX);
            let wanted = request.options.max_tokens.unwrap_or(u32::MAX);
            request.options.max_tokens = Some(wanted.min(room)).filter(|most| *most < u32::MAX);
        }
        request
    }

    /// Whether tokens are counted at all.
    pub(super) fn is_measured(&self) -> bool {
        let limits = &self.started().limits;
        limits.token_budget.is_some() || limits.cost_budget.is_some()
    }

    /// Measures what a step's request contains besides its messages: tools and schema.
    pub(super) fn measure_frame(&mut self) {
        if !self.is_measured() {
            return;
        }
        let Next::Model(ModelCall { request, .. }) = self.ask(PredictorName::Step, Prompt::new())
        else {
            return;
        };
        let tools = request.tools.list().iter();
        let tools = tools.map(|tool| {
            60 + tool.name.len() + tool.description.len() + tool.parameters.to_string().len()
        });
        let schema = match &request.response_format {
            ResponseFormat::Schema { name, schema } => 60 + name.len() + schema.to_string().len(),
            _ => 0,
        };
        self.frame_bytes = tools.sum::<usize>() + schema;
    }

    /// The remaining time for the loop of steps.
    fn step_time_left(&self) -> Option<Duration> {
        let budget = self.started().limits.time_budget?;
        // The rest is for the final answer.
        Some((budget * 4 / 5).saturating_sub(self.spent.time))
    }

    /// The time limit for what comes next; `None` without a time budget.
    pub fn time_left(&self) -> Option<Duration> {
        match self.phase {
            Phase::Step | Phase::Act(_) | Phase::Judge(_) => self.step_time_left(),
            // The rest is for the extraction.
            Phase::Demand(_) => Some(self.rest_of_time()? / 2),
            _ => self.rest_of_time(),
        }
    }

    fn rest_of_time(&self) -> Option<Duration> {
        let budget = self.started().limits.time_budget?;
        Some(budget.saturating_sub(self.spent.time))
    }

    /// The event for a model that didn't answer in the remaining time.
    pub fn out_of_time(&self) -> Event {
        let reason = TerminationReason::Timeout;
        match self.phase {
            Phase::Step | Phase::Act(_) | Phase::Judge(_) => Event::loop_ended(reason),
            Phase::Demand(_) => Event::failed_request_of(
                PredictorName::Step,
                ModelErrorKind::Timeout,
                "the outputs were not submitted in the time that was left",
            ),
            _ => Event::failed(reason, "the time budget is used up, and there is no answer"),
        }
    }

    /// The loop ended because its time was up: that time is used up.
    pub(super) fn spend_step_time(&mut self) {
        if let Some(left) = self.step_time_left() {
            self.spent.time = self.spent.time.saturating_add(left);
        }
    }

    /// The model didn't submit in its time: that time is used up.
    pub(super) fn spend_demand_time(&mut self) {
        if let Some(left) = self.time_left() {
            self.spent.time = self.spent.time.saturating_add(left);
        }
    }

    /// The budget that leaves no room for another step, if any.
    pub(super) fn used_up(&self) -> Option<TerminationReason> {
        let limits = &self.started().limits;
        let calls = limits.max_tool_calls;
        if calls.is_some_and(|most| self.spent.tool_calls >= most) {
            return Some(TerminationReason::ToolCallBudget);
        }
        if self.step_time_left().is_some_and(|left| left.is_zero()) {
            return Some(TerminationReason::Timeout);
        }
        self.room(PredictorName::Step, &self.step_prompt).err()
    }

    /// The remaining number of tool calls.
    pub(super) fn calls_left(&self) -> u32 {
        let most = self.started().limits.max_tool_calls.unwrap_or(u32::MAX);
        most.saturating_sub(self.spent.tool_calls)
    }

    /// The notices for limits that are near, once for each.
    pub(super) fn near_limit(&self) -> Option<(Notice, String)> {
        let (about, left) = self
            .near_limits()
            .find(|(about, _)| !self.told.contains(about))?;
        let text =
            format!("A limit is near: at most {left} left. Come to the answer with what you know.");
        Some((about, text))
    }

    /// The limits that are near, with the remaining amounts.
    fn near_limits(&self) -> impl Iterator<Item = (Notice, String)> {
        let limits = self.started().limits;
        let steps = limits.max_iterations.saturating_sub(self.steps_taken());
        let steps = (self.steps_taken() > 0 && steps <= (limits.max_iterations / 5).max(1))
            .then(|| (Notice::FewSteps, counted(u64::from(steps), "step")));
        let calls = limits.max_tool_calls.and_then(|most| {
            let left = self.calls_left();
            (self.spent.tool_calls > 0 && left <= (most / 5).max(1))
                .then(|| (Notice::FewToolCalls, counted(u64::from(left), "tool call")))
        });
        // A third of a budget, because a part is reserved for the answer.
        let tokens = limits.token_budget.and_then(|budget| {
            let left = budget.saturating_sub(self.tokens_spent());
            (left < budget / 3).then(|| (Notice::FewTokens, counted(left, "token")))
        });
        let money = limits.cost_budget.and_then(|budget| {
            (budget - self.spent.cost < budget / 3.0)
                .then(|| (Notice::LittleMoney, "a third of the money".to_owned()))
        });
        let time = limits.time_budget.and_then(|budget| {
            let left = self.step_time_left()?;
            (left < budget / 4).then(|| {
                (
                    Notice::LittleTime,
                    format!("{:.0} seconds", left.as_secs_f64()),
                )
            })
        });
        [steps, calls, tokens, money, time].into_iter().flatten()
    }
}

fn counted(number: u64, what: &str) -> String {
    let s = if number == 1 { "" } else { "s" };
    format!("{number} {what}{s}")
}
