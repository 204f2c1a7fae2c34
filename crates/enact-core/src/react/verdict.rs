//! What is said of a call before it is written down: by the rule of its tool, and by the user's own
//! check.

use std::sync::Arc;

use super::check;
use super::program::Program;
use crate::run::{Call, PlannedCall};
use crate::signature::Values;
use crate::tool::Confirmation;

/// What a check of the user's says about a call.
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub enum Verdict {
    /// It runs, if nothing else is against it.
    #[default]
    Allow,
    /// It runs with these arguments, which are checked like any.
    Change(Values),
    /// It does not run, and the model is told this.
    Veto(String),
    /// A person is asked first.
    Ask,
    /// The check failed, so the call does not run.
    Failed,
}

/// What is said of one call.
#[derive(Debug, Clone, PartialEq)]
pub struct CallCheck {
    /// Whether a tool that asks about some of its calls asks about this one.
    pub asks: bool,
    /// What the user's own check says.
    pub verdict: Verdict,
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
    /// Whether something is to be said of a call before it is written down.
    pub(super) fn is_checked(&self, call: &Call) -> bool {
        self.checks_calls || self.asks_of_some(&call.name)
    }

    /// Whether the tool asks about some of its calls.
    fn asks_of_some(&self, name: &str) -> bool {
        let tool = self.tool(name);
        tool.is_some_and(|(spec, _)| matches!(spec.confirmation, Confirmation::When(_)))
    }

    /// The call as it is after what was said of it. It is written down with the call, so a resumed run
    /// does not ask again.
    pub(super) fn checked(&self, planned: &mut PlannedCall, said: CallCheck, is_allowed: bool) {
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
}
