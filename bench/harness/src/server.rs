//! The scripted server, as a process of its own.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::Context as _;
use serde::Deserialize;

/// The server; it ends with this value.
pub(crate) struct Server {
    process: Child,
    /// Such as `127.0.0.1:4711`.
    host: String,
    sessions: AtomicUsize,
}

/// What the server has counted in a session.
#[derive(Deserialize)]
pub(crate) struct Counted {
    pub(crate) runs: usize,
    pub(crate) requests: usize,
    pub(crate) bytes: usize,
    pub(crate) body_prefix: Option<f64>,
    pub(crate) prompt_prefix: Option<f64>,
}

/// One use of the server.
pub(crate) struct Session<'a> {
    server: &'a Server,
    name: String,
    /// The base URL for a contender.
    pub(crate) url: String,
}

impl Server {
    pub(crate) fn start(program: &Path) -> anyhow::Result<Self> {
        let mut process = Command::new(program)
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {}", program.display()))?;
        let mut line = String::new();
        let output = process.stdout.take().context("the server has no output")?;
        BufReader::new(output).read_line(&mut line)?;
        let host = line.trim().strip_prefix("http://");
        let host = host
            .context("the server did not tell its address")?
            .to_owned();
        Ok(Self {
            process,
            host,
            sessions: AtomicUsize::new(0),
        })
    }

    /// A session by a script; `counted` ones compare each request with the next.
    pub(crate) fn session(
        &self,
        kind: &str,
        script: &str,
        steps: usize,
        latency_ms: usize,
    ) -> Session<'_> {
        let number = self.sessions.fetch_add(1, Ordering::Relaxed);
        let name = format!("{kind}-{number}");
        Session {
            url: format!(
                "http://{}/{script}/{steps}/{latency_ms}/{name}/v1",
                self.host
            ),
            name,
            server: self,
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Session<'_> {
    /// What the session has sent; the server forgets it.
    pub(crate) fn end(self) -> anyhow::Result<Counted> {
        let host = &self.server.host;
        let mut stream = TcpStream::connect(host)?;
        write!(
            stream,
            "GET /stats/{} HTTP/1.1\r\nhost: {host}\r\n\r\n",
            self.name
        )?;
        stream.shutdown(std::net::Shutdown::Write)?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        let (_, body) = answer
            .split_once("\r\n\r\n")
            .context("no answer from the server")?;
        Ok(serde_json::from_str(body)?)
    }
}
