//! The servers of a run as its log notes them: enough to start them again, without secrets.
//!
//! A secret in a command or an address is stored as `[redacted]`, and has to be given again when the run
//! is resumed. `${NAME}` is stored as written, and its value is read from the environment.

use std::path::PathBuf;

use enact::model::{REDACTED, Secrets};
use enact_mcp::{Mcp, Pattern, config};
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::listed::picked;
use super::{Listed, check_address, environment, secret};
use crate::agent::said;
use crate::args::{McpArgs, Time};
use crate::exit::Failure;
use crate::view::exact;

/// The servers of a run. Headers and the values of variables stay in files and in the
/// environment.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct Noted {
    #[serde(flatten, serialize_with = "said")]
    flags: McpArgs,
    /// The servers of an agent file, by name.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub(super) servers: IndexMap<String, Listed>,
    /// The working directory of servers that set none.
    folder: PathBuf,
    /// The built-in tools of the agent, whose names servers may also use.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) own: Vec<String>,
}

impl Noted {
    /// The servers of an agent file.
    pub(crate) fn of_servers(servers: IndexMap<String, Listed>) -> Self {
        Self {
            servers,
            ..Self::default()
        }
    }

    /// Adds the servers of flags to those of an agent file; none if there are no servers.
    pub(crate) fn with_flags(file: Option<Self>, args: &McpArgs) -> Result<Option<Self>, Failure> {
        let mut flags = args.clone();
        let has_flags =
            !flags.mcp.is_empty() || !flags.mcp_url.is_empty() || !flags.mcp_config.is_empty();
        let servers = match file {
            // Noted flags are kept unless new ones are given.
            Some(noted) if !has_flags && noted.folder.is_absolute() => return Ok(Some(noted)),
            Some(file) => file.servers,
            None if has_flags => IndexMap::new(),
            None => return Ok(None),
        };
        let unknown = |error: std::io::Error| wrong(error.to_string());
        for path in &mut flags.mcp_config {
            *path = std::path::absolute(&*path).map_err(unknown)?;
        }
        Ok(Some(Self {
            flags,
            servers,
            folder: std::env::current_dir().map_err(unknown)?,
            own: Vec::new(),
        }))
    }

    /// These servers with the secrets that are not stored, from commands and addresses that are given again.
    pub(crate) fn completed(
        mut self,
        commands: &[String],
        urls: &[String],
    ) -> Result<Self, Failure> {
        complete(
            &mut self.flags.mcp,
            commands,
            "--mcp",
            secret::stored_command,
        )?;
        complete(
            &mut self.flags.mcp_url,
            urls,
            "--mcp-url",
            secret::stored_address,
        )?;
        Ok(self)
    }

    /// Adds the secrets in commands and addresses, and those read from the environment.
    pub(crate) fn add_secrets(&self, secrets: Secrets) -> Secrets {
        let commands = self.flags.mcp.iter();
        let commands = commands.filter_map(|command| shlex::split(command));
        let listed = self.servers.values().map(Listed::words);
        let secrets = commands.chain(listed).fold(secrets, |secrets, words| {
            secret::add_command(secrets, &words)
        });
        let listed = self.servers.values().filter_map(|one| one.url.as_ref());
        let urls = self.flags.mcp_url.iter().chain(listed);
        urls.fold(secrets, |secrets, url| secret::add_address(secrets, url))
    }

    /// What the servers do when the run is resumed.
    pub(crate) fn deeds(&self) -> Vec<(String, String)> {
        let mut deeds = Vec::new();
        let mut tell = |what: &str, how: String| deeds.push((what.to_owned(), how));
        for command in &self.flags.mcp {
            tell("starts", secret::stored_command(command));
        }
        for url in &self.flags.mcp_url {
            tell("connects to", secret::stored_address(url));
        }
        for path in &self.flags.mcp_config {
            tell("starts the servers listed in", path.display().to_string());
        }
        if !self.flags.mcp_env.is_empty() {
            tell(
                "hands the servers the variables",
                self.flags.mcp_env.join(", "),
            );
        }
        for (name, listed) in &self.servers {
            let what = format!("starts the server {}", exact::identifier(name));
            tell(&what, json!(listed).to_string());
        }
        tell("starts servers in", self.folder.display().to_string());
        deeds
    }

    /// The patterns of the allowed tools.
    pub(super) fn allowed(&self) -> &[String] {
        &self.flags.mcp_allow
    }

    /// How each server is reached.
    pub(super) fn plans(&self) -> Result<Vec<Mcp>, Failure> {
        let environment = environment(&self.flags.mcp_env);
        let mut plans = Vec::new();
        for command in &self.flags.mcp {
            let words = shlex::split(command);
            let Some((program, args)) = words.as_deref().and_then(<[String]>::split_first) else {
                let message =
                    format!("`--mcp {command}` is not a command: name a program, and close quotes");
                return Err(wrong(message));
            };
            let filled =
                |word: &String| fill(word).map_err(|problem| wrong(format!("`--mcp`: {problem}")));
            let args: Result<Vec<String>, Failure> = args.iter().map(filled).collect();
            let args = args?;
            let plan = Mcp::stdio(filled(program)?, args).folder(&self.folder);
            plans.push(plan.environment(environment.clone()));
        }
        for url in &self.flags.mcp_url {
            let url = check_address(url).and_then(|()| fill(url));
            let url = url.map_err(|problem| wrong(format!("`--mcp-url`: {problem}")))?;
            plans.push(Mcp::http(&url));
        }
        for path in &self.flags.mcp_config {
            let shown = path.display();
            let text = std::fs::read_to_string(path)
                .map_err(|error| wrong(format!("{shown} cannot be read: {error}")))?;
            let listed = config::read(&text, &environment)
                .map_err(|error| wrong(format!("{shown}: {error}")))?;
            let listed = listed.into_iter();
            plans.extend(listed.map(|plan| plan.folder_unless_set(&self.folder)));
        }
        for (name, listed) in &self.servers {
            plans.push(listed.plan(name, &environment)?);
        }
        let plans = plans.into_iter();
        let plans = plans.map(|plan| match self.flags.mcp_start_timeout {
            Some(Time(timeout)) => plan.start_timeout(timeout),
            None => plan,
        });
        let plans = plans.map(|plan| match self.flags.mcp_timeout {
            Some(Time(timeout)) => plan.timeout(timeout),
            None => plan,
        });
        let plans = plans.map(|plan| picked(plan, &self.flags.mcp_allow, &self.flags.mcp_deny));
        let plans: Result<Vec<Mcp>, enact_mcp::EmptyPattern> = plans.collect();
        plans.map_err(|error| wrong(error.to_string()))
    }
}

/// Replaces the stored commands or addresses by those that are given again.
fn complete(
    stored: &mut [String],
    given: &[String],
    flag: &str,
    as_stored: fn(&str) -> String,
) -> Result<(), Failure> {
    for whole in given {
        let known = as_stored(whole);
        let Some(place) = stored.iter_mut().find(|stored| **stored == known) else {
            let message = format!(
                "`{flag} {known}` is not a server of this run: repeat what the run was started with, \
                 which has {}",
                if stored.is_empty() {
                    "none".to_owned()
                } else {
                    stored.join(", ")
                }
            );
            return Err(Failure::usage("mcp_secret", message));
        };
        place.clone_from(whole);
    }
    match stored.iter().find(|stored| stored.contains(REDACTED)) {
        None => Ok(()),
        Some(open) => {
            let message = format!(
                "the secret of the MCP server `{open}` is not stored with the run: repeat \
                 the complete `{flag}` to resume it; or start runs with `${{NAME}}` in its place, which is \
                 read from the environment"
            );
            Err(Failure::usage("mcp_secret", message))
        }
    }
}

/// A text with the values of the variables that it names as `${NAME}`.
pub(crate) fn fill(text: &str) -> Result<String, String> {
    let mut filled = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        filled.push_str(before);
        let Some((name, after)) = after.split_once('}') else {
            return Err("`${` is not closed: write `${NAME}`".to_owned());
        };
        let value = std::env::var(name)
            .map_err(|_| format!("the variable {name} is not set: set it, and try again"))?;
        filled.push_str(&value);
        rest = after;
    }
    filled.push_str(rest);
    Ok(filled)
}

pub(super) fn patterns(written: &[String]) -> Result<Vec<Pattern>, Failure> {
    let patterns = written.iter().map(|pattern| pattern.parse());
    let patterns: Result<Vec<Pattern>, enact_mcp::EmptyPattern> = patterns.collect();
    patterns.map_err(|error| wrong(error.to_string()))
}

pub(super) fn wrong(message: String) -> Failure {
    Failure::usage("mcp_config", message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(commands: &[&str], urls: &[&str]) -> String {
        let noted = Noted {
            flags: McpArgs {
                mcp: commands.iter().map(|one| (*one).to_owned()).collect(),
                mcp_url: urls.iter().map(|one| (*one).to_owned()).collect(),
                ..McpArgs::default()
            },
            ..Noted::default()
        };
        noted.plans().unwrap_err().message
    }

    #[test]
    fn a_command_is_words_and_an_address_holds_no_secret() {
        assert!(problem(&["npx 'x"], &[]).contains("is not a command"));
        assert!(problem(&[" "], &[]).contains("is not a command"));
        assert!(problem(&[], &["localhost:80"]).contains("begins with http://"));
        let said = problem(&[], &["https://me:secret@a.example/mcp"]);
        assert!(
            said.contains("must not contain a user name or password"),
            "{said}"
        );
        assert!(!said.contains("secret"), "{said}");
    }
}
