//! The result of a call: a prediction, or a pause.

use std::ops::Deref;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde::ser::SerializeStruct as _;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

use super::builder::CONFIDENCE;
use crate::error::{Error, ErrorKind};
use crate::model::Usage;
use crate::run::{History, Question, Run, TerminationReason, Trajectory};
use crate::signature::Values;

/// How a call ended: with outputs, or with questions for a person.
#[derive(Debug)]
#[must_use]
pub enum Outcome<O> {
    /// The run is over.
    Finished(Prediction<O>),
    /// The run waits for a person.
    Paused(Paused),
}

impl<O> Outcome<O> {
    /// Returns the prediction; a pause becomes an error that carries the run. For agents whose tools
    /// never ask.
    pub fn finished(self) -> Result<Prediction<O>, Error> {
        match self {
            Self::Finished(prediction) => Ok(prediction),
            Self::Paused(paused) => {
                let questions = paused.questions.iter();
                let names: Vec<&str> = questions.map(|asked| &*asked.tool_call.name).collect();
                let message = format!(
                    "the run waits for a person to decide about {}: match on `Outcome::Paused` and \
                     resume it",
                    names.join(", ")
                );
                Err(Error::new(ErrorKind::Paused, message).with_run(paused.run))
            }
        }
    }

    /// The run, however the call ended.
    pub fn run(&self) -> &Run {
        match self {
            Self::Finished(prediction) => prediction.run(),
            Self::Paused(paused) => paused.run(),
        }
    }
}

/// A run that waits for a person. Serialise it, and resume it anywhere with the module's `resume`.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// use enact::model::{ScriptedModel, call};
/// use enact::{Decision, Outcome, ReAct, ToolError, tool, tools, values};
/// use serde_json::json;
///
/// /// Sends an e-mail.
/// #[tool(require_confirmation)]
/// async fn send(to: String) -> Result<String, ToolError> {
///     Ok(format!("sent to {to}"))
/// }
///
/// let agent = ReAct::builder("task -> report")
///     .tools(tools![send])
///     .model(ScriptedModel::new([
///         call("send", json!({"to": "ada@example.com"})),
///         call("submit", json!({"report": "done"})),
///     ]))
///     .build()?;
/// let Outcome::Paused(paused) = agent.call(values! { task: "Write to Ada." }).await? else {
///     panic!("sending asks first");
/// };
/// let question = &paused.questions()[0];
/// assert_eq!(question.tool_call.args["to"], "ada@example.com");
///
/// // As JSON, it can wait in a database and be resumed by another process.
/// let id = question.confirmation_id.clone();
/// let done = agent.resume(paused).answer(id, Decision::Approve).await?.finished()?;
/// assert_eq!(done.outputs["report"], "done");
/// # Ok::<_, enact::Error>(()) })?; Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Paused {
    run: Run,
    questions: Vec<Question>,
}

impl Paused {
    pub(super) fn new(run: Run, questions: Vec<Question>) -> Self {
        Self { run, questions }
    }

    /// All open questions.
    pub fn questions(&self) -> &[Question] {
        &self.questions
    }

    /// The run so far: inputs, trajectory, history.
    pub fn run(&self) -> &Run {
        &self.run
    }

    /// The context that helps a person decide.
    pub fn context(&self) -> PauseContext {
        PauseContext {
            trajectory: self.run.trajectory(),
            iteration: self.run.steps().len().saturating_sub(1),
            inputs: self.run.started().inputs.clone(),
        }
    }
}

/// What happened before a run paused. A view of its log.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PauseContext {
    /// The calls so far, those of the waiting step at the end.
    pub trajectory: Trajectory,
    /// The number of the waiting step, from 0.
    pub iteration: usize,
    /// The inputs of the run.
    pub inputs: Values,
}

/// Readers of a serialised pause find its context; resuming it only needs the log.
impl Serialize for Paused {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut fields = to.serialize_struct("Paused", 3)?;
        fields.serialize_field("questions", &self.questions)?;
        fields.serialize_field("context", &self.context())?;
        fields.serialize_field("run", &self.run)?;
        fields.end()
    }
}

impl From<Paused> for Run {
    fn from(paused: Paused) -> Self {
        paused.run
    }
}

/// The outputs of a call, and how they were produced. Dereferences to the outputs.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// use enact::model::{ScriptedModel, say};
/// use enact::{Predict, values};
///
/// let qa = Predict::builder("question -> answer")
///     .model(ScriptedModel::new([say("Paris")]))
///     .build()?;
/// let prediction = qa.call(values! { question: "Capital of France?" }).await?.finished()?;
/// assert_eq!(prediction.outputs["answer"], "Paris");
/// assert!(prediction.success());
/// assert_eq!(prediction.usage.requests, 1);
/// # Ok::<_, enact::Error>(()) })?; Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Prediction<O> {
    /// The declared outputs.
    pub outputs: O,
    /// The transcript: pass it to a later call to continue the conversation.
    pub history: History,
    /// Tokens and requests spent.
    pub usage: Usage,
    /// Why the run ended.
    pub termination: TerminationReason,
    values: Values,
    run: Run,
}

/// The result of a run that is over, read from its log without asking a model. For a failed run, the
/// error is the one it ended with.
impl<O: DeserializeOwned> TryFrom<Run> for Prediction<O> {
    type Error = Error;

    fn try_from(run: Run) -> Result<Self, Error> {
        match Error::ended(&run) {
            Some(error) => Err(error.with_run(run)),
            None => Self::of(run),
        }
    }
}

impl<O: DeserializeOwned> Prediction<O> {
    /// The prediction of a run that has finished.
    pub(super) fn of(run: Run) -> Result<Self, Error> {
        let (Some(values), Some(termination)) = (run.outputs().cloned(), run.termination()) else {
            return Err(Error::new(ErrorKind::NoAnswer, "the run has no outputs").with_run(run));
        };
        match serde_json::from_value(Value::Object(values.clone())) {
            Ok(outputs) => Ok(Self {
                outputs,
                history: run.history(),
                usage: run.usage(),
                termination,
                values,
                run,
            }),
            Err(error) => {
                let message = format!("the outputs do not fit their Rust types: {error}");
                Err(Error::new(ErrorKind::NoAnswer, message)
                    .with_source(error)
                    .with_run(run))
            }
        }
    }
}

impl<O> Prediction<O> {
    /// Whether the agent finished by itself, not because of a limit.
    pub fn success(&self) -> bool {
        self.termination == TerminationReason::Success
    }

    /// Thought, tool, arguments and observation of each call.
    pub fn trajectory(&self) -> Trajectory {
        self.run.trajectory()
    }

    /// The model's reasoning before the outputs, if it was asked for.
    pub fn reasoning(&self) -> Option<&str> {
        self.run.reasoning()
    }

    /// The confidence that the model reported, from 0 to 1, if
    /// [`Builder::confidence`](super::Builder::confidence) is set.
    pub fn confidence(&self) -> Option<f64> {
        self.values.get(CONFIDENCE).and_then(Value::as_f64)
    }

    /// The outputs by name.
    pub fn values(&self) -> &Values {
        &self.values
    }

    /// The duration of the run.
    pub fn execution_time(&self) -> Duration {
        self.run.execution_time()
    }

    /// The log.
    pub fn run(&self) -> &Run {
        &self.run
    }
}

impl<O> Deref for Prediction<O> {
    type Target = O;

    fn deref(&self) -> &O {
        &self.outputs
    }
}
