//! How a run started: its agent and inputs.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::completion::Completion;
use super::event::{FORMAT, PredictorName, Replied};
use super::history::History;
use super::limits::Limits;
use super::rules::Rules;
use crate::lean::is_default;
use crate::model::Price;
use crate::signature::{Signature, Values};
use crate::tool::ToolSpec;

/// How a run started.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Started {
    /// The version of the log format.
    pub format: u32,
    /// The run.
    pub run_id: String,
    /// The description of the agent. Contains no secrets.
    pub agent: AgentSpec,
    /// The inputs, including defaults.
    pub inputs: Values,
    /// The earlier conversation.
    #[serde(default, skip_serializing_if = "History::is_empty")]
    pub history: History,
    /// The limits of this run.
    #[serde(default, skip_serializing_if = "is_default")]
    pub limits: Limits,
    /// The rules of this run.
    #[serde(default, skip_serializing_if = "is_default")]
    pub rules: Rules,
    /// The run that called this one, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<Parent>,
    /// Whether no one is asked about a call in doubt: it becomes an error observation.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_unattended: bool,
    /// The seal of the program that started the run. See [`SealKey`](super::SealKey).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seal: Option<String>,
}

impl Started {
    /// A run of this agent with the default limits and rules, in the newest format.
    pub fn new(run_id: impl Into<String>, agent: AgentSpec, inputs: Values) -> Self {
        Self {
            format: FORMAT,
            run_id: run_id.into(),
            agent,
            inputs,
            history: History::new(),
            limits: Limits::default(),
            rules: Rules::default(),
            parent: None,
            is_unattended: false,
            seal: None,
        }
    }
}

/// The call of another run that a run belongs to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parent {
    /// The run.
    pub run_id: String,
    /// The call.
    pub call_id: String,
    /// The depth of the run: 1 if it was called by a run without a caller.
    pub depth: u32,
}

/// The description of an agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct AgentSpec {
    /// Inputs and outputs.
    pub signature: Signature,
    /// The model of the steps.
    pub model: String,
    /// The address of the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    /// The adapter of the answering predictor, resolved.
    pub adapter: String,
    /// The adapter of the steps, resolved; none for an agent without steps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step_adapter: Option<String>,
    /// How the run returns its outputs.
    #[serde(default, skip_serializing_if = "is_default")]
    pub completion: Completion,
    /// The tools.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<ToolSpec>,
    /// Prices by predictor, as far as they are known.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub prices: BTreeMap<PredictorName, Price>,
    /// The caller's notes for rebuilding the agent. Not used by enact.
    #[serde(default, skip_serializing_if = "Values::is_empty")]
    pub notes: Values,
}

impl AgentSpec {
    /// An agent without steps or tools.
    pub fn new(signature: Signature, model: impl Into<String>, adapter: impl Into<String>) -> Self {
        Self {
            signature,
            model: model.into(),
            base_url: None,
            adapter: adapter.into(),
            step_adapter: None,
            completion: Completion::default(),
            tools: Vec::new(),
            prices: BTreeMap::new(),
            notes: Values::new(),
        }
    }

    /// What a reply cost, if that is known.
    pub(crate) fn cost_of(&self, replied: &Replied) -> Option<f64> {
        let price = self.prices.get(&replied.predictor);
        let cost = replied.reply.cost;
        cost.or_else(|| price.map(|price| price.of(replied.reply.usage)))
    }

    /// What keeps an agent from going on with a run of this one, if anything does. Another model
    /// or adapter may; another signature or way of completion, or tools of which one is missing, may
    /// not. Tools that have changed may, and the log says how they changed.
    pub fn difference(&self, other: &AgentSpec) -> Option<String> {
        let (ours, theirs) = (self.signature.arrow(), other.signature.arrow());
        if ours != theirs {
            return Some(format!("its signature is `{ours}`, not `{theirs}`"));
        }
        if self.step_adapter.is_some() != other.step_adapter.is_some() {
            return Some("one of them has steps, the other has not".to_owned());
        }
        if self.completion != other.completion {
            let (ours, theirs) = (self.completion.tool_name(), other.completion.tool_name());
            return Some(format!("it completes by `{ours}`, not by `{theirs}`"));
        }
        let missing = self
            .tools
            .iter()
            .find(|tool| !other.tools.iter().any(|known| known.name == tool.name));
        missing.map(|tool| format!("its tool `{}` is missing", tool.name))
    }
}
