//! MCP servers: those that an agent uses, and the agent as a server.

mod listed;
mod noted;
mod secret;
mod serve;
mod spotted;

use std::time::Duration;

use enact::Tools;
use enact_mcp::{Environment, ErrorKind, Mcp, Pattern, Server, join};
use futures_util::future::join_all;

pub(crate) use self::listed::{Listed, check_address};
pub(crate) use self::noted::{Noted, fill};
pub(crate) use self::secret::{
    add_command as add_command_secrets, argument_with_secret, is_in_address, store_addresses,
    store_commands,
};
pub(crate) use self::serve::execute;
use crate::exit::Failure;
use crate::secrets;
use crate::view::{Screen, Stream, text};

/// How long a start can take before a message is shown.
const PATIENCE: Duration = Duration::from_secs(1);

/// The servers of an agent.
#[derive(Debug, Default)]
pub(crate) struct Servers {
    list: Vec<Server>,
}

impl Servers {
    /// Starts servers concurrently.
    pub(crate) async fn start(noted: &Noted) -> Result<Self, Failure> {
        let plans = noted.plans()?;
        let is_remote: Vec<bool> = plans.iter().map(Mcp::is_remote).collect();
        let mut list = Vec::new();
        let started = join_all(plans.into_iter().map(start)).await;
        for (started, is_remote) in started.into_iter().zip(is_remote) {
            list.push(started.map_err(|error| refused(&error, is_remote))?);
        }
        let servers = Self { list };
        servers.check(noted)?;
        Ok(servers)
    }

    /// A pattern that matches no tool is an error: otherwise the agent would silently lack a
    /// tool.
    fn check(&self, noted: &Noted) -> Result<(), Failure> {
        let unfit = |patterns: Vec<Pattern>, servers: &[&Server]| {
            let offered = servers.iter().flat_map(|server| server.offered());
            let offered: Vec<String> = offered.collect();
            let fits = |pattern: &Pattern| offered.iter().any(|name| pattern.matches(name));
            let unfit = patterns.into_iter().find(|pattern| !fits(pattern));
            unfit.map(|pattern| (pattern, offered.join(", ")))
        };
        let all: Vec<&Server> = self.list.iter().collect();
        if let Some((pattern, offered)) = unfit(noted::patterns(noted.allowed())?, &all) {
            let message = format!(
                "`--mcp-allow {pattern}` matches no tool of the servers: they offer {offered}"
            );
            return Err(noted::wrong(message));
        }
        for (name, listed) in &noted.servers {
            let server = self.list.iter().filter(|server| server.name() == name);
            let server: Vec<&Server> = server.collect();
            if let Some((pattern, offered)) = unfit(noted::patterns(&listed.allow)?, &server) {
                let message = format!(
                    "[mcp.{name}]: `{pattern}` in `allow` matches no tool of the server: it offers \
                     {offered}"
                );
                return Err(noted::wrong(message));
            }
        }
        Ok(())
    }

    /// Adds other servers.
    pub(crate) fn and(&mut self, others: Self) {
        self.list.extend(others.list);
    }

    /// Combines a set of tools with those of the servers.
    pub(crate) fn join(&self, own: Tools) -> Tools {
        join(own, &self.list)
    }

    /// The source of each tool of the servers, in the order of `join`.
    pub(crate) fn sources(&self) -> impl Iterator<Item = String> {
        self.list.iter().flat_map(|server| {
            let source = format!("MCP server `{}`", server.name());
            std::iter::repeat_n(source, server.tools().len())
        })
    }

    /// Stops the servers, and waits until they have exited.
    pub(crate) async fn shutdown(&self) {
        join_all(self.list.iter().map(Server::shutdown)).await;
    }
}

/// Why a server cannot be used, and what helps.
fn refused(error: &enact_mcp::Error, is_remote: bool) -> Failure {
    let help = match (error.kind(), is_remote) {
        (ErrorKind::Timeout, true) => {
            ": check its address and that it answers, or give it longer with `--mcp-start-timeout \
             3m` (`start_timeout` in an agent file)"
        }
        (ErrorKind::Timeout, false) => {
            ": run its command by hand to see why, or give it longer with `--mcp-start-timeout 3m` \
             (`start_timeout` in an agent file)"
        }
        (ErrorKind::Protocol, true) => ": check that its address is that of an MCP endpoint",
        (ErrorKind::Protocol, false) => {
            ": run its command by hand to see what it prints; it may need a variable (`--mcp-env NAME`)"
        }
        (ErrorKind::Start, true) => {
            ": check its address and that the server runs; `enact tools --mcp-url URL` tries it \
             without an agent"
        }
        (ErrorKind::Start, false) => {
            "; `enact tools` with the same servers tries them without an agent"
        }
        _ => "",
    };
    Failure::failed(error.kind().as_str(), format!("{error}{help}"))
}

/// Starts a server, with a message if that takes long.
async fn start(plan: Mcp) -> Result<Server, enact_mcp::Error> {
    let label = text::one_line(&secrets::redact(&plan.label()));
    let mut starting = std::pin::pin!(plan.connect());
    tokio::select! {
        started = &mut starting => return started,
        () = tokio::time::sleep(PATIENCE) => {}
    }
    let screen = Screen::new(Stream::Stderr);
    screen.line(&format!("starting the MCP server `{label}` …"));
    starting.await
}

fn environment(names: &[String]) -> Environment {
    let names = names.iter().map(|name| name.trim());
    Environment::new().allowing(names.filter(|name| !name.is_empty()))
}
