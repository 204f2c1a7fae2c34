//! Verdicts on a call before it is logged: by its tool's rule, and by the user's check, which
//! also judges outputs.

use std::sync::Arc;

use super::check;
use super::program::Program;
use crate::run::{Call, Reading, Replied, StepCall, StepOutcome};
use crate::signature::Values;
use crate::tool::Confirmation;

/// The verdict of a user's check on a call or on the outputs.
///
/// ```
/// use enact::{ReAct, Verdict};
///
/// let agent = ReAct::builder("task -> report")
///     .before_call(|call| match call.name.as_str() {
///         "deploy" => Verdict::Veto("deploys are frozen this week".into()),
///         _ => Verdict::Allow,
///     })
///     .build()?;
/// # Ok::<_, enact::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub enum Verdict {
    /// It runs, if nothing else prevents it.
    #[default]
    Allow,
    /// It runs with these arguments, which are validated as usual.
    Change(Values),
    /// It doesn't run, and the model sees this reason.
    Veto(String),
    /// A person is asked first. Outputs are accepted without asking.
    Ask,
    /// The check failed, so the call doesn't run.
    Failed,
}

/// The verdicts on one call.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct CallCheck {
    /// Whether a tool that asks about some of its calls asks about this one.
    pub asks: bool,
    /// The verdict of the user's check.
    pub verdict: Verdict,
}

impl CallCheck {
    /// What is said of a call: by the rule of its tool, and by the user's own check.
    pub fn new(asks: bool, verdict: Verdict) -> Self {
        Self { asks, verdict }
    }
}

/// A driver that does not know the rules of the tools lets a person decide.
impl Default for CallCheck {
    fn default() -> Self {
        Self {
            asks: true,
            verdict: Verdict::Allow,
        }
    }
}

impl Program {
    /// Whether a call needs a verdict before it is logged.
    pub(super) fn is_checked(&self, call: &Call) -> bool {
        self.checks_calls || self.asks_of_some(&call.name)
    }

    /// Whether the tool asks about some of its calls.
    fn asks_of_some(&self, name: &str) -> bool {
        let tool = self.tool(name);
        tool.is_some_and(|(spec, _)| spec.confirmation == Confirmation::When)
    }

    /// The call as it is after what was said of it. It is written down with the call, so a resumed run
    /// does not ask again.
    pub(super) fn checked(&self, planned: &mut StepCall, said: CallCheck, is_allowed: bool) {
        planned.confirm |= said.asks && !is_allowed && self.asks_of_some(&planned.call.name);
        let refusal = match said.verdict {
            Verdict::Allow => None,
            Verdict::Ask => {
                planned.confirm = true;
                None
            }
            Verdict::Veto(message) => Some(message),
            Verdict::Change(args) => match check::edit(self, &planned.call.name, args) {
                Ok((_, args)) => {
                    Arc::make_mut(&mut planned.call).args = args;
                    None
                }
                Err(problems) => Some(format!(
                    "This call was not executed: the check before it gave arguments that do not \
                     fit: {problems}"
                )),
            },
            Verdict::Failed => {
                Some("This call was not executed: the check before it failed.".to_owned())
            }
        };
        if refusal.is_some() {
            planned.confirm = false;
            planned.refusal = refusal;
        }
    }

    /// The outputs that a reply commits, as the call that submits them, if the user's check
    /// inspects them.
    pub(super) fn outputs_to_check(&self, replied: &Replied) -> Option<Call> {
        if !self.checks_calls {
            return None;
        }
        let mut args = replied.committed()?.clone();
        if let Some(planned) = replied.stepped().and_then(|step| step.calls.first()) {
            return Some((*planned.call).clone());
        }
        let declared = self.declared.outputs();
        args.retain(|name, _| declared.iter().any(|field| field.name == *name));
        Some(Call {
            id: String::new(),
            name: self.completion.tool_name().to_owned(),
            args,
            raw: None,
        })
    }

    /// The reply after the verdict on its outputs. Vetoed outputs count as invalid ones: the model sees
    /// the reason, up to `max_repairs` times in a row.
    pub(super) fn checked_outputs(&self, replied: &mut Replied, verdict: Verdict) {
        let problem = match verdict {
            Verdict::Allow | Verdict::Ask => return,
            Verdict::Veto(message) => message,
            Verdict::Failed => {
                "The outputs were not accepted: the check before it failed.".to_owned()
            }
            Verdict::Change(args) => match check::outputs(self, args, &mut Vec::new()) {
                Ok(changed) => return change_outputs(replied, changed.values),
                Err(problems) => format!(
                    "The outputs were not accepted: the check before it gave outputs that do not \
                     fit: {problems}"
                ),
            },
        };
        match &mut replied.read {
            Reading::Step(stepped) if stepped.outcome == StepOutcome::Submit => {
                stepped.outcome = StepOutcome::Act;
                for planned in &mut stepped.calls {
                    planned.refusal = Some(problem.clone());
                }
            }
            read => *read = Reading::Unreadable { problem },
        }
    }
}

fn change_outputs(replied: &mut Replied, changed: Values) {
    match &mut replied.read {
        Reading::Step(stepped) => match (&mut stepped.outcome, stepped.calls.first_mut()) {
            (StepOutcome::Answer(outputs), _) => *outputs = changed,
            (_, Some(planned)) => Arc::make_mut(&mut planned.call).args = changed,
            _ => {}
        },
        Reading::Outputs(outputs) => outputs.extend(changed),
        _ => {}
    }
}
