//! Just enough HTTP/1.1 to read a request and to write a response byte by byte.

use std::io;

use serde_json::Value;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

const MAX_HEAD_BYTES: usize = 64 * 1024;
const MAX_BODY_BYTES: usize = 256 * 1024 * 1024;

/// A received request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Received {
    /// The method, such as `POST`.
    pub method: String,
    /// Path and query, such as `/v1/chat/completions`.
    pub path: String,
    /// Header names in lower case, with their values, in order.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Vec<u8>,
    /// The number of the connection, from 1.
    pub connection: usize,
}

impl Received {
    /// The first header with this name, ignoring case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }

    /// The body as text; invalid UTF-8 is replaced.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The body as JSON.
    ///
    /// # Panics
    /// If the body is not JSON.
    #[expect(clippy::panic, reason = "a test assertion")]
    pub fn json(&self) -> Value {
        match serde_json::from_slice(&self.body) {
            Ok(value) => value,
            Err(error) => panic!("the request's body is not JSON ({error}): {}", self.text()),
        }
    }

    /// Whether the request asks for server-sent events.
    pub(crate) fn wants_stream(&self) -> bool {
        serde_json::from_slice::<Value>(&self.body).is_ok_and(|body| body["stream"] == true)
    }
}

/// A client's connection, kept open for further requests.
#[derive(Debug)]
pub(crate) struct Connection {
    number: usize,
    socket: TcpStream,
    buffer: Vec<u8>,
}

impl Connection {
    pub(crate) fn new(number: usize, socket: TcpStream) -> Self {
        // Without this, small chunks of different writes arrive together.
        let _ = socket.set_nodelay(true);
        Self {
            number,
            socket,
            buffer: Vec::new(),
        }
    }

    /// The next request, or `None` if the client is done.
    pub(crate) async fn read_request(&mut self) -> io::Result<Option<Received>> {
        let head_length = loop {
            if let Some(at) = find(&self.buffer, b"\r\n\r\n") {
                break at;
            }
            if self.buffer.len() > MAX_HEAD_BYTES {
                return Err(malformed("the request's head is too long"));
            }
            if self.socket.read_buf(&mut self.buffer).await? == 0 {
                return Ok(None);
            }
        };
        let head = String::from_utf8_lossy(&self.buffer[..head_length]).into_owned();
        self.buffer.drain(..head_length + 4);

        let mut lines = head.split("\r\n");
        let mut words = lines.next().unwrap_or_default().split(' ');
        let (Some(method), Some(path)) = (words.next(), words.next()) else {
            return Err(malformed("the request line is not `METHOD PATH VERSION`"));
        };
        let mut received = Received {
            method: method.to_owned(),
            path: path.to_owned(),
            headers: lines
                .filter_map(|line| line.split_once(':'))
                .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
                .collect(),
            body: Vec::new(),
            connection: self.number,
        };
        received.body = self.read_body(&received).await?;
        Ok(Some(received))
    }

    async fn read_body(&mut self, received: &Received) -> io::Result<Vec<u8>> {
        if received.header("transfer-encoding").is_some() {
            return Err(malformed("send the body with a content-length"));
        }
        let length: usize = match received.header("content-length") {
            Some(text) => text
                .parse()
                .map_err(|_| malformed("content-length is not a number"))?,
            None => 0,
        };
        if length > MAX_BODY_BYTES {
            return Err(malformed("the request's body is too long"));
        }
        let expects_permission = received
            .header("expect")
            .is_some_and(|value| value.eq_ignore_ascii_case("100-continue"));
        if expects_permission {
            self.write(b"HTTP/1.1 100 Continue\r\n\r\n").await?;
        }
        while self.buffer.len() < length {
            if self.socket.read_buf(&mut self.buffer).await? == 0 {
                return Err(malformed("the request's body ended early"));
            }
        }
        let rest = self.buffer.split_off(length);
        Ok(std::mem::replace(&mut self.buffer, rest))
    }

    /// Writes these bytes immediately.
    pub(crate) async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.socket.write_all(bytes).await?;
        self.socket.flush().await
    }

    /// Writes one chunk of a chunked body.
    pub(crate) async fn write_chunk(&mut self, bytes: &[u8]) -> io::Result<()> {
        // An empty chunk would end the body.
        if bytes.is_empty() {
            return Ok(());
        }
        let mut framed = format!("{:x}\r\n", bytes.len()).into_bytes();
        framed.extend_from_slice(bytes);
        framed.extend_from_slice(b"\r\n");
        self.write(&framed).await
    }

    /// Returns once the client has disconnected.
    pub(crate) async fn wait_for_hangup(&mut self) {
        let mut ignored = [0; 1024];
        while matches!(self.socket.read(&mut ignored).await, Ok(count) if count > 0) {}
    }
}

/// The head of a response.
pub(crate) fn head(status: u16, headers: &[(String, String)]) -> Vec<u8> {
    let mut head = format!("HTTP/1.1 {status} {}\r\n", reason(status));
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str("\r\n");
    head.into_bytes()
}

fn reason(status: u16) -> &'static str {
    match status {
        200..=299 => "OK",
        300..=399 => "Elsewhere",
        400..=499 => "Refused",
        _ => "Failed",
    }
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack
        .windows(needle.len())
        .position(|window| window == needle)
}

fn malformed(message: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, message)
}
