//! Whether a person is asked before a tool runs.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use enact_signature::Values;
use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;

use super::Tool;

/// Whether a person has to agree before a tool runs. Ordered by how often a person is asked.
///
/// A tool declares it in its [spec](super::ToolSpec);
/// [`Builder::confirmation`](crate::Builder::confirmation) sets it from outside.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Default,
    IntoStaticStr,
    Serialize,
    Deserialize,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum Confirmation {
    /// Runs without asking.
    #[default]
    Never,
    /// Asks before some calls: [`Tool::needs_confirmation`] decides by their arguments.
    When,
    /// Asks before every call.
    Always,
}

impl Confirmation {
    /// A rule that asks before the calls whose arguments the function picks. What it says of a call is
    /// recorded with the call, so a resumed run does not ask it again. If it panics, a person is asked.
    ///
    /// ```
    /// use enact::tool::{Confirmation, Tool};
    /// use enact::{FnTool, ToolError, values};
    ///
    /// # #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// # struct Pay { amount: f64 }
    /// let pay = FnTool::new("pay", "Pays.", |_args: Pay, _context| async {
    ///     Ok::<_, ToolError>("paid")
    /// });
    /// let pay = pay.with_confirmation(Confirmation::when(|args| {
    ///     args["amount"].as_f64() > Some(100.0)
    /// }));
    /// assert!(pay.needs_confirmation(&values! { amount: 250 }));
    /// assert!(!pay.needs_confirmation(&values! { amount: 25 }));
    /// ```
    pub fn when(policy: impl Fn(&Values) -> bool + Send + Sync + 'static) -> ConfirmationRule {
        ConfirmationRule {
            confirmation: Self::When,
            policy: Some(Policy(Arc::new(policy))),
        }
    }

    /// The rule as one word.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

/// When a person is asked about the calls of a tool: a [`Confirmation`], or a function of their
/// arguments, made by [`Confirmation::when`].
///
/// [`Confirmation::When`] without a function leaves it to the tool.
#[derive(Debug, Clone)]
pub struct ConfirmationRule {
    pub(super) confirmation: Confirmation,
    pub(super) policy: Option<Policy>,
}

impl From<Confirmation> for ConfirmationRule {
    fn from(confirmation: Confirmation) -> Self {
        Self {
            confirmation,
            policy: None,
        }
    }
}

/// A function that says whether a call needs a person.
#[derive(Clone)]
pub(super) struct Policy(Arc<dyn Fn(&Values) -> bool + Send + Sync>);

impl Policy {
    pub(super) fn asks(&self, args: &Values) -> bool {
        (self.0)(args)
    }
}

impl fmt::Debug for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Policy")
    }
}

/// What a tool says of a call. If it panics, a person is asked.
pub(crate) fn asks(tool: &dyn Tool, args: &Values) -> bool {
    catch_unwind(AssertUnwindSafe(|| tool.needs_confirmation(args))).unwrap_or(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FnTool;
    use crate::tool::{ToolError, ToolSpec};

    fn tool(rule: impl Into<ConfirmationRule>) -> FnTool {
        let spec = ToolSpec::new("pay", "Pays.", serde_json::json!({"type": "object"}));
        let tool = FnTool::from_spec(spec, |_, _| async { Ok::<_, ToolError>("paid") });
        tool.with_confirmation(rule)
    }

    #[test]
    fn a_policy_that_panics_or_is_not_known_asks() {
        let broken = Confirmation::when(|args| args["amount"].as_i64().is_none_or(|_| panic!()));
        let args = Values::from_iter([("amount".to_owned(), 3.into())]);
        assert!(asks(&tool(broken), &args));
        let lax = tool(Confirmation::when(|_| false));
        assert!(!asks(&lax, &args));
        assert!(asks(&tool(Confirmation::When), &args));
        let text = serde_json::to_string(&lax.spec().confirmation).unwrap();
        assert_eq!(text, r#""when""#);
        let back: Confirmation = serde_json::from_str(&text).unwrap();
        assert_eq!(back, Confirmation::When);
        assert!(serde_json::from_str::<Confirmation>(r#""sometimes""#).is_err());
    }
}
