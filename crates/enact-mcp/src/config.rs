//! Servers in the common `mcpServers` JSON format.
//!
//! ```json
//! {
//!   "mcpServers": {
//!     "files": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "."]},
//!     "search": {"url": "https://search.example/mcp", "headers": {"Authorization": "Bearer ${KEY}"}}
//!   }
//! }
//! ```

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Deserialize;
use serde_json::Value;

use crate::{Environment, Error, ErrorKind, Mcp, source};

/// Parses a configuration. `${NAME}` stands for a variable of this process, if the environment
/// allows it.
///
/// ```
/// use enact_mcp::{Environment, config};
///
/// let servers = config::read(
///     r#"{"mcpServers": {"time": {"command": "uvx", "args": ["mcp-server-time"]}}}"#,
///     &Environment::new(),
/// )?;
/// assert_eq!(servers[0].label(), "time");
/// # Ok::<_, enact_mcp::Error>(())
/// ```
pub fn read(text: &str, environment: &Environment) -> Result<Vec<Mcp>, Error> {
    let file: File = serde_json::from_str(text).map_err(|error| {
        let message = format!(
            "not a configuration of MCP servers: {error}; it looks like \
             {{\"mcpServers\": {{\"name\": {{\"command\": \"…\", \"args\": []}}}}}}"
        );
        Error::new(ErrorKind::Config, message).with_source(error)
    })?;
    let mut servers = Vec::new();
    for (name, entry) in file.servers {
        let wrong = |problem: String| {
            let message = format!("the MCP server `{name}` cannot be read: {problem}");
            Error::new(ErrorKind::Config, message)
        };
        let entry: Entry =
            serde_json::from_value(entry).map_err(|error| wrong(error.to_string()))?;
        if !entry.disabled {
            servers.push(entry.plan(environment).map_err(wrong)?.name(name));
        }
    }
    Ok(servers)
}

#[derive(Deserialize)]
struct File {
    #[serde(rename = "mcpServers")]
    servers: serde_json::Map<String, Value>,
}

/// A server. Unknown fields of other programs are ignored.
#[derive(Deserialize)]
struct Entry {
    command: Option<String>,
    #[serde(default)]
    args: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    cwd: Option<PathBuf>,
    url: Option<String>,
    #[serde(default)]
    headers: BTreeMap<String, String>,
    #[serde(rename = "type")]
    transport: Option<String>,
    #[serde(default)]
    disabled: bool,
}

impl Entry {
    fn plan(self, environment: &Environment) -> Result<Mcp, String> {
        if let Some(transport @ ("sse" | "ws" | "websocket")) = self.transport.as_deref() {
            return Err(format!(
                "its transport `{transport}` is not known here: use `stdio` or `http`"
            ));
        }
        let fill = |text: &str| fill(text, environment);
        let mut plan = match (self.command, self.url) {
            (Some(_), Some(_)) => {
                return Err("it has both a `command` and a `url`: keep one".to_owned());
            }
            (None, None) => return Err("it has neither a `command` nor a `url`".to_owned()),
            (Some(command), None) => {
                let args: Result<Vec<String>, String> =
                    self.args.iter().map(|arg| fill(arg)).collect();
                let mut plan = Mcp::stdio(fill(&command)?, args?);
                plan.written = Some(source::words(&command, &self.args));
                plan
            }
            (None, Some(url)) => {
                let mut plan = Mcp::http(fill(&url)?);
                plan.written = Some(source::address(&url));
                plan
            }
        };
        for (name, value) in &self.env {
            plan = plan.variable(name, fill(value)?);
        }
        for (name, value) in &self.headers {
            plan = plan.header(name, fill(value)?);
        }
        if let Some(folder) = self.cwd {
            plan = plan.folder(folder);
        }
        Ok(plan.environment(environment.clone()))
    }
}

/// Replaces names by the values of variables.
fn fill(text: &str, environment: &Environment) -> Result<String, String> {
    let mut filled = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        let Some((name, behind)) = after.split_once('}') else {
            return Err(format!("`${{{after}` has no `}}`"));
        };
        if !environment.allows(name) {
            return Err(format!(
                "it uses the variable `{name}`, which servers may not see: allow it with \
                 `--mcp-env {name}`"
            ));
        }
        let value = std::env::var(name)
            .map_err(|_| format!("it uses the variable `{name}`, which is not set"))?;
        filled.push_str(before);
        filled.push_str(&value);
        rest = behind;
    }
    filled.push_str(rest);
    Ok(filled)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Way;

    fn problem(text: &str) -> String {
        read(text, &Environment::new()).unwrap_err().to_string()
    }

    #[test]
    fn a_server_is_a_command_or_an_address() {
        let text = r#"{"mcpServers": {
            "files": {"command": "npx", "args": ["-y", "x"], "env": {"A": "b"}, "cwd": "/tmp"},
            "off": {"command": "x", "disabled": true},
            "far": {"type": "http", "url": "https://a.example/mcp", "headers": {"X-Key": "k"},
                    "note": "for another program"}
        }}"#;
        let servers = read(text, &Environment::new()).unwrap();
        let names: Vec<String> = servers.iter().map(Mcp::label).collect();
        assert_eq!(names, ["files", "far"]);
        let Way::Stdio(program) = &servers[0].way else {
            panic!("a command")
        };
        assert_eq!(program.args, ["-y", "x"]);
        assert_eq!(program.folder.as_deref(), Some("/tmp".as_ref()));
        let shown = format!("{servers:?}");
        assert!(!shown.contains("\"k\""), "{shown}");
        assert!(!shown.contains("\"b\""), "{shown}");
    }

    #[test]
    fn variables_come_from_the_allow_list() {
        let text = r#"{"mcpServers": {"a": {"command": "${HOME}/bin/x", "args": ["${NO_SUCH}"]}}}"#;
        assert_eq!(
            problem(text),
            "the MCP server `a` cannot be read: it uses the variable `NO_SUCH`, which servers may \
             not see: allow it with `--mcp-env NO_SUCH`"
        );
        let allowed = Environment::new().allowing(["NO_SUCH"]);
        let problem = read(text, &allowed).unwrap_err().to_string();
        assert!(
            problem.ends_with("`NO_SUCH`, which is not set"),
            "{problem}"
        );
    }

    #[test]
    fn what_is_wrong_is_said_with_the_name() {
        for (text, expected) in [
            ("[]", "not a configuration of MCP servers"),
            (
                r#"{"mcpServers": {"a": {}}}"#,
                "the MCP server `a` cannot be read: it has neither a `command` nor a `url`",
            ),
            (
                r#"{"mcpServers": {"a": {"command": "x", "url": "y"}}}"#,
                "it has both a `command` and a `url`: keep one",
            ),
            (
                r#"{"mcpServers": {"a": {"command": 3}}}"#,
                "the MCP server `a` cannot be read: invalid type",
            ),
            (
                r#"{"mcpServers": {"a": {"type": "sse", "url": "y"}}}"#,
                "its transport `sse` is not known here",
            ),
            (
                r#"{"mcpServers": {"a": {"command": "${x"}}}"#,
                "`${x` has no `}`",
            ),
        ] {
            assert!(problem(text).contains(expected), "{}", problem(text));
        }
    }
}
