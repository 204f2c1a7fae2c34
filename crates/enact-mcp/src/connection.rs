//! A live connection to a server.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use rmcp::model::ProtocolVersion;
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, ClientServiceExt as _, Peer, RoleClient,
    RunningService,
};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use secrecy::{ExposeSecret as _, SecretString};
use tokio::sync::watch;

use crate::calls::Calls;
use crate::error::innermost;
use crate::handler::Handler;
use crate::plan::Way;
use crate::process::{Process, Words};
use crate::{Error, ErrorKind, Mcp};

/// The time limit for closing a connection.
const LEAVE: Duration = Duration::from_secs(2);

/// A live connection, and its process if we started it.
#[derive(Debug)]
pub(crate) struct Connection {
    running: RunningService<RoleClient, Handler>,
    process: Option<Process>,
}

impl Connection {
    /// Starts the server or connects to it, and negotiates the protocol version.
    pub(crate) async fn open(plan: &Mcp, changes: &watch::Sender<u64>) -> Result<Self, Error> {
        let words = Words::default();
        let opening = Self::agree(plan, changes, &words);
        match tokio::time::timeout(plan.start_timeout, opening).await {
            Ok(opened) => opened,
            Err(_) => {
                let limit = plan.start_timeout;
                let said = match (words.said(), &plan.way) {
                    (said, _) if !said.is_empty() => said,
                    (_, Way::Stdio(_)) => "it said nothing".to_owned(),
                    (_, Way::Http { .. }) => "it did not answer".to_owned(),
                };
                let message = format!(
                    "the MCP server {} was not ready within {limit:?} ({said})",
                    plan.described()
                );
                Err(Error::new(ErrorKind::Timeout, message))
            }
        }
    }

    async fn agree(plan: &Mcp, changes: &watch::Sender<u64>, words: &Words) -> Result<Self, Error> {
        // All current servers support this handshake; requesting the newer one first makes some of them exit
        // or wait.
        let usual = ClientLifecycleMode::Initialize;
        let greeted = match Self::greet(plan, changes, words, usual).await? {
            // It rejected the version properly: it may only support the newer one.
            Err((ClientInitializeError::JsonRpcError(_), _)) => {
                let newer = ClientLifecycleMode::Discover {
                    preferred_versions: vec![ProtocolVersion::LATEST],
                };
                Self::greet(plan, changes, words, newer).await?
            }
            greeted => greeted,
        };
        greeted.map_err(|(error, words)| refused(plan, error, &words))
    }

    async fn greet(
        plan: &Mcp,
        changes: &watch::Sender<u64>,
        words: &Words,
        greeting: ClientLifecycleMode,
    ) -> Result<Result<Self, (ClientInitializeError, String)>, Error> {
        let handler = Handler {
            calls: Arc::default(),
            changes: changes.clone(),
        };
        let (served, process) = match &plan.way {
            Way::Stdio(program) => {
                let (process, pipes) =
                    Process::start(program, &plan.environment, words).map_err(|error| {
                        let (server, command) = (plan.described(), &program.command);
                        let message = format!(
                            "the MCP server {server} cannot be started: `{command}`: {error}; \
                             install it, or correct the command"
                        );
                        Error::new(ErrorKind::Start, message).with_source(error)
                    })?;
                let served = handler.serve_with_lifecycle(pipes, greeting).await;
                (served, Some(process))
            }
            Way::Http { url, headers } => {
                let config = StreamableHttpClientTransportConfig::with_uri(url.as_str())
                    .custom_headers(header_map(plan, headers)?)
                    .reinit_on_expired_session(true);
                let transport = StreamableHttpClientTransport::from_config(config);
                let served = handler.serve_with_lifecycle(transport, greeting).await;
                (served, None)
            }
        };
        Ok(match served {
            Ok(running) => Ok(Self { running, process }),
            Err(error) => Err((error, last_words(process.as_ref()).await)),
        })
    }

    pub(crate) fn peer(&self) -> Peer<RoleClient> {
        self.running.peer().clone()
    }

    pub(crate) fn calls(&self) -> Arc<Calls> {
        Arc::clone(&self.running.service().calls)
    }

    /// Whether the connection is closed.
    pub(crate) fn is_over(&self) -> bool {
        self.running.is_transport_closed()
            || self.running.service().calls.is_lost()
            || self.process.as_ref().is_some_and(Process::is_gone)
    }

    /// How the process ended, and its last output.
    pub(crate) async fn last_words(&self) -> String {
        last_words(self.process.as_ref()).await
    }

    /// Closes the connection, and ends the process with its children.
    pub(crate) async fn close(mut self) {
        // A connection that doesn't close ends with its process.
        let _ = self.running.close_with_timeout(LEAVE).await;
        drop(self.running);
        if let Some(process) = self.process {
            process.end().await;
        }
    }
}

async fn last_words(process: Option<&Process>) -> String {
    match process {
        Some(process) => {
            process.settle().await;
            process.words()
        }
        None => String::new(),
    }
}

fn refused(plan: &Mcp, error: ClientInitializeError, words: &str) -> Error {
    let server = plan.described();
    let kind = match (&plan.way, &error) {
        (Way::Http { .. }, ClientInitializeError::TransportError { .. }) => ErrorKind::Start,
        _ => ErrorKind::Protocol,
    };
    let what = match &plan.way {
        Way::Stdio(_) => "does not speak the Model Context Protocol on standard output",
        Way::Http { .. } => "cannot be reached, or does not speak the Model Context Protocol",
    };
    let mut message = format!("the MCP server {server} {what}: {}", told(&error));
    if !words.is_empty() {
        message.push_str(&format!(" ({words})"));
    }
    Error::new(kind, message).with_source(error)
}

/// A short description of the error. The texts of some errors contain whole messages.
fn told(error: &ClientInitializeError) -> String {
    match error {
        ClientInitializeError::ConnectionClosed(_) => "it ended or hung up".to_owned(),
        ClientInitializeError::JsonRpcError(error) => error.message.to_string(),
        ClientInitializeError::TransportError { error, .. } => innermost(error.error.as_ref()),
        ClientInitializeError::NoCompatibleProtocolVersion { .. } => {
            "no version of the protocol is known to both".to_owned()
        }
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => told(fallback),
        _ => "it answered something else than it was asked".to_owned(),
    }
}

type Headers = HashMap<reqwest::header::HeaderName, reqwest::header::HeaderValue>;

fn header_map(plan: &Mcp, headers: &HashMap<String, SecretString>) -> Result<Headers, Error> {
    let mut map = Headers::new();
    for (name, value) in headers {
        let wrong = || {
            // The value may be a secret.
            let label = plan.label();
            let message = format!("the header `{name}` of the MCP server `{label}` is not one");
            Error::new(ErrorKind::Config, message)
        };
        let name = name.parse().map_err(|_| wrong())?;
        let mut value: reqwest::header::HeaderValue =
            value.expose_secret().parse().map_err(|_| wrong())?;
        value.set_sensitive(true);
        map.insert(name, value);
    }
    Ok(map)
}
