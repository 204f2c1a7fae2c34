//! Tools of [Model Context Protocol](https://modelcontextprotocol.io) servers for enact agents.
//!
//! [`Mcp`] says how a server is reached and what of it is used; [`Mcp::connect`] gives a
//! [`Server`], and [`Server::tools`] the tools of it, for any agent. A server that runs as a
//! process is started, started once more if it ends, and ended with all that it started.
//!
//! ```no_run
//! use enact::ReAct;
//! use enact_mcp::Mcp;
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let memory = Mcp::stdio("npx", ["-y", "@modelcontextprotocol/server-memory"])
//!     .connect()
//!     .await?;
//! let agent = ReAct::builder("question -> answer").tools(memory.tools()).build()?;
//! # let _ = agent;
//! memory.shutdown().await;
//! # Ok(())
//! # }
//! ```
//!
//! The other way round, [`AgentService`] offers an agent as a tool to MCP clients.
//!
//! The guide `docs/guide/mcp.md` tells how what a server says of its tools becomes rules of
//! enact, and what happens when a server asks the person something.

mod calls;
pub mod config;
mod connection;
mod elicitation;
mod error;
mod handler;
mod names;
mod pattern;
mod plan;
mod process;
mod result;
mod serve;
mod server;
mod source;
mod spec;
mod tool;

pub use enact_core::tool::Environment;
pub use error::{Error, ErrorKind};
pub use names::join;
pub use pattern::{EmptyPattern, Pattern};
pub use plan::Mcp;
pub use serve::AgentService;
pub use server::Server;

#[cfg(doctest)]
#[doc = include_str!(concat!("../../../", "docs/guide/mcp.md"))]
struct GuideMcp;
