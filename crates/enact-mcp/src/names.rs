//! The tools of several servers as one set.

use std::collections::HashMap;

use enact::Tools;
use enact::react::RESERVED_TOOLS;

use crate::Server;
use crate::spec::callable;

/// Adds the tools of servers to a set. A name that is taken, that two servers use, or that enact
/// keeps for itself, is written with the name of its server before it: `memory_search`.
pub fn join(own: Tools, servers: &[Server]) -> Tools {
    let mut uses: HashMap<String, usize> = HashMap::new();
    let listed = servers.iter().flat_map(|server| server.listed());
    let reserved = RESERVED_TOOLS.iter().map(|name| (*name).to_owned());
    let taken = own.names().map(str::to_owned).chain(reserved);
    for name in taken.chain(listed.map(|tool| callable(&tool.name))) {
        *uses.entry(name).or_default() += 1;
    }
    let mut tools = own;
    for server in servers {
        for tool in server.listed() {
            let plain = callable(&tool.name);
            let name = match uses.get(&plain) {
                Some(1) => plain,
                _ => callable(&format!("{}_{plain}", server.name())),
            };
            tools = tools.with(server.tool(&tool, name));
        }
    }
    tools
}
