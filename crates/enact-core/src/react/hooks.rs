//! What a user's own check says about a call before it runs.

use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use super::check;
use super::program::Program;
use crate::run::{Call, PlannedCall};
use crate::signature::Values;

/// What happens with a call that was looked at before it runs.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Verdict {
    /// It runs, if nothing else is against it.
    Allow,
    /// It runs with these arguments, which are checked like any.
    Change(Values),
    /// It does not run, and the model is told this.
    Veto(String),
    /// A person is asked first.
    Ask,
}

/// Looks at every call before it runs.
#[derive(Clone)]
pub struct BeforeCall(Arc<dyn Fn(&Call) -> Verdict + Send + Sync>);

impl BeforeCall {
    /// A check by this function.
    pub fn new(check: impl Fn(&Call) -> Verdict + Send + Sync + 'static) -> Self {
        Self(Arc::new(check))
    }

    /// The call as it is after the check. What was decided is written down with the call, so a
    /// resumed run does not check again.
    pub(super) fn apply(&self, program: &Program, mut planned: PlannedCall) -> PlannedCall {
        let verdict = std::panic::catch_unwind(AssertUnwindSafe(|| (self.0)(&planned.call)));
        let refusal = match verdict {
            Ok(Verdict::Allow) => None,
            Ok(Verdict::Ask) => {
                planned.confirm = true;
                None
            }
            Ok(Verdict::Veto(message)) => Some(message),
            Ok(Verdict::Change(args)) => match check::edit(program, &planned.call.name, args) {
                Ok((_, args)) => {
                    planned.call.args = args;
                    None
                }
                Err(problems) => Some(format!(
                    "This call was not executed: the check before it gave arguments that do not \
                     fit: {problems}"
                )),
            },
            Err(_) => Some("This call was not executed: the check before it failed.".to_owned()),
        };
        if refusal.is_some() {
            planned.confirm = false;
            planned.refusal = refusal;
        }
        planned
    }
}

impl fmt::Debug for BeforeCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("BeforeCall")
    }
}
