//! A connected server.

use std::collections::HashSet;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex as StdMutex, MutexGuard, PoisonError};

use enact_core::Tools;
use enact_core::tool::ToolSpec;
use rmcp::model::{PaginatedRequestParams, Tool};
use rmcp::service::{Peer, RoleClient};
use tokio::sync::{Mutex, watch};

use crate::calls::Calls;
use crate::connection::Connection;
use crate::source::source;
use crate::spec::{callable, spec};
use crate::tool::McpTool;
use crate::{Error, ErrorKind, Mcp};

/// The maximum number of pages in a list of tools, which could be endless.
const MOST_PAGES: usize = 100;

/// A connected server. Cheap to clone; it is stopped when the last clone and the last of its tools are
/// dropped. [`shutdown`](Server::shutdown) stops it immediately, and waits for it.
#[derive(Clone)]
pub struct Server {
    shared: Arc<Shared>,
}

struct Shared {
    name: String,
    /// The source of its tools.
    source: String,
    plan: Mcp,
    link: Mutex<Link>,
    /// All of its tools, including unused ones.
    offered: StdMutex<Vec<Tool>>,
    /// Counts the notifications of changed tools and the restarts.
    changes: watch::Sender<u64>,
    /// The count that the list reflects.
    known: AtomicU64,
}

/// The state of the server.
enum Link {
    Up {
        connection: Box<Connection>,
        was_restarted: bool,
    },
    /// It exited twice, or could not be restarted.
    Lost(String),
    /// It was shut down.
    Closed,
}

/// What a call needs.
pub(crate) struct Line {
    pub(crate) peer: Peer<RoleClient>,
    pub(crate) calls: Arc<Calls>,
    /// Whether the server was restarted for this call.
    pub(crate) is_new: bool,
}

impl Server {
    pub(crate) async fn connect(plan: Mcp) -> Result<Self, Error> {
        let changes = watch::Sender::new(0);
        let connection = Connection::open(&plan, &changes).await?;
        let peer = connection.peer();
        let info = peer.peer_info();
        let own_name = info
            .as_ref()
            .and_then(|info| info.server_info.as_ref())
            .map(|server| server.name.as_str());
        let name = match (&plan.name, own_name) {
            (Some(name), _) => name.clone(),
            (None, Some(name)) if !name.trim().is_empty() => name.to_owned(),
            (None, _) => "mcp".to_owned(),
        };
        let server = Self {
            shared: Arc::new(Shared {
                source: source(&name, &plan),
                name,
                plan,
                link: Mutex::new(Link::Up {
                    connection: Box::new(connection),
                    was_restarted: false,
                }),
                offered: StdMutex::default(),
                changes,
                known: AtomicU64::new(0),
            }),
        };
        server.list(&peer).await?;
        Ok(server)
    }

    /// The name in errors.
    pub fn name(&self) -> &str {
        &self.shared.name
    }

    /// Its used tools, under their own names. [`join`](crate::join) combines the tools of several
    /// servers.
    pub fn tools(&self) -> Tools {
        crate::join(Tools::new(), std::slice::from_ref(self))
    }

    /// The names of all of its tools, including unused ones.
    pub fn offered(&self) -> Vec<String> {
        let offered = self.all();
        offered.iter().map(|tool| tool.name.to_string()).collect()
    }

    fn all(&self) -> MutexGuard<'_, Vec<Tool>> {
        let offered = self.shared.offered.lock();
        offered.unwrap_or_else(PoisonError::into_inner)
    }

    /// Notified each time the server reports changed tools. Runs fetch them before their next step;
    /// [`refresh`](Server::refresh) does so immediately.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.shared.changes.subscribe()
    }

    /// Fetches the tools. Agents and their runs use the new ones from the next step on.
    pub async fn refresh(&self) -> Result<(), Error> {
        let line = self.line().await;
        let line = line.map_err(|problem| Error::new(ErrorKind::Start, problem))?;
        self.list(&line.peer).await
    }

    /// Fetches the tools if the server has reported a change.
    pub(crate) async fn refresh_if_changed(&self) -> Result<(), Error> {
        let heard = *self.shared.changes.borrow();
        if heard == self.shared.known.load(Ordering::Acquire) {
            return Ok(());
        }
        self.refresh().await
    }

    /// The used tools.
    pub(crate) fn listed(&self) -> Vec<Tool> {
        let (offered, plan) = (self.all(), &self.shared.plan);
        let used = offered.iter().filter(|tool| plan.uses(&tool.name));
        used.cloned().collect()
    }

    pub(crate) fn tool(&self, tool: &Tool, name: String) -> McpTool {
        McpTool {
            server: self.clone(),
            remote: tool.name.to_string(),
            spec: self.spec(tool, name),
        }
    }

    fn spec(&self, tool: &Tool, name: String) -> ToolSpec {
        let source = self.shared.source.clone();
        spec(tool, name, source, self.shared.plan.timeout)
    }

    /// Whether the server still has this tool, by its own name, unchanged.
    pub(crate) fn offers(&self, remote: &str, known: &ToolSpec) -> bool {
        let listed = self.listed();
        let tool = listed.iter().find(|tool| tool.name == remote);
        tool.is_some_and(|tool| self.spec(tool, known.name.clone()).is_same_tool(known))
    }

    /// Fetches the tools, and stores their descriptions.
    async fn list(&self, peer: &Peer<RoleClient>) -> Result<(), Error> {
        let name = self.name();
        let wrong = |problem: String| {
            let message = format!("the MCP server `{name}` does not list its tools: {problem}");
            Error::new(ErrorKind::Protocol, message)
        };
        let limit = self.shared.plan.start_timeout;
        // A change that is reported while the list is in transit may not be in it.
        let heard = *self.shared.changes.borrow();
        let pages = async {
            let mut listed = Vec::new();
            let mut params = PaginatedRequestParams::default();
            for _ in 0..MOST_PAGES {
                let page = peer.list_tools(Some(params.clone())).await;
                let page = page.map_err(|error| wrong(error.to_string()).with_source(error))?;
                listed.extend(page.tools);
                params.cursor = page.next_cursor;
                if params.cursor.is_none() {
                    return Ok(listed);
                }
            }
            Err(wrong(format!("the list has more than {MOST_PAGES} pages")))
        };
        let listed = match tokio::time::timeout(limit, pages).await {
            Ok(listed) => listed?,
            Err(_) => {
                let message =
                    format!("the MCP server `{name}` did not list its tools within {limit:?}");
                return Err(Error::new(ErrorKind::Timeout, message));
            }
        };
        let used = listed
            .iter()
            .filter(|tool| self.shared.plan.uses(&tool.name));
        let mut names = HashSet::new();
        for name in used.map(|tool| callable(&tool.name)) {
            if !names.insert(name.clone()) {
                return Err(wrong(format!(
                    "two of them are called `{name}`: deny one of them"
                )));
            }
        }
        *self.all() = listed;
        self.shared.known.store(heard, Ordering::Release);
        Ok(())
    }

    /// The connection for a call. A server that has exited is restarted, once.
    pub(crate) async fn line(&self) -> Result<Line, String> {
        let mut link = self.shared.link.lock().await;
        let name = self.name();
        let mut is_new = false;
        loop {
            match &*link {
                Link::Up { connection, .. } if !connection.is_over() => {
                    return Ok(Line {
                        peer: connection.peer(),
                        calls: connection.calls(),
                        is_new,
                    });
                }
                Link::Up { .. } => {}
                Link::Lost(why) => return Err(why.clone()),
                Link::Closed => return Err(format!("the MCP server `{name}` was shut down")),
            }
            let Link::Up {
                connection,
                was_restarted,
            } = std::mem::replace(&mut *link, Link::Closed)
            else {
                continue;
            };
            let words = connection.last_words().await;
            connection.close().await;
            if was_restarted {
                *link = Link::Lost(format!(
                    "the MCP server `{name}` ended a second time{}: it is not started again, so \
                     its tools cannot be used any more",
                    bracketed(&words)
                ));
                continue;
            }
            *link = match Connection::open(&self.shared.plan, &self.shared.changes).await {
                Ok(connection) => {
                    // It may have come back as a different server.
                    self.shared.changes.send_modify(|count| *count += 1);
                    is_new = true;
                    Link::Up {
                        connection: Box::new(connection),
                        was_restarted: true,
                    }
                }
                Err(error) => Link::Lost(format!(
                    "the MCP server `{name}` ended{} and could not be started again: {error}",
                    bracketed(&words)
                )),
            };
        }
    }

    /// Why a call was interrupted, and what the model can conclude.
    pub(crate) async fn cut_off(&self) -> String {
        let link = self.shared.link.lock().await;
        let words = match &*link {
            Link::Up { connection, .. } => {
                connection.calls().lose();
                connection.last_words().await
            }
            Link::Lost(_) | Link::Closed => String::new(),
        };
        format!(
            "the MCP server `{}` ended while it was at work on this call{}: whether the call had \
             an effect is not known",
            self.name(),
            bracketed(&words)
        )
    }

    /// Stops the server with its children, and waits until it has exited. Calls of its tools fail from now
    /// on.
    pub async fn shutdown(&self) {
        let link = std::mem::replace(&mut *self.shared.link.lock().await, Link::Closed);
        if let Link::Up { connection, .. } = link {
            connection.close().await;
        }
    }
}

fn bracketed(words: &str) -> String {
    match words {
        "" => String::new(),
        words => format!(" ({words})"),
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Server").field(&self.shared.name).finish()
    }
}
