//! The trajectory view: thought, tool, arguments and observation, in three forms.

use std::fmt;

use enact_signature::Values;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::history::{Entry, Observation};
use super::log::Run;
use super::transcript;
use crate::signature::plain_text;

/// The observation of the completing call.
pub const COMPLETED: &str = "Completed.";

/// A tool call of a run with the thought before it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub struct TrajectoryStep {
    /// The thought; empty for further calls of the same step.
    pub thought: String,
    /// The tool; `submit` or `finish` for the last call.
    pub tool_name: String,
    /// Its arguments.
    pub tool_args: Values,
    /// The result, with its type.
    pub observation: Value,
    /// Whether it failed.
    pub is_error: bool,
    /// Whether there is no result yet: the observation describes what the call waits for.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_pending: bool,
}

/// The calls of a run in order. Serialises as a list; see [`Trajectory::flat`] and
/// [`fmt::Display`] for the other forms.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// use enact::model::{ScriptedModel, call};
/// use enact::{ReAct, tool, tools, values};
/// use serde_json::json;
///
/// /// Adds two numbers.
/// #[tool(read_only)]
/// fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// let agent = ReAct::builder("question -> answer: int")
///     .tools(tools![add])
///     .model(ScriptedModel::new([
///         call("add", json!({"a": 2, "b": 40})).thinking("I add them."),
///         call("submit", json!({"answer": 42})),
///     ]))
///     .build()?;
/// let done = agent.call(values! { question: "2 + 40?" }).await?.finished()?;
/// let trajectory = done.trajectory();
/// assert_eq!(trajectory.steps()[0].observation, 42);
/// assert_eq!(trajectory.flat()["thought_0"], "I add them.");
/// assert!(trajectory.to_string().starts_with("1. thought: I add them."));
/// # Ok::<_, enact::Error>(()) })?; Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Trajectory {
    steps: Vec<TrajectoryStep>,
}

impl Trajectory {
    pub(super) fn of(run: &Run) -> Self {
        let entries = transcript::of(run, run.steps().len());
        let before = run.started().history.entries().len();
        let mut trajectory = Self::of_entries(&entries[before.min(entries.len())..]);
        // The completion is shown by its last step, which is not an entry of its own.
        for step in run.steps() {
            let Some(outputs) = step.outputs() else {
                continue;
            };
            let is_said = step.calls.is_empty();
            trajectory.steps.push(TrajectoryStep {
                thought: if is_said { "" } else { step.thought() }.to_owned(),
                tool_name: "submit".to_owned(),
                tool_args: outputs.clone(),
                observation: Value::String(COMPLETED.to_owned()),
                ..TrajectoryStep::default()
            });
        }
        trajectory
    }

    /// The calls in these entries.
    pub(crate) fn of_entries<'a>(entries: impl IntoIterator<Item = &'a Entry>) -> Self {
        let mut steps: Vec<TrajectoryStep> = Vec::new();
        let mut open = 0;
        for entry in entries {
            match entry {
                Entry::Assistant { text, calls, .. } => {
                    open = steps.len();
                    steps.extend(calls.iter().map(|call| TrajectoryStep {
                        tool_name: call.name.clone(),
                        tool_args: call.args.clone(),
                        ..TrajectoryStep::default()
                    }));
                    if let Some(first) = steps.get_mut(open) {
                        first.thought.clone_from(text);
                    }
                }
                Entry::Results { results } => {
                    for (step, result) in steps[open..].iter_mut().zip(results) {
                        let Observation {
                            value,
                            is_error,
                            is_pending,
                            ..
                        } = &result.observation;
                        step.observation = value.clone();
                        step.is_error = *is_error;
                        step.is_pending = *is_pending;
                    }
                }
                _ => {}
            }
        }
        Self { steps }
    }

    /// The steps in order.
    pub fn steps(&self) -> &[TrajectoryStep] {
        &self.steps
    }

    /// The flat trajectory of DSPy: `thought_0`, `tool_name_0`, `tool_args_0`, `observation_0`, …
    pub fn flat(&self) -> Values {
        self.flat_with("thought")
    }

    /// The flat trajectory of udspy, with `reasoning_0` for the thought.
    pub fn flat_reasoning(&self) -> Values {
        self.flat_with("reasoning")
    }

    fn flat_with(&self, thought: &str) -> Values {
        let mut map = Values::new();
        for (index, step) in self.steps.iter().enumerate() {
            let step = step.clone();
            map.insert(format!("{thought}_{index}"), step.thought.into());
            map.insert(format!("tool_name_{index}"), step.tool_name.into());
            map.insert(format!("tool_args_{index}"), step.tool_args.into());
            map.insert(format!("observation_{index}"), step.observation);
        }
        map
    }
}

impl fmt::Display for Trajectory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, step) in self.steps.iter().enumerate() {
            if index > 0 {
                writeln!(f)?;
            }
            let number = index + 1;
            if !step.thought.is_empty() {
                writeln!(f, "{number}. thought: {}", indented(&step.thought))?;
            }
            let args = Value::Object(step.tool_args.clone());
            writeln!(f, "{number}. call: {} {args}", step.tool_name)?;
            let label = match (step.is_error, step.is_pending) {
                (true, _) => "error",
                (_, true) => "pending",
                _ => "observation",
            };
            let text = plain_text(&step.observation);
            write!(f, "{number}. {label}: {}", indented(&text))?;
        }
        Ok(())
    }
}

/// Indents further lines, so that no text looks like a labelled line.
pub(crate) fn indented(text: &str) -> String {
    text.replace("\r\n", "\n").replace(['\n', '\r'], "\n   ")
}
