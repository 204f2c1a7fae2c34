//! Questions to a person, and their answers.

use enact_signature::Values;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use strum::IntoStaticStr;

use super::event::Asked;
use super::history::Call;
use crate::signature::{canonical_args, digest};
use crate::time::Timestamp;
use crate::tool::ToolSpec;

/// A decision that a person has to make before the run continues.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Question {
    /// The id of the question. The same in every process: a digest of the run, the call, its arguments and
    /// the tool, so that an answer never applies to another call or tool.
    pub confirmation_id: String,
    /// The kind of question.
    pub kind: QuestionKind,
    /// The question as text.
    pub question: String,
    /// The model's thought when it made the call.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub thought: String,
    /// The waiting call.
    pub tool_call: Call,
    /// Changes to the tool since the call was made, or since a person was last asked about the tool, in
    /// words for people.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<String>,
    /// The open question that this one replaces, because the tool has changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaces: Option<String>,
    /// When the question is rejected if there is no answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
}

/// The kind of a [`Question`].
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, Default, IntoStaticStr, Serialize, Deserialize,
)]
#[strum(serialize_all = "snake_case")]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum QuestionKind {
    /// May the call run?
    #[default]
    Confirm,
    /// The call had started when its process ended. Did it happen? [`Decision::Approve`] runs it again,
    /// [`Decision::Answer`] means that it happened and provides its result, and [`Decision::Reject`]
    /// means that it didn't happen and must not.
    InDoubt,
    /// The tool itself asks a question, and [`Decision::Answer`] answers it.
    Clarify,
}

impl QuestionKind {
    /// The kind as one word.
    pub fn as_str(self) -> &'static str {
        self.into()
    }
}

impl Asked {
    /// A question of this kind about a call.
    pub(crate) fn about(origin: Origin<'_>, kind: QuestionKind, call: &Call) -> Self {
        Self {
            confirmation_id: confirmation_id(origin, kind, call),
            kind,
            call_id: call.id.clone(),
            text: None,
            changes: Vec::new(),
            replaces: None,
        }
    }
}

/// The place in a run where a question arises.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Origin<'a> {
    pub(crate) run_id: &'a str,
    /// The position of the step with the call. Models may reuse call ids.
    pub(crate) step: u64,
    /// The number of earlier questions about the call. A late answer to an earlier one must
    /// not count for this one.
    pub(crate) nth: usize,
    /// The current tool.
    pub(crate) tool: Option<&'a ToolSpec>,
}

impl Question {
    /// The question in a log, with the call at the time of asking.
    pub(super) fn of(
        asked: &Asked,
        tool_call: Call,
        thought: String,
        expires_at: Option<Timestamp>,
    ) -> Self {
        let said = asked.text.clone();
        Self {
            confirmation_id: asked.confirmation_id.clone(),
            kind: asked.kind,
            question: said.unwrap_or_else(|| words(asked.kind, &tool_call, &asked.changes)),
            thought,
            tool_call,
            changes: asked.changes.clone(),
            replaces: asked.replaces.clone(),
            expires_at,
        }
    }

    /// Parses the answer of a person. `yes` or `y` approves, `no` or `n` rejects. Text that starts with
    /// the word `edit` or with `{` is an edit: `edit {"path": "b"}` changes these arguments and keeps
    /// the others, `{"edit": {"args": {…}}}` replaces all of them, with `name` for another tool.
    /// Anything else is feedback: free text never approves. If the tool itself asks, any text is the
    /// answer.
    ///
    /// An invalid edit is an error for the person who typed it, and so is an empty answer: the question
    /// stays open.
    pub fn read(&self, text: &str) -> Result<Decision, AnswerError> {
        let trimmed = text.trim();
        if self.kind == QuestionKind::Clarify {
            return Ok(Decision::Answer(trimmed.to_owned()));
        }
        match trimmed.to_ascii_lowercase().as_str() {
            "" => return Err(AnswerError::Empty),
            "yes" | "y" => return Ok(Decision::Approve),
            "no" | "n" => return Ok(Decision::Reject(None)),
            _ => {}
        }
        if let Some(changes) = after_edit(trimmed) {
            return self.changed(changes);
        }
        if trimmed.starts_with('{') {
            return self.replaced(trimmed);
        }
        Ok(Decision::Feedback(trimmed.to_owned()))
    }

    /// The call with some arguments changed.
    fn changed(&self, changes: &str) -> Result<Decision, AnswerError> {
        let changes = self.object(changes)?;
        let mut args = self.tool_call.args.clone();
        args.extend(changes);
        Ok(Decision::Edit {
            name: self.tool_call.name.clone(),
            args,
        })
    }

    /// A different call instead of the one in question.
    fn replaced(&self, call: &str) -> Result<Decision, AnswerError> {
        let mut object = self.object(call)?;
        let Some(Value::Object(mut edit)) = object.shift_remove("edit") else {
            return Err(self.unreadable("an object needs `edit`, which is an object"));
        };
        let args = match edit.shift_remove("args") {
            Some(Value::Object(args)) => args,
            _ => return Err(self.unreadable("`edit` needs `args`, which is an object")),
        };
        let name = match edit.shift_remove("name") {
            None => self.tool_call.name.clone(),
            Some(Value::String(name)) => name,
            Some(_) => return Err(self.unreadable("`name` has to be the name of a tool")),
        };
        // Any other key was meant to change something.
        match object.keys().chain(edit.keys()).next() {
            Some(other) => Err(self.unreadable(&format!("`{other}` has no place in it"))),
            None => Ok(Decision::Edit { name, args }),
        }
    }

    fn object(&self, text: &str) -> Result<Values, AnswerError> {
        match serde_json::from_str(text) {
            Ok(Value::Object(object)) => Ok(object),
            Ok(_) => Err(self.unreadable("the edit is not a JSON object")),
            Err(error) => Err(self.unreadable(&format!("the edit is not JSON: {error}"))),
        }
    }

    fn unreadable(&self, problem: &str) -> AnswerError {
        // The question's own argument is the best example.
        let argument = self.tool_call.args.keys().next();
        let argument = argument.map_or("argument", String::as_str);
        AnswerError::UnreadableEdit {
            problem: problem.to_owned(),
            argument: argument.to_owned(),
        }
    }

    /// The decision, if it is valid for this kind of question.
    pub(crate) fn fitting(&self, decision: Decision) -> Result<Decision, AnswerError> {
        use QuestionKind::{Clarify, Confirm, InDoubt};
        match (self.kind, &decision) {
            (Confirm, Decision::Answer(_)) => Err(AnswerError::NothingHappened),
            (InDoubt, Decision::ApproveAlways) => Err(AnswerError::EachOnItsOwn),
            (Clarify, Decision::Approve | Decision::ApproveAlways | Decision::Edit { .. }) => {
                Err(AnswerError::WantsWords)
            }
            _ => Ok(decision),
        }
    }
}

/// A decision that doesn't fit the question. The question stays open.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AnswerError {
    /// No open question has this id.
    #[error(
        "no open question has the id `{0}`: it was answered, has expired, was replaced because the tool changed, or was never asked"
    )]
    Unknown(String),
    /// The run has no question with this id.
    #[error("the run has asked no question with the id `{0}`")]
    NoSuch(String),
    /// The same question was answered twice in one call.
    #[error("the question `{0}` was given two answers: give one")]
    Repeated(String),
    /// A text was given, and it is unclear which question it answers.
    #[error("{0} questions are open: say by its id which one is answered")]
    NotOne(usize),
    /// A result was given for a call that did not run.
    #[error(
        "the call has not run, so it has no result: approve, reject or edit it, or give feedback"
    )]
    NothingHappened,
    /// A rule was given where each call needs its own decision.
    #[error("each call in doubt has to be judged on its own: approve this one")]
    EachOnItsOwn,
    /// The tool asks a question that needs a text as the answer.
    #[error("the tool asks for words: answer, reject or give feedback")]
    WantsWords,
    /// The answer is empty.
    #[error("the answer is empty: say yes, no, edit or what the model should know")]
    Empty,
    /// The text starts like an edit, but can't be parsed as one.
    #[error(
        "this edit cannot be read ({problem}): write the arguments that change, as in \
         edit {{\"{argument}\": \"new value\"}}, or all of them, as in \
         {{\"edit\": {{\"args\": {{…}}}}}}; feedback for the model begins with another word"
    )]
    UnreadableEdit {
        /// The problem.
        problem: String,
        /// An argument of the call, for the example.
        argument: String,
    },
    /// The edited call cannot run.
    #[error("the edit cannot run: {0}")]
    InvalidEdit(String),
    /// The answer to withdraw has been used.
    #[error("the answer to `{0}` cannot be taken back: it has been used")]
    Used(String),
}

/// The text after the word `edit`, if it starts with that.
fn after_edit(text: &str) -> Option<&str> {
    const WORD: &str = "edit";
    let (word, rest) = text.split_at_checked(WORD.len())?;
    let is_longer = rest.starts_with(|next: char| next.is_alphanumeric() || "_-'’".contains(next));
    if !word.eq_ignore_ascii_case(WORD) || is_longer {
        return None;
    }
    let rest = rest.trim_start();
    Some(rest.strip_prefix(':').unwrap_or(rest).trim_start())
}

/// A question in words.
fn words(kind: QuestionKind, call: &Call, changes: &[String]) -> String {
    let args = Value::Object(call.args.clone());
    let (told, name) = (told(call, changes), &call.name);
    match kind {
        QuestionKind::InDoubt => format!(
            "{told}{name} with args: {args} was started, and its process ended before it gave a \
             result. Run it again? (yes: run it again / no: it did not happen, and shall not / or \
             say what it gave)"
        ),
        _ => format!("{told}Confirm execution of {name} with args: {args}? (yes/no)"),
    }
}

/// The notice about a changed tool before the question.
fn told(call: &Call, changes: &[String]) -> String {
    match changes {
        [] => String::new(),
        changes => format!("{} has changed: {}. ", call.name, changes.join("; ")),
    }
}

fn confirmation_id(origin: Origin<'_>, kind: QuestionKind, call: &Call) -> String {
    let tool = origin.tool.map(ToolSpec::identity).unwrap_or_default();
    digest(&[
        origin.run_id,
        kind.as_str(),
        &origin.step.to_string(),
        &call.id,
        &origin.nth.to_string(),
        &call.name,
        &canonical_args(&call.args),
        &tool,
    ])
}

/// A person's decision on a [`Question`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Decision {
    /// Run exactly this call, once.
    Approve,
    /// Run this call, and every further call of this tool in this run, without asking. The log shows it.
    /// A tool that has [changed](ToolSpec::is_same_tool) counts as another tool.
    ApproveAlways,
    /// Don't run it; the message, if any, is for the model.
    Reject(Option<String>),
    /// Run this instead.
    Edit {
        /// The tool to run.
        name: String,
        /// The arguments; they are validated as usual.
        args: Values,
    },
    /// Don't run it; the model receives this text and thinks again.
    Feedback(String),
    /// The answer to the tool's question, or the result of a call in doubt, which happened.
    Answer(String),
}

/// Who answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Answerer {
    /// A person.
    #[default]
    Person,
    /// A person's earlier [`Decision::ApproveAlways`].
    Rule,
    /// No one, within the time limit.
    Expiry,
    /// No one: the tool was removed or has changed, and the call no longer fits it.
    Change,
}

/// The status of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ConfirmationStatus {
    /// Waits for an answer.
    Pending,
    /// The call may run.
    Approved,
    /// The call must not run; also if no one answered in time, or the run ended first.
    Rejected,
    /// Another call runs instead.
    Edited,
    /// The model received feedback instead.
    Feedback,
    /// It was answered in words.
    Answered,
    /// The tool changed before the answer was used, and another question replaced this one.
    Superseded,
}

impl From<&Decision> for ConfirmationStatus {
    fn from(decision: &Decision) -> Self {
        match decision {
            Decision::Approve | Decision::ApproveAlways => Self::Approved,
            Decision::Reject(_) => Self::Rejected,
            Decision::Edit { .. } => Self::Edited,
            Decision::Feedback(_) => Self::Feedback,
            Decision::Answer(_) => Self::Answered,
        }
    }
}
