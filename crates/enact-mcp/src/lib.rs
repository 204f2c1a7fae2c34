//! Tools of [Model Context Protocol](https://modelcontextprotocol.io) servers for enact agents.
//!
//! [`Mcp`] describes how to reach a server and which of its tools to use; [`Mcp::connect`] returns a
//! [`Server`], and [`Server::tools`] its tools, for any agent. A server that runs as a process is
//! started, restarted once if it exits, and ended with its children.
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
//! In the other direction, [`AgentService`] serves an agent as a tool to MCP clients.
//!
//! The guide `docs/guide/mcp.md` describes how a server's annotations become rules of enact, and what
//! happens if a server asks the person a question.

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
