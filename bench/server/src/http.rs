//! As much of HTTP/1.1 as the clients of the contenders speak.

use anyhow::{Context as _, bail};
use tokio::io::AsyncReadExt as _;
use tokio::net::TcpStream;

const MAX_HEADERS: usize = 64;

/// One request, borrowed from the buffer of its connection.
pub(crate) struct Request<'a> {
    pub(crate) path: &'a str,
    pub(crate) body: &'a [u8],
}

/// A connection that is kept alive.
pub(crate) struct Connection {
    pub(crate) stream: TcpStream,
    buffer: Vec<u8>,
    /// How many bytes of the buffer belong to the request that is being answered.
    taken: usize,
}

impl Connection {
    pub(crate) fn new(stream: TcpStream) -> Self {
        Self {
            stream,
            buffer: Vec::with_capacity(64 * 1024),
            taken: 0,
        }
    }

    /// The next request; none when the other side has closed the connection.
    pub(crate) async fn read(&mut self) -> anyhow::Result<Option<Request<'_>>> {
        let (head, body) = loop {
            if let Some(lengths) = measure(&self.buffer)? {
                break lengths;
            }
            if !self.fill().await? {
                return Ok(None);
            }
        };
        self.buffer
            .reserve((head + body).saturating_sub(self.buffer.len()));
        while self.buffer.len() < head + body {
            if !self.fill().await? {
                bail!("the connection ended within a request");
            }
        }
        self.taken = head + body;
        let line = self.buffer[..head].split(|byte| *byte == b' ').nth(1);
        Ok(Some(Request {
            path: std::str::from_utf8(line.context("a request without a path")?)?,
            body: &self.buffer[head..head + body],
        }))
    }

    /// Forgets the request that was answered.
    pub(crate) fn done(&mut self) {
        self.buffer.drain(..self.taken);
        self.taken = 0;
    }

    async fn fill(&mut self) -> anyhow::Result<bool> {
        // A client that goes away with its process resets the connection.
        Ok(self.stream.read_buf(&mut self.buffer).await.unwrap_or(0) > 0)
    }
}

/// The lengths of head and body; none while the head is not whole.
fn measure(buffer: &[u8]) -> anyhow::Result<Option<(usize, usize)>> {
    let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut request = httparse::Request::new(&mut headers);
    let httparse::Status::Complete(head) = request.parse(buffer)? else {
        return Ok(None);
    };
    let header = |name: &str| {
        let found = request
            .headers
            .iter()
            .find(|header| header.name.eq_ignore_ascii_case(name));
        found.map(|header| header.value)
    };
    if header("transfer-encoding").is_some() {
        bail!("a body in chunks: send `content-length`");
    }
    let body = match header("content-length") {
        None => 0,
        Some(value) => std::str::from_utf8(value)?.trim().parse()?,
    };
    Ok(Some((head, body)))
}
