//! Tools that change, and calls whose tool is not the one that they were made or approved for.

use std::collections::HashMap;
use std::sync::Arc;

use super::calls::{CallState, CallStatus};
use super::check;
use super::program::ProgramError;
use super::state::{Phase, RunState};
use crate::run::{
    Answerer, Asked, Call, Decision, Event, Observation, Question, QuestionKind, TerminationReason,
};
use crate::tool::{Confirmation, Effect, ToolSpec};

/// How often a person is asked again about a call because its tool has changed. A tool with a new
/// description at every listing would otherwise cause questions forever.
const ASKED_AGAIN: usize = 3;

/// What a run knows about its tools.
#[derive(Debug, Default)]
pub(super) struct Seen {
    /// The record with the current tools.
    pub(super) at: usize,
    /// The tools as the run first saw them, by name.
    first: HashMap<String, ToolSpec>,
    /// The record of the tools when a person was last asked about one, by name; or when the run first
    /// had it.
    shown: HashMap<String, usize>,
    /// The most careful description of each tool so far, by source and name.
    strictest: HashMap<(Option<String>, String), (Effect, Confirmation)>,
    /// What a person allowed for the rest of the run, by the name of the tool.
    pub(super) allowed: HashMap<String, Allowed>,
}

/// A tool that a person allowed for the rest of the run.
#[derive(Debug)]
pub(super) struct Allowed {
    pub(super) confirmation_id: String,
    /// The record of the tools at that time.
    pub(super) tools: usize,
}

impl Seen {
    /// Updates the tools from a record. Returns them as the run treats them: a tool's new description
    /// never makes the run less careful, and a rule from outside only applies to the tool that it was
    /// first applied to.
    pub(super) fn take(&mut self, at: usize, specs: &[ToolSpec]) -> Vec<ToolSpec> {
        self.at = at;
        let treated = specs.iter().map(|spec| {
            let mut spec = spec.clone();
            self.shown.entry(spec.name.clone()).or_insert(at);
            match self.first.get(&spec.name) {
                None => {
                    self.first.insert(spec.name.clone(), spec.clone());
                }
                Some(first) if first.is_same_tool(&spec) => {}
                Some(_) => {
                    if let Some(own) = &spec.own_confirmation {
                        spec.confirmation = spec.confirmation.max(*own);
                    }
                }
            }
            let key = (spec.source.clone(), spec.name.clone());
            if let Some((effect, confirmation)) = self.strictest.get(&key) {
                spec.effect = spec.effect.max(*effect);
                spec.confirmation = spec.confirmation.max(*confirmation);
            }
            let known = (spec.effect, spec.confirmation);
            self.strictest.insert(key, known);
            spec
        });
        treated.collect()
    }

    /// What calls of a tool can change, as the run treats it.
    fn effect(&self, spec: &ToolSpec) -> Effect {
        let key = (spec.source.clone(), spec.name.clone());
        let known = self.strictest.get(&key);
        known.map_or(spec.effect, |(effect, _)| spec.effect.max(*effect))
    }
}

impl RunState {
    /// The event that records these tools as the current ones; none if nothing changed. Tools are
    /// compared as the log shows them, without secrets.
    ///
    /// # Errors
    /// When they cannot be the tools of an agent.
    pub fn tools_changed(&self, tools: Vec<ToolSpec>) -> Result<Option<Event>, ProgramError> {
        if self.run.tools_at(self.seen.at) == tools {
            return Ok(None);
        }
        self.program.with_tools(tools.clone())?;
        Ok(Some(Event::tools_changed(tools)))
    }

    pub(super) fn fold_tools(&mut self) {
        let treated = self.seen.take(self.run.tools_record(), self.run.tools());
        let changed = match self.program.with_tools(treated) {
            Ok(changed) => changed,
            Err(problem) => {
                let message = format!("the tools that the log says cannot be used: {problem}");
                self.phase = Phase::Record(Event::failed(TerminationReason::Failure, message));
                return;
            }
        };
        // Whatever was answered was answered by other tools.
        self.progress.forget();
        self.program = Arc::new(changed);
        self.steps.forget();
        self.budget.forget_prompt_size();
    }

    /// The tool of this name as it now is, in the words of the log.
    fn tool_now(&self, name: &str) -> Option<&ToolSpec> {
        self.run.tool_at(self.seen.at, name)
    }

    /// Whether calls of these tools change nothing, according to all descriptions in this run.
    pub(crate) fn only_reads<'a>(&self, mut names: impl Iterator<Item = &'a str>) -> bool {
        names.all(|name| {
            let tool = self.program.tool(name);
            tool.is_some_and(|(spec, _)| spec.effect == Effect::ReadOnly)
        })
    }

    /// Whether a person has allowed exactly this tool for the rest of the run.
    pub(super) fn is_tool_allowed(&self, name: &str) -> bool {
        let Some(rule) = self.seen.allowed.get(name) else {
            return false;
        };
        match (self.run.tool_at(rule.tools, name), self.tool_now(name)) {
            (Some(then), Some(now)) => rule.tools == self.seen.at || then.is_same_tool(now),
            _ => false,
        }
    }

    /// The record of the tools with which a call can run: those that it was approved for.
    pub(super) fn tools_of(&self, state: &CallState) -> usize {
        if state.asked > 0 {
            state.tools
        } else {
            self.seen.at
        }
    }

    /// Asks whether a call may run, with the changes to its tool since a person was last asked about
    /// it.
    pub(super) fn confirm(&self, state: &CallState) -> Asked {
        let name = &self.call(state).name;
        let shown = self.seen.shown.get(name);
        let before = shown.and_then(|at| self.run.tool_at(*at, name));
        let changes = match (before, self.tool_now(name)) {
            (Some(before), Some(now)) => now.changes_since(before),
            _ => Vec::new(),
        };
        Asked {
            changes,
            ..self.about(state, QuestionKind::Confirm)
        }
    }

    /// Whether a question in the log belongs to its call: its id is a digest of the call. If it doesn't, the
    /// log was changed, and the call is asked about again.
    fn is_about_its_call(&self, question: &Question) -> bool {
        let call = self.find_call(&question.tool_call.id);
        call.is_some_and(|state| {
            self.about(state, question.kind).confirmation_id == question.confirmation_id
        })
    }

    /// A question binds its call to the current tools.
    pub(super) fn fold_question(&mut self, index: usize) {
        let at = self.seen.at;
        let question = self.question(index);
        if !self.is_about_its_call(question) {
            return;
        }
        let (id, name) = (
            question.tool_call.id.clone(),
            question.tool_call.name.clone(),
        );
        let has_changes = !question.changes.is_empty();
        if let Some(call) = self.call_mut(&id) {
            call.asked += 1;
            call.tools = at;
            // An earlier answer applied to the earlier tool.
            call.answered = None;
            if has_changes {
                call.asked_again += 1;
                call.answers.clear();
            }
            call.status = CallStatus::Asked(index);
            self.seen.shown.insert(name, at);
        }
    }

    /// What happens to a call that isn't running if its tool is not the one that it was made or approved
    /// for. Nothing if it is, or if the call may run anyway.
    pub(super) fn after_change(&self, state: &CallState) -> Option<Event> {
        use CallStatus::{Asked, InDoubt, Ready, Unconfirmed};
        let status = &state.status;
        if !matches!(status, Unconfirmed | Asked(_) | Ready | InDoubt) {
            return None;
        }
        let call = self.call(state);
        if state.tools == self.seen.at {
            // Somebody was asked about a call in doubt although it cannot be made any more.
            let is_repeated = *status == Ready && self.was_started(state);
            let problem = is_repeated.then(|| self.misfit(call)).flatten();
            return problem.map(|problem| self.refuses(state, problem));
        }
        let before = self.run.tool_at(state.tools, &call.name)?;
        let now = self.tool_now(&call.name);
        let changes = match now {
            Some(now) => now.changes_since(before),
            None => vec!["it is not available any more".to_owned()],
        };
        let is_asked_first = state.asked > 0 || *status == Unconfirmed;
        if changes.is_empty() {
            let is_new_rule =
                *status == Ready && !is_asked_first && self.needs_approval(call, before);
            return is_new_rule.then(|| self.asks_again(state, asks_now()));
        }
        let effect = self.seen.effect(before);
        if self.is_in_doubt(state) && effect != Effect::ReadOnly {
            return Some(self.doubt_after_change(state, changes, effect));
        }
        if let Some(problem) = self.misfit(call) {
            let problem = match now {
                Some(_) => format!("{}; {problem}", changes.join("; ")),
                None => problem,
            };
            return Some(self.refuses(state, problem));
        }
        if is_asked_first || self.needs_approval(call, before) {
            return Some(self.asks_again(state, changes));
        }
        // No approval is needed. The model chose the tool by its description: a tool from another source is
        // not what it chose.
        let is_elsewhere = now.is_some_and(|now| now.source != before.source);
        is_elsewhere.then(|| {
            let why = format!("{}; call it again if you want this one", changes.join("; "));
            self.refuses(state, why)
        })
    }

    fn doubt_after_change(
        &self,
        state: &CallState,
        mut changes: Vec<String>,
        effect: Effect,
    ) -> Event {
        let is_gone = self.tool_now(&self.call(state).name).is_none();
        if self.started().is_unattended
            || state.asked_again >= ASKED_AGAIN
            || (is_gone && effect == Effect::Idempotent)
        {
            let text = format!(
                "Error executing {}: {}. The call was started before that, and it is not known \
                 whether it happened. It was not run again.",
                self.call(state).name,
                changes.join("; ")
            );
            return self.closes(state, text);
        }
        if let (Some(problem), false) = (self.misfit(self.call(state)), is_gone) {
            changes.push(format!("the call cannot be made again: {problem}"));
        }
        self.asks_anew(state, QuestionKind::InDoubt, changes)
    }

    fn asks_again(&self, state: &CallState, changes: Vec<String>) -> Event {
        if state.asked_again >= ASKED_AGAIN {
            let why = "it changes each time a person is asked about it, so no approval holds; use \
                       another tool";
            return self.refuses(state, why.to_owned());
        }
        self.asks_anew(state, QuestionKind::Confirm, changes)
    }

    /// Asks about a call whose tool has changed. An open question is void.
    fn asks_anew(&self, state: &CallState, kind: QuestionKind, changes: Vec<String>) -> Event {
        let replaces = match state.status {
            CallStatus::Asked(open) => Some(self.question(open).confirmation_id.clone()),
            _ => None,
        };
        Event::asked(Asked {
            changes,
            replaces,
            ..self.about(state, kind)
        })
    }

    /// Whether the call may have happened, and a person was or will be asked about that.
    fn is_in_doubt(&self, state: &CallState) -> bool {
        let asked = match state.status {
            CallStatus::InDoubt => return true,
            CallStatus::Asked(question) => Some(question),
            _ => state.answered,
        };
        asked.is_some_and(|question| self.question(question).kind == QuestionKind::InDoubt)
    }

    fn refuses(&self, state: &CallState, why: String) -> Event {
        let name = &self.call(state).name;
        let so = match self.was_started(state) {
            true => "The call was not run again.",
            false => "The call was not executed.",
        };
        self.closes(state, format!("Error executing {name}: {why}. {so}"))
    }

    /// Ends a call that doesn't run, and the open question about it, if any.
    fn closes(&self, state: &CallState, text: String) -> Event {
        match state.status {
            CallStatus::Asked(question) => {
                let id = &self.question(question).confirmation_id;
                Event::answered(id, Decision::Reject(Some(text)), Answerer::Change)
            }
            _ => Event::tool_decided(&self.call(state).id, Observation::error(text)),
        }
    }

    /// Whether the tool's rule now requires approval for a call that needed none with the earlier tool. A
    /// rule that depends on the arguments gives the same result as before; a new rule may give
    /// any.
    fn needs_approval(&self, call: &Call, before: &ToolSpec) -> bool {
        let tool = self.program.tool(&call.name);
        tool.is_some_and(|(spec, _)| match spec.confirmation {
            Confirmation::Never => false,
            Confirmation::Always => true,
            Confirmation::When => before.confirmation != Confirmation::When,
        }) && !self.is_tool_allowed(&call.name)
    }

    /// Whether every call of the tool requires approval, whatever the log says about this one. The result of a
    /// rule that depends on arguments is in the log.
    pub(super) fn always_needs_approval(&self, call: &Call) -> bool {
        let tool = self.program.tool(&call.name);
        tool.is_some_and(|(spec, _)| spec.confirmation == Confirmation::Always)
            && !self.is_tool_allowed(&call.name)
    }

    /// Why the tool doesn't accept a call unchanged, if it doesn't.
    fn misfit(&self, call: &Call) -> Option<String> {
        check::misfit(&self.program, call)
    }

    /// Whether a call in doubt can be repeated without asking.
    pub(super) fn may_repeat(&self, call: &Call) -> bool {
        self.program
            .tool(&call.name)
            .is_some_and(|(spec, _)| spec.effect != Effect::Effectful)
    }
}

fn asks_now() -> Vec<String> {
    vec!["its calls have to be approved now".to_owned()]
}

/// The observation of a call that may have happened if no one is asked about it.
pub(super) fn in_doubt(call: &Call) -> Observation {
    Observation::error(format!(
        "`{}` was started, but it is not known whether it happened: the program ended before it \
         gave a result. It was not run again.",
        call.name
    ))
}
