//! Tells a run step by step, as it happens.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use enact::adapter::Repair;
use enact::model::{ANSWERED_BY_CACHE, Reply, Usage};
use enact::run::{Answerer, Call, Event, Observation, PredictorName, Record, StepOutcome, Stepped};
use enact::{Decision, Run, TerminationReason, Update, Values};

use super::screen::{Ink, Screen};
use super::values::call_line;
use super::{exact, text};

/// The most lines of a thought and of an observation.
const THOUGHT_LINES: usize = 20;
const OBSERVATION_LINES: usize = 5;
const INDENT: &str = "   ";
/// The characters that a person sees of what is being written.
const TAIL: usize = 60;

/// The end of a text.
fn tail(text: &str) -> &str {
    let start = text.char_indices().rev().nth(TAIL);
    &text[start.map_or(0, |(at, _)| at)..]
}

/// Tells a run to a person.
#[derive(Debug)]
pub(crate) struct Narrator {
    screen: Screen,
    model: String,
    told: Mutex<Told>,
}

/// What was told so far, as far as later events refer to it.
#[derive(Debug, Default)]
struct Told {
    steps: usize,
    /// The calls of the step under way.
    calls: Vec<Call>,
    /// The ids of those that run.
    running: Vec<String>,
    /// Which call a question is about.
    asked: HashMap<String, String>,
    /// What the model is writing.
    writing: String,
}

impl Told {
    /// What joins a result to its call where there are several: results come as they come.
    fn label(&self, call_id: &str) -> String {
        let index = self.calls.iter().position(|call| call.id == call_id);
        match index {
            Some(index) if self.calls.len() > 1 => format!("[{}] ", index + 1),
            _ => String::new(),
        }
    }

    /// What runs, for the spinner.
    fn activity(&self) -> Option<String> {
        let running = self
            .calls
            .iter()
            .filter(|call| self.running.contains(&call.id));
        let names: Vec<&str> = running.map(|call| call.name.as_str()).collect();
        (!names.is_empty()).then(|| format!("running {}", names.join(", ")))
    }
}

impl Narrator {
    /// Tells of runs that ask this model.
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

    /// Tells of an update.
    pub(crate) fn tell(&self, update: &Update) {
        match update {
            Update::Asking { predictor } => self.screen.busy(&match predictor {
                PredictorName::Step => format!("asking {}", self.model),
                PredictorName::Extract => format!("asking {} for the outputs", self.model),
                PredictorName::Summarise | PredictorName::Condense => {
                    format!("asking {} for a summary", self.model)
                }
                PredictorName::Judge => format!("asking {} how the task stands", self.model),
            }),
            Update::Progress { message, .. } => self.screen.busy(message),
            Update::Writing { text, .. } => {
                let mut told = self.told();
                told.writing.push_str(text);
                self.screen.busy(tail(&told.writing));
            }
            Update::Written { .. } | Update::TakenBack { .. } => self.told().writing.clear(),
            Update::Recorded { record } => self.event(&record.event),
            _ => {}
        }
    }

    /// Tells what was written down.
    pub(crate) fn event(&self, event: &Event) {
        match event {
            Event::Stepped(step) => {
                self.step(step);
                self.answered_by(&step.reply);
            }
            Event::Misread {
                predictor: PredictorName::Judge | PredictorName::Condense,
                problem,
                ..
            } => self.aside(&format!("{problem}: done without")),
            Event::Misread { problem, .. } => {
                self.aside(&format!(
                    "the reply could not be read, asked again: {problem}"
                ));
            }
            Event::ModelFailed { kind, message, .. } => {
                self.aside(&format!("the model failed ({}): {message}", kind.as_str()));
            }
            Event::ToolStarted { call_id } => {
                let mut told = self.told();
                told.running.push(call_id.clone());
                if let Some(activity) = told.activity() {
                    self.screen.busy(&activity);
                }
            }
            Event::ToolFinished {
                call_id,
                observation,
                ..
            } => self.observation(call_id, observation),
            Event::Asked(question) => {
                let id = question.tool_call.id.clone();
                self.told()
                    .asked
                    .insert(question.confirmation_id.clone(), id);
            }
            Event::Answered {
                confirmation_id,
                decision: Decision::Edit { name, args },
                ..
            } => self.edited(confirmation_id, name, args),
            Event::Answered {
                decision: Decision::ApproveAlways,
                ..
            } => self.aside("this tool may now run unasked in this run"),
            Event::Answered {
                by: Answerer::Expiry,
                ..
            } => self.aside("nobody answered in time: rejected"),
            Event::Noticed { text, .. } => self.aside(text),
            Event::ToolsChanged { tools } => {
                let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_str()).collect();
                self.aside(&format!("the tools have changed: {}", names.join(", ")));
            }
            Event::AdapterChanged { adapter, why, .. } => {
                self.aside(&format!("continues with the `{adapter}` adapter: {why}"));
            }
            Event::Withdrawn { .. } => self.aside("an answer was taken back"),
            Event::Summarised { .. } => {
                self.aside("the transcript was too long and was summarised")
            }
            Event::Condensed { .. } => self.aside("what came back was too long and was summarised"),
            Event::Judged { standing, why, .. } => {
                self.aside(&format!("judged {}: {why}", standing.as_str()));
            }
            Event::LoopEnded { reason } => self.aside(&format!(
                "{}; it answers from what it has",
                spoken_reason(*reason)
            )),
            Event::Extracted { repairs, reply, .. } => {
                self.repairs(repairs);
                self.answered_by(reply);
            }
            _ => {}
        }
    }

    fn step(&self, step: &Stepped) {
        let screen = &self.screen;
        let mut told = self.told();
        told.steps += 1;
        told.running.clear();
        if told.steps > 1 {
            screen.line("");
        }
        let number = format!("{}.", told.steps);
        let mut head = format!("{} ", screen.paint(Ink::Strong, &format!("{number:<2}")));
        // A text that is the answer itself is shown once, as the output.
        let is_answer = step.calls.is_empty() && matches!(step.outcome, StepOutcome::Commit(_));
        if !is_answer {
            for line in text::first_lines(step.thought().trim(), screen.room(3), THOUGHT_LINES) {
                screen.line(&format!("{head}{line}"));
                head = INDENT.to_owned();
            }
        }
        let is_commit = !matches!(step.outcome, StepOutcome::Act | StepOutcome::Nudge(_));
        told.calls = step
            .calls
            .iter()
            .map(|planned| planned.call.clone())
            .collect();
        for call in &told.calls {
            let label = screen.paint(Ink::Quiet, &told.label(&call.id));
            let shown = if is_commit {
                exact::spelled_out(&call.name).into_owned()
            } else {
                self.call_line(&call.name, &call.args)
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
        drop(told);
        self.repairs(&step.repairs);
        for planned in &step.calls {
            if let Some(refusal) = &planned.refusal {
                self.observation(&planned.call.id, &Observation::error(refusal.clone()));
            }
        }
        if matches!(step.outcome, StepOutcome::Nudge(_)) {
            self.aside("it called no tool and was reminded");
        }
    }

    fn observation(&self, call_id: &str, observation: &Observation) {
        let screen = &self.screen;
        let mut told = self.told();
        let label = told.label(call_id);
        told.running.retain(|running| running != call_id);
        if let Some(activity) = told.activity() {
            screen.busy(&activity);
        }
        drop(told);
        let (mark, ink) = if observation.is_error {
            ("✗", Ink::Bad)
        } else {
            ("←", Ink::Quiet)
        };
        let mut shown = format!("{label}{}", observation.text());
        if !observation.images.is_empty() {
            shown.push_str(&format!(" [{} picture(s)]", observation.images.len()));
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

    fn edited(&self, confirmation_id: &str, name: &str, args: &Values) {
        let mut told = self.told();
        let Some(id) = told.asked.get(confirmation_id).cloned() else {
            return;
        };
        if let Some(call) = told.calls.iter_mut().find(|call| call.id == id) {
            name.clone_into(&mut call.name);
        }
        let label = self.screen.paint(Ink::Quiet, &told.label(&id));
        let call = self.screen.paint(Ink::Tool, &self.call_line(name, args));
        self.screen
            .line(&format!("{INDENT}→ {label}instead: {call}"));
    }

    /// A call in a line that fits beside its marks.
    fn call_line(&self, name: &str, args: &Values) -> String {
        let line = call_line(name, args);
        match self.screen.room(20) {
            Some(room) => text::ends(&line, room).into_owned(),
            None => line,
        }
    }

    /// What a reply took: told beneath its step where a run is looked at afterwards.
    pub(crate) fn figures(&self, run: &Run, record: &Record) {
        let (reply, duration) = match &record.event {
            Event::Stepped(step) => (&step.reply, step.duration),
            Event::Misread {
                reply, duration, ..
            }
            | Event::Summarised {
                reply, duration, ..
            }
            | Event::Extracted {
                reply, duration, ..
            } => (reply, *duration),
            _ => return,
        };
        let mut told = Vec::new();
        if let Some(first) = run.records().first() {
            let since = record.at.duration_since(first.at).as_secs_f64();
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
            self.aside(&format!("mended: {}", repair.detail));
        }
    }

    fn aside(&self, remark: &str) {
        let remark = text::one_line(remark);
        let remark = text::clipped(&remark, 400);
        for line in text::lines(&remark, self.screen.room(5)) {
            let line = self.screen.paint(Ink::Quiet, &line);
            self.screen.line(&format!("{INDENT}  {line}"));
        }
    }

    /// The last line: how it ended, what it took.
    pub(crate) fn summary(&self, run: &Run, ending: &str, ink: Ink) {
        let screen = &self.screen;
        screen.idle();
        let steps = run
            .events()
            .filter(|event| matches!(event, Event::Stepped(_)))
            .count();
        let noun = if steps == 1 { "step" } else { "steps" };
        let mut told = format!("{steps} {noun}");
        if let Some(tokens) = tokens(&run.usage()) {
            told.push_str(&format!(" · {tokens}"));
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

/// A reason for ending, in words.
pub(crate) fn spoken_reason(reason: TerminationReason) -> &'static str {
    match reason {
        TerminationReason::Success => "done",
        TerminationReason::MaxIterations => "out of steps",
        TerminationReason::Stalled => "no progress any more",
        TerminationReason::TokenBudget => "out of tokens",
        TerminationReason::CostBudget => "out of money",
        TerminationReason::ToolCallBudget => "out of tool calls",
        TerminationReason::Timeout => "out of time",
        TerminationReason::Cancelled => "cancelled",
        TerminationReason::Custom => "stopped by a condition",
        _ => "it could not go on",
    }
}

/// The tokens of a reply or a run, if they are known.
fn tokens(usage: &Usage) -> Option<String> {
    let (input, output) = (usage.input_tokens, usage.output_tokens);
    (input + output > 0).then(|| format!("{} tokens in, {} out", grouped(input), grouped(output)))
}

/// How often something had to be mended, if it had to be.
fn mended(run: &Run) -> Option<String> {
    let repairs = run.events().map(|event| match event {
        Event::Stepped(step) => step.repairs.len(),
        Event::Extracted { repairs, .. } => repairs.len(),
        _ => 0,
    });
    match repairs.sum::<usize>() {
        0 => None,
        count => Some(format!("{count} mended")),
    }
}

/// `1234567` as `1,234,567`.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_numbers_are_grouped() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(1_234_567), "1,234,567");
    }
}
