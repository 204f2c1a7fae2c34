//! The servers in an agent file.

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
// Its value is read when the server starts; the run only notes the name.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub(crate) struct Listed {
    /// Program to start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) command: Option<String>,
    /// Arguments of the program.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) args: Vec<String>,
    /// Environment variables for this server only. Write secrets as "${NAME}".
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub(crate) env: IndexMap<String, String>,
    /// Working directory of the server [default: the directory of the agent file].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cwd: Option<PathBuf>,
    /// Address of the server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) url: Option<String>,
    /// Headers of each request. Write values as "${NAME}" or "Bearer ${NAME}".
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub(crate) headers: IndexMap<String, String>,
    /// Use only these tools; `*` matches any characters.
    #[schemars(extend("items" = {"type": "string", "format": "pattern"}))]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) allow: Vec<String>,
    /// Don't use these tools.
    #[schemars(extend("items" = {"type": "string", "format": "pattern"}))]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) deny: Vec<String>,
    /// Time limit of a call, such as "30s" [default: 1 minute].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) timeout: Option<Time>,
    /// Time until the server is ready, such as "2m" [default: 1 minute].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) start_timeout: Option<Time>,
}

impl Listed {
    /// How the server is reached. Variables that the file names are meant for the server, so it receives
    /// them where they are named; otherwise it gets what the environment allows.
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

    /// What the server is started with: variables and headers are shown by their names.
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

/// A server with only the tools that match these patterns.
pub(super) fn picked(plan: Mcp, allow: &[String], deny: &[String]) -> Result<Mcp, EmptyPattern> {
    let plan = plan.allow(allow.iter().map(String::as_str))?;
    plan.deny(deny.iter().map(String::as_str))
}

/// Checks that an address can be noted: it must not contain a user name or password.
pub(crate) fn check_address(url: &str) -> Result<(), String> {
    let rest = url
        .strip_prefix("http://")
        .or_else(|| url.strip_prefix("https://"));
    let Some(rest) = rest else {
        return Err("give an address that begins with http:// or https://".to_owned());
    };
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if host.contains('@') {
        let message = "an address must not contain a user name or password, because the run notes it: \
                       put them into `headers` in a file";
        return Err(message.to_owned());
    }
    Ok(())
}
