//! Shows a run step by step, as it happens.

use std::sync::{Mutex, MutexGuard, PoisonError};

use enact::adapter::{Piece, Repair};
use enact::model::{ANSWERED_BY_CACHE, ModelErrorKind, Reply, Usage};
use enact::run::{
    Answerer, AskedQuestion, Change, Observation, PredictorName, Reading, Record, Remark, Replied,
    Step, StepOutcome,
};
use enact::{Decision, Run, TerminationReason, Update, Values};

use enact::providers;

use super::screen::{Ink, Screen};
use super::values::call_line;
use super::{exact, text};

/// The maximum number of lines of a thought and of an observation.
const THOUGHT_LINES: usize = 20;
const OBSERVATION_LINES: usize = 5;
const INDENT: &str = "   ";
/// The number of characters to show of a thought while it is written.
const TAIL: usize = 60;
/// The number of characters to render of an output while it is written, enough for a screen.
const LIVE: usize = 8_000;

/// The last characters of a text.
fn tail(text: &str, characters: usize) -> &str {
    let start = text.char_indices().rev().nth(characters);
    &text[start.map_or(0, |(at, _)| at)..]
}

/// Shows a run to a person.
#[derive(Debug)]
pub(crate) struct Narrator {
    screen: Screen,
    model: String,
    told: Mutex<Told>,
}

/// What has been shown, as far as later events refer to it.
#[derive(Debug, Default)]
struct Told {
    /// The run that is shown.
    run: Option<Run>,
    /// What the model is writing.
    writing: Option<(Piece, String)>,
    /// The last failure, with its message in case the run continues.
    failure: Option<(Option<ModelErrorKind>, String)>,
}

/// Connects a result to its call if there are several: results arrive in any order.
fn label(step: &Step, call: usize) -> String {
    match step.calls.len() {
        0 | 1 => String::new(),
        _ => format!("[{}] ", call + 1),
    }
}

/// What is running, for the spinner.
fn activity(step: &Step) -> Option<String> {
    let running = step.calls.iter();
    let running = running.filter(|call| call.attempts > 0 && call.is_open());
    let names: Vec<&str> = running.map(|call| call.call.name.as_str()).collect();
    (!names.is_empty()).then(|| format!("running {}", names.join(", ")))
}

impl Narrator {
    /// Shows runs that ask this model.
    pub(crate) fn new(screen: Screen, model: impl Into<String>) -> Self {
        Self {
            screen,
            model: model.into(),
            told: Mutex::default(),
        }
    }

    pub(crate) fn screen(&self) -> &Screen {
        &self.screen
    }

    /// Shows an update.
    pub(crate) fn tell(&self, update: &Update) {
        match update {
            Update::Asking { predictor } => {
                self.tell_failure();
                self.screen.busy(&match predictor {
                    PredictorName::Extract => format!("asking {} for the outputs", self.model),
                    PredictorName::Summarise | PredictorName::Condense => {
                        format!("asking {} for a summary", self.model)
                    }
                    PredictorName::Judge => format!("asking {} how the task stands", self.model),
                    _ => format!("asking {}", self.model),
                });
            }
            Update::Progress { message, .. } => self.screen.busy(message),
            Update::Writing { piece, text } => self.writing(piece, text),
            Update::Written { .. } | Update::TakenBack { .. } => self.told().writing = None,
            Update::Recorded { record } => self.follow(record),
            _ => {}
        }
    }

    /// Shows what is being written: the end of a thought in one line, an output in place.
    fn writing(&self, piece: &Piece, more: &str) {
        let mut told = self.told();
        let begun = told.writing.take().filter(|(known, _)| known == piece);
        let (piece, mut written) = begun.unwrap_or_else(|| (piece.clone(), String::new()));
        written.push_str(more);
        match &piece {
            Piece::Output(name) => self.screen.live(&self.growing(name, &written)),
            _ => self.screen.busy(tail(&written, TAIL)),
        }
        told.writing = Some((piece, written));
    }

    /// The last lines of an output that is being written, as many as fit on the screen.
    fn growing(&self, name: &str, written: &str) -> Vec<String> {
        let mut lines = text::lines(tail(written, LIVE), self.screen.room(2));
        let height = self.screen.height().unwrap_or(24);
        let fitting = height.saturating_sub(4).max(3);
        lines.drain(..lines.len().saturating_sub(fitting));
        for line in &mut lines {
            line.insert_str(0, "  ");
        }
        let label = self.screen.paint(Ink::Good, &format!("{name}:"));
        lines.insert(0, label);
        lines
    }

    /// Shows the next record of the log.
    pub(crate) fn follow(&self, record: &Record) {
        let mut told = self.told();
        let change = match &mut told.run {
            Some(run) if record.position > 0 => run.follow(record.clone()),
            run => Run::try_from(vec![record.clone()]).map(|began| {
                *run = Some(began);
                Change::Began
            }),
        };
        let run = told.run.take();
        drop(told);
        if let (Ok(change), Some(run)) = (change, &run) {
            self.changed(run, &change);
        }
        self.told().run = run;
    }

    /// Shows the last failure, if it hasn't been shown.
    pub(crate) fn tell_failure(&self) {
        let failure = self.told().failure.take();
        if let Some((_, message)) = failure {
            self.aside(&message);
        }
    }

    fn changed(&self, run: &Run, change: &Change) {
        let step = run.steps().last();
        // A failure that ends the run becomes the error of the command.
        match change {
            Change::Remark(Remark::Adapter { adapter, why, .. }) => {
                let failure = self.told().failure.take();
                let why = match failure.and_then(|(kind, _)| kind) {
                    Some(ModelErrorKind::ToolsRefused) => {
                        "the server accepts no tools for this model"
                    }
                    Some(ModelErrorKind::FormatRefused) => {
                        "the server enforces no response schema for this model"
                    }
                    _ => why,
                };
                self.aside(&format!("{why}: continuing with the `{adapter}` adapter"));
            }
            Change::Ended => {}
            _ => self.tell_failure(),
        }
        match (change, step) {
            (Change::Step, Some(step)) => {
                self.step(step);
                self.answered_by(&step.replied.reply);
            }
            (Change::Remark(Remark::Reply { replied, .. }), _) => self.reply(replied),
            (Change::Remark(Remark::Failure { kind, message, .. }), _) => {
                let message = format!("the model failed ({}): {message}", kind.as_str());
                self.told().failure = Some((Some(*kind), message));
            }
            (Change::CallStarted { .. }, Some(step)) => {
                if let Some(activity) = activity(step) {
                    self.screen.busy(&activity);
                }
            }
            (Change::CallDone { call, .. }, Some(step)) => {
                if let Some(done) = &step.calls[*call].done {
                    self.observation(step, *call, &done.observation);
                }
            }
            (Change::Answered { question }, Some(step)) => {
                self.answered(step, &run.questions()[*question]);
            }
            (Change::Remark(Remark::Notice { text, .. }), _) => self.aside(text),
            (Change::ToolsChanged, _) => {
                let names: Vec<&str> = run.tools().iter().map(|tool| tool.name.as_str()).collect();
                self.aside(&format!("the tools have changed: {}", names.join(", ")));
            }
            (Change::Withdrawn { .. }, _) => self.aside("an answer was withdrawn"),
            (Change::LoopEnded { reason }, _) => self.aside(&format!(
                "{}; answering from what is known",
                spoken_reason(*reason)
            )),
            _ => {}
        }
    }

    /// Shows a reply that is not a step.
    fn reply(&self, replied: &Replied) {
        match &replied.read {
            Reading::Unreadable { problem } => match replied.predictor {
                PredictorName::Judge | PredictorName::Condense => {
                    self.aside(&format!("{problem}: continuing without it"));
                }
                _ => {
                    let message = format!("the reply could not be read, asking again: {problem}");
                    self.told().failure = Some((None, message));
                }
            },
            Reading::Summary { .. } => self.aside("the transcript was too long and was summarised"),
            Reading::Condensed { .. } => {
                self.aside("the result was too long and was summarised");
            }
            Reading::Judged { standing, why } => {
                self.aside(&format!("judged {}: {why}", standing.as_str()));
            }
            Reading::Outputs(_) => {
                self.repairs(&replied.repairs);
                self.answered_by(&replied.reply);
            }
            _ => {}
        }
    }

    fn answered(&self, step: &Step, asked: &AskedQuestion) {
        match (&asked.decision, asked.by) {
            (Some(Decision::Edit { name, args }), _) => {
                let id = &asked.question.tool_call.id;
                let call = step.calls.iter().position(|call| call.call.id == *id);
                self.edited(step, call.unwrap_or_default(), name, args);
            }
            (Some(Decision::ApproveAlways), _) => {
                self.aside("won't ask again for this tool in this run");
            }
            (_, Some(Answerer::Expiry)) => self.aside("no answer in time: rejected"),
            _ => {}
        }
    }

    fn step(&self, step: &Step) {
        let screen = &self.screen;
        if step.number > 1 {
            screen.line("");
        }
        let number = format!("{}.", step.number);
        let mut head = format!("{} ", screen.paint(Ink::Strong, &format!("{number:<2}")));
        // A text that is also the answer is shown only as the output.
        let is_answer = step.calls.is_empty() && step.outputs().is_some();
        if !is_answer {
            for line in text::first_lines(step.thought().trim(), screen.room(3), THOUGHT_LINES) {
                screen.line(&format!("{head}{line}"));
                head = INDENT.to_owned();
            }
        }
        let is_last = !matches!(step.outcome(), StepOutcome::Act | StepOutcome::Nudge(_));
        for (index, call) in step.calls.iter().enumerate() {
            let label = screen.paint(Ink::Quiet, &label(step, index));
            let shown = if is_last {
                exact::spelled_out(&call.call.name).into_owned()
            } else {
                self.call_line(&call.call.name, &call.call.args)
            };
            screen.line(&format!(
                "{head}→ {label}{}",
                screen.paint(Ink::Tool, &shown)
            ));
            head = INDENT.to_owned();
        }
        if is_answer {
            let answers = screen.paint(Ink::Quiet, "(answers)");
            screen.line(&format!("{head}{answers}"));
        }
        self.repairs(&step.replied.repairs);
        for (index, call) in step.calls.iter().enumerate() {
            if let Some(refusal) = &call.refusal {
                self.observation(step, index, &Observation::error(refusal.clone()));
            }
        }
        if matches!(step.outcome(), StepOutcome::Nudge(_)) {
            self.aside("it called no tool and was reminded to");
        }
    }

    fn observation(&self, step: &Step, call: usize, observation: &Observation) {
        let screen = &self.screen;
        let label = label(step, call);
        if let Some(activity) = activity(step) {
            screen.busy(&activity);
        }
        let (mark, ink) = if observation.is_error {
            ("✗", Ink::Bad)
        } else {
            ("←", Ink::Quiet)
        };
        let mut shown = format!("{label}{}", observation.text());
        if !observation.images.is_empty() {
            shown.push_str(&format!(" [images: {}]", observation.images.len()));
        }
        let mut lines = text::first_lines(&shown, screen.room(5), OBSERVATION_LINES);
        if lines.is_empty() {
            lines.push("(nothing)".to_owned());
        }
        let mut head = format!("{INDENT}{} ", screen.paint(ink, mark));
        for line in lines {
            screen.line(&format!("{head}{}", screen.paint(ink, &line)));
            head = format!("{INDENT}  ");
        }
    }

    fn edited(&self, step: &Step, call: usize, name: &str, args: &Values) {
        let label = self.screen.paint(Ink::Quiet, &label(step, call));
        let call = self.screen.paint(Ink::Tool, &self.call_line(name, args));
        self.screen
            .line(&format!("{INDENT}→ {label}instead: {call}"));
    }

    /// A call in one line that fits beside its marks.
    fn call_line(&self, name: &str, args: &Values) -> String {
        let line = call_line(name, args);
        match self.screen.room(20) {
            Some(room) => text::ends(&line, room).into_owned(),
            None => line,
        }
    }

    /// The usage of a reply, beneath its step.
    pub(crate) fn figures(&self, run: &Run, record: &Record) {
        let Some(replied) = record.event.reply() else {
            return;
        };
        let (reply, duration) = (&replied.reply, replied.duration);
        let mut told = Vec::new();
        if let Some(first) = run.records().first() {
            let since = record.at.since(first.at).as_secs_f64();
            told.push(format!("after {since:.1} s"));
        }
        told.push(format!("reply took {:.1} s", duration.as_secs_f64()));
        told.extend(tokens(&reply.usage));
        self.aside(&told.join(" · "));
    }

    fn answered_by(&self, reply: &Reply) {
        match reply.answered_by.as_deref() {
            None => {}
            Some(ANSWERED_BY_CACHE) => self.aside("from the cache"),
            Some(name) => self.aside(&format!("answered by {name}")),
        }
    }

    fn repairs(&self, repairs: &[Repair]) {
        for repair in repairs {
            self.aside(&format!("repaired: {}", repair.detail));
        }
    }

    pub(crate) fn aside(&self, remark: &str) {
        let remark = text::one_line(remark);
        let remark = text::clipped(&remark, 400);
        for line in text::lines(&remark, self.screen.room(5)) {
            let line = self.screen.paint(Ink::Quiet, &line);
            self.screen.line(&format!("{INDENT}  {line}"));
        }
    }

    /// The last line: how the run ended, and its usage.
    pub(crate) fn summary(&self, run: &Run, ending: &str, ink: Ink) {
        let screen = &self.screen;
        screen.idle();
        let mut told = text::counted(run.steps().len(), "step");
        if let Some(tokens) = tokens(&run.usage()) {
            told.push_str(&format!(" · {tokens}"));
        }
        if let Some(cost) = cost(run) {
            told.push_str(&format!(" · {cost}"));
        }
        if let Some(mended) = mended(run) {
            told.push_str(&format!(" · {mended}"));
        }
        told.push_str(&format!(" · {:.1} s", run.execution_time().as_secs_f64()));
        let told = screen.paint(Ink::Quiet, &format!("· {told}"));
        screen.line("");
        screen.line(&format!("{} {told}", screen.paint(ink, ending)));
    }

    fn told(&self) -> MutexGuard<'_, Told> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A termination reason in words.
pub(crate) fn spoken_reason(reason: TerminationReason) -> &'static str {
    match reason {
        TerminationReason::Success => "done",
        TerminationReason::MaxIterations => "out of steps",
        TerminationReason::Stalled => "no progress",
        TerminationReason::TokenBudget => "out of tokens",
        TerminationReason::CostBudget => "out of money",
        TerminationReason::ToolCallBudget => "out of tool calls",
        TerminationReason::Timeout => "out of time",
        TerminationReason::Cancelled => "cancelled",
        TerminationReason::Custom => "stopped by a condition",
        _ => "too many unusable replies",
    }
}

/// The tokens of a reply or a run, if known.
pub(crate) fn tokens(usage: &Usage) -> Option<String> {
    let (input, output) = (usage.input_tokens, usage.output_tokens);
    (input + output > 0).then(|| {
        format!(
            "{} tokens in, {} out",
            text::grouped(input),
            text::grouped(output)
        )
    })
}

/// The cost of a run, if known, marked as an estimate for built-in prices.
fn cost(run: &Run) -> Option<String> {
    let agent = &run.started().agent;
    let price = agent.prices.values().next()?;
    let cost = run.cost().filter(|_| run.usage().requests > 0)?;
    let address = agent.base_url.as_deref().unwrap_or_default();
    let built_in = providers::prices_at(address).and_then(|prices| prices.get(&agent.model));
    Some(match built_in == Some(*price) {
        true => format!("about ${cost:.4} (prices of {})", providers::PRICES_AS_OF),
        false => format!("cost {cost:.4}"),
    })
}

/// The number of repairs, if any.
fn mended(run: &Run) -> Option<String> {
    let steps = run.steps().iter().map(|step| &step.replied);
    let replies = steps.chain(run.remarks().filter_map(Remark::replied));
    let repairs = replies.map(|replied| replied.repairs.len());
    match repairs.sum::<usize>() {
        0 => None,
        count => Some(format!("{count} repaired")),
    }
}
