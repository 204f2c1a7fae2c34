//! What the loops read of a reply.

use anyhow::Context as _;
use serde::{Deserialize, Serialize};

#[derive(Deserialize)]
pub(crate) struct Reply {
    choices: Vec<Choice>,
}

#[derive(Deserialize)]
struct Choice {
    message: Message,
}

#[derive(Deserialize, Serialize)]
pub(crate) struct Message {
    pub(crate) role: String,
    pub(crate) content: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) tool_calls: Vec<Call>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) tool_call_id: Option<String>,
}

#[derive(Deserialize, Serialize)]
pub(crate) struct Call {
    pub(crate) id: String,
    #[serde(rename = "type")]
    pub(crate) kind: String,
    pub(crate) function: Function,
}

#[derive(Deserialize, Serialize)]
pub(crate) struct Function {
    pub(crate) name: String,
    pub(crate) arguments: String,
}

impl Reply {
    pub(crate) fn message(self) -> anyhow::Result<Message> {
        let first = self.choices.into_iter().next();
        Ok(first.context("a reply without choices")?.message)
    }
}

impl Function {
    /// The argument of the one tool there is.
    pub(crate) fn key(&self) -> anyhow::Result<String> {
        #[derive(Deserialize)]
        struct Arguments {
            key: String,
        }
        anyhow::ensure!(self.name == "lookup", "no tool `{}`", self.name);
        Ok(serde_json::from_str::<Arguments>(&self.arguments)?.key)
    }
}
