//! A server of an agent file.

use std::path::PathBuf;

use enact_mcp::{EmptyPattern, Environment, Mcp, config};
use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::noted::wrong;
use super::secret::variables_of;
use crate::args::Time;
use crate::exit::Failure;

/// A server to start (`command`) or to reach over HTTP (`url`). `${NAME}` stands for a variable.
//
// Its value is read when the server is started; the run notes the name.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub(crate) struct Listed {
    /// The program to start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) command: Option<String>,
    /// Its arguments.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) args: Vec<String>,
    /// Variables for it alone. Secrets are written as "${NAME}".
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub(crate) env: IndexMap<String, String>,
    /// The folder that it starts in; that of the file unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cwd: Option<PathBuf>,
    /// The address to reach it at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) url: Option<String>,
    /// Headers of every request. Values are written as "${NAME}", or "Bearer ${NAME}".
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub(crate) headers: IndexMap<String, String>,
    /// Only those of its tools: names, with `*` for any characters.
    #[schemars(extend("items" = {"type": "string", "format": "pattern"}))]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) allow: Vec<String>,
    /// Not those of its tools.
    #[schemars(extend("items" = {"type": "string", "format": "pattern"}))]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) deny: Vec<String>,
    /// How long a call may take, such as "30s"; a minute unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) timeout: Option<Time>,
    /// How long it may take until it is ready, such as "2m"; a minute unless given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) start_timeout: Option<Time>,
}

impl Listed {
    /// How it is reached. A variable that the file names is meant for the server, so it may be seen
    /// where it is named; as its own variable the server gets what the environment allows.
    pub(super) fn plan(&self, name: &str, environment: &Environment) -> Result<Mcp, Failure> {
        let told = |problem: String| wrong(format!("[mcp.{name}]: {problem}"));
        let listed = serde_json::to_value(self).map_err(|error| told(error.to_string()))?;
        let text = json!({"mcpServers": {name: listed}}).to_string();
        let seen = environment.clone().allowing(self.variables());
        let plans = config::read(&text, &seen).map_err(|error| told(error.to_string()))?;
        let Some(mut plan) = plans.into_iter().next() else {
            return Err(told("there is no such server".to_owned()));
        };
        plan = plan.environment(environment.clone());
        if let Some(Time(timeout)) = self.timeout {
            plan = plan.timeout(timeout);
        }
        if let Some(Time(timeout)) = self.start_timeout {
            plan = plan.start_timeout(timeout);
        }
        picked(plan, &self.allow, &self.deny).map_err(|error| told(error.to_string()))
    }

    /// What it is started with, in words: variables and headers stand by their names.
    pub(super) fn words(&self) -> Vec<String> {
        let env = self
            .env
            .iter()
            .map(|(name, value)| format!("{name}={value}"));
        let headers = self.headers.iter();
        let headers = headers.map(|(name, value)| format!("{name}: {value}"));
        let words = self.command.iter().chain(&self.args).cloned();
        words.chain(env).chain(headers).collect()
    }

    /// The names in `${NAME}`.
    fn variables(&self) -> Vec<&str> {
        let texts = [&self.command, &self.url].into_iter().flatten();
        let texts = texts.chain(&self.args);
        let texts = texts.chain(self.env.values()).chain(self.headers.values());
        texts.flat_map(|text| variables_of(text)).collect()
    }
}

/// A server with the tools that fit these patterns alone.
pub(super) fn picked(plan: Mcp, allow: &[String], deny: &[String]) -> Result<Mcp, EmptyPattern> {
    let plan = plan.allow(allow.iter().map(String::as_str))?;
    plan.deny(deny.iter().map(String::as_str))
}

/// Whether an address may be noted: one without a name and a password.
pub(crate) fn check_address(url: &str) -> Result<(), String> {
    let rest = url
        .strip_prefix("http://")
        .or_else(|| url.strip_prefix("https://"));
    let Some(rest) = rest else {
        return Err("give an address that begins with http:// or https://".to_owned());
    };
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if host.contains('@') {
        let message = "an address takes no name and no password, because the run notes it: put \
                       them into `headers` of a file";
        return Err(message.to_owned());
    }
    Ok(())
}
