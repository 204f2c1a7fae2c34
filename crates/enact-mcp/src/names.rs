//! Combines the tools of several servers.

use std::collections::HashMap;
use std::pin::Pin;
use std::sync::Arc;

use enact_core::react::RESERVED_TOOLS;
use enact_core::tool::Toolbox;
use enact_core::{Tool, ToolError, Tools};

use crate::Server;
use crate::spec::callable;

/// Adds the tools of servers to a set. A name that is taken, used by two servers, or reserved is prefixed
/// with the name of its server: `memory_search`.
///
/// If a server reports changed tools, runs use the new ones from their next step on.
pub fn join(own: Tools, servers: &[Server]) -> Tools {
    if servers.is_empty() {
        return own;
    }
    own.with_toolbox(Arc::new(Joined {
        servers: servers.to_vec(),
    }))
}

/// Servers whose tools are used together.
struct Joined {
    servers: Vec<Server>,
}

impl Toolbox for Joined {
    fn tools(&self, taken: &[&str]) -> Vec<Arc<dyn Tool>> {
        let mut uses: HashMap<String, usize> = HashMap::new();
        let listed = self.servers.iter().flat_map(Server::listed);
        let taken = taken.iter().chain(RESERVED_TOOLS);
        let taken = taken.map(|name| (*name).to_owned());
        for name in taken.chain(listed.map(|tool| callable(&tool.name))) {
            *uses.entry(name).or_default() += 1;
        }
        let mut tools: Vec<Arc<dyn Tool>> = Vec::new();
        for server in &self.servers {
            for tool in server.listed() {
                let plain = callable(&tool.name);
                let name = match uses.get(&plain) {
                    Some(1) => plain,
                    _ => callable(&format!("{}_{plain}", server.name())),
                };
                tools.push(Arc::new(server.tool(&tool, name)));
            }
        }
        tools
    }

    fn refresh<'a>(&'a self) -> Pin<Box<dyn Future<Output = Result<(), ToolError>> + Send + 'a>> {
        Box::pin(async {
            for server in &self.servers {
                let refreshed = server.refresh_if_changed().await;
                refreshed.map_err(|error| ToolError::new(error.to_string()))?;
            }
            Ok(())
        })
    }
}
