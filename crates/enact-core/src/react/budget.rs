//! What a run has spent, and whether there is room for another request.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::model::{Price, Prompt, Request, ResponseFormat, Usage};
use crate::run::{Done, Limits, Notice, PredictorName, Replied, Started, TerminationReason};

/// Fewer bytes than a token has in almost any text, so that tokens are rather over- than
/// underestimated.
const BYTES_PER_TOKEN: usize = 3;
/// The reply of the final answer, and what its prompt holds beyond that of a step.
const ANSWER_TOKENS: u64 = 512;
const ANSWER_PROMPT_TOKENS: u64 = 300;
/// What a demand to submit that fails adds to the prompt of the final answer.
const DEMAND_TOKENS: u64 = 256;
/// No reply of fewer tokens is worth asking for.
const SMALLEST_REPLY: u64 = 64;

/// What a run may spend, and has spent so far.
#[derive(Debug, Default)]
pub(super) struct Budget {
    limits: Limits,
    prices: BTreeMap<PredictorName, Price>,
    /// Of models, and of tools that ask models.
    tokens: u64,
    cost: f64,
    /// Of models and tools. Waiting for people does not count.
    time: Duration,
    tool_calls: u32,
    /// The tokens of the last step's prompt, and its bytes then.
    known: Option<(u64, usize)>,
    /// What a step's request carries beside its messages, in bytes, once it was measured.
    frame: Option<usize>,
}

/// How many tokens a reply may have, if that is limited; or the budget that leaves no room for the
/// request.
pub(super) type Room = Result<Option<u64>, TerminationReason>;

impl Budget {
    pub(super) fn new(started: &Started) -> Self {
        Self {
            limits: started.limits,
            prices: started.agent.prices.clone(),
            ..Self::default()
        }
    }

    /// Takes a reply into account, for which the prompt of the steps was this.
    pub(super) fn spend(&mut self, replied: &Replied, cost: Option<f64>, steps: &Prompt) {
        let (predictor, usage) = (replied.predictor, replied.reply.usage);
        self.tokens += usage.input_tokens + usage.output_tokens;
        self.spend_time(replied.duration);
        self.cost += cost.unwrap_or_default();
        if predictor == PredictorName::Step && usage.input_tokens > 0 {
            self.known = Some((usage.input_tokens, steps.bytes()));
        }
    }

    /// Takes into account what a call spent on models of its own.
    pub(super) fn spend_on_call(&mut self, done: &Done) {
        self.tokens += done.usage.input_tokens + done.usage.output_tokens;
        self.cost += done.cost;
    }

    /// A call is made.
    pub(super) fn count_call(&mut self) {
        self.tool_calls += 1;
    }

    pub(super) fn spend_time(&mut self, time: Duration) {
        self.time = self.time.saturating_add(time);
    }

    /// The step prompt is made anew: what is known of the old one does not count.
    pub(super) fn forget_prompt_size(&mut self) {
        self.known = None;
        self.frame = None;
    }

    /// How many tokens a prompt has at most: by its bytes, or by what the provider counted for its
    /// beginning, whichever is more.
    fn prompt_tokens(&self, predictor: PredictorName, prompt: &Prompt) -> u64 {
        let tokens = |bytes: usize| bytes.div_ceil(BYTES_PER_TOKEN) as u64;
        let by_bytes = tokens(prompt.bytes() + self.frame.unwrap_or_default());
        match (predictor, self.known) {
            (PredictorName::Step, Some((known, seen))) => {
                by_bytes.max(known + tokens(prompt.bytes().saturating_sub(seen)))
            }
            _ => by_bytes,
        }
    }

    /// Whether a request may be made, and how long its reply may be, so that no budget is passed
    /// and room is left for the final answer.
    pub(super) fn room(
        &self,
        predictor: PredictorName,
        prompt: &Prompt,
        steps: &Prompt,
        is_answering: bool,
    ) -> Room {
        let limits = &self.limits;
        if !self.is_measured() {
            return Ok(None);
        }
        let input = self.prompt_tokens(predictor, prompt);
        let (answer_input, answer) = match predictor {
            PredictorName::Extract => (0, 0),
            // The answer's prompt shows what that of the steps shows.
            _ => {
                let shown = self.prompt_tokens(PredictorName::Step, steps);
                let demand = if is_answering { DEMAND_TOKENS } else { 0 };
                (shown + ANSWER_PROMPT_TOKENS + demand, ANSWER_TOKENS)
            }
        };
        let mut room = u64::MAX;
        if let Some(budget) = limits.token_budget {
            room = budget.saturating_sub(self.tokens + input + answer_input + answer);
            if room < SMALLEST_REPLY {
                return Err(TerminationReason::TokenBudget);
            }
        }
        if let Some(budget) = limits.cost_budget {
            let price = |name| self.prices.get(&name).copied();
            if let (Some(now), Some(then)) = (price(predictor), price(PredictorName::Extract)) {
                let left = budget
                    - self.cost
                    - now.of(Usage::of_request(input, 0))
                    - then.of(Usage::of_request(answer_input, answer));
                let one = now.of(Usage::of_request(0, 1));
                // A model that costs nothing has room as long as nothing is overspent.
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

    /// How many tokens tools may spend on models of their own.
    pub(super) fn tokens_left(&self, steps: &Prompt) -> Option<u64> {
        let budget = self.limits.token_budget?;
        let answer =
            self.prompt_tokens(PredictorName::Step, steps) + ANSWER_PROMPT_TOKENS + ANSWER_TOKENS;
        Some(budget.saturating_sub(self.tokens + answer))
    }

    /// How much money tools may spend on them.
    pub(super) fn money_left(&self, steps: &Prompt) -> Option<f64> {
        let budget = self.limits.cost_budget?;
        let price = self.prices.get(&PredictorName::Extract)?;
        let shown = self.prompt_tokens(PredictorName::Step, steps);
        let answer = Usage::of_request(shown + ANSWER_PROMPT_TOKENS, ANSWER_TOKENS);
        Some((budget - self.cost - price.of(answer)).max(0.0))
    }

    /// Whether tokens are counted at all.
    pub(super) fn is_measured(&self) -> bool {
        let limits = &self.limits;
        limits.token_budget.is_some() || limits.cost_budget.is_some()
    }

    /// Whether it is known what a step's request carries beside its messages, if that counts.
    pub(super) fn has_frame(&self) -> bool {
        !self.is_measured() || self.frame.is_some()
    }

    /// Measures what a step's request carries beside its messages: tools and schema.
    pub(super) fn measure_frame(&mut self, request: &Request) {
        let tools = request.tools.list().iter();
        let tools = tools.map(|tool| {
            60 + tool.name.len() + tool.description.len() + tool.parameters.to_string().len()
        });
        let schema = match &request.response_format {
            ResponseFormat::Schema { name, schema } => 60 + name.len() + schema.to_string().len(),
            _ => 0,
        };
        self.frame = Some(tools.sum::<usize>() + schema);
    }

    /// How long the loop of steps may still work.
    pub(super) fn step_time_left(&self) -> Option<Duration> {
        let budget = self.limits.time_budget?;
        // The rest is for the final answer.
        Some((budget * 4 / 5).saturating_sub(self.time))
    }

    pub(super) fn rest_of_time(&self) -> Option<Duration> {
        let budget = self.limits.time_budget?;
        Some(budget.saturating_sub(self.time))
    }

    /// The budget that leaves no room for another step, if one does.
    pub(super) fn used_up(&self, steps: &Prompt) -> Option<TerminationReason> {
        let limits = &self.limits;
        let calls = limits.max_tool_calls;
        if calls.is_some_and(|most| self.tool_calls >= most) {
            return Some(TerminationReason::ToolCallBudget);
        }
        if self.step_time_left().is_some_and(|left| left.is_zero()) {
            return Some(TerminationReason::Timeout);
        }
        self.room(PredictorName::Step, steps, steps, false).err()
    }

    /// How many more tool calls may run.
    pub(super) fn calls_left(&self) -> u32 {
        let most = self.limits.max_tool_calls.unwrap_or(u32::MAX);
        most.saturating_sub(self.tool_calls)
    }

    /// The limits that are near, with what is left.
    pub(super) fn near_limits(&self, taken: u32) -> impl Iterator<Item = (Notice, String)> {
        let limits = self.limits;
        let steps = limits.max_iterations.saturating_sub(taken);
        let steps = (taken > 0 && steps <= (limits.max_iterations / 5).max(1))
            .then(|| (Notice::FewSteps, counted(u64::from(steps), "step")));
        let calls = limits.max_tool_calls.and_then(|most| {
            let left = self.calls_left();
            (self.tool_calls > 0 && left <= (most / 5).max(1))
                .then(|| (Notice::FewToolCalls, counted(u64::from(left), "tool call")))
        });
        // A third of a budget, because a part is kept for the answer.
        let tokens = limits.token_budget.and_then(|budget| {
            let left = budget.saturating_sub(self.tokens);
            (left < budget / 3).then(|| (Notice::FewTokens, counted(left, "token")))
        });
        let money = limits.cost_budget.and_then(|budget| {
            (budget - self.cost < budget / 3.0)
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
