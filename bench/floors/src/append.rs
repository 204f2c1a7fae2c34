//! hyper, and a body that is only ever appended to: the physical limit.

use anyhow::Context as _;
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http1::{self, SendRequest};
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, HOST};
use hyper_util::rt::TokioIo;
use measure::{Contender, INSTRUCTIONS, Lookup};
use serde_json::json;
use tokio::net::TcpStream;

use crate::raw::tools;
use crate::reply::{Message, Reply};

pub(crate) struct Append {
    host: String,
    path: String,
    /// The body up to the question.
    opening: String,
    lookup: Lookup,
    connection: Option<SendRequest<Full<Bytes>>>,
}

impl Append {
    pub(crate) fn new(base_url: &str, lookup: Lookup) -> anyhow::Result<Self> {
        let rest = base_url.strip_prefix("http://").context("an http:// URL")?;
        let (host, path) = rest.split_once('/').context("a URL with a path")?;
        let system = json!({"role": "system", "content": INSTRUCTIONS});
        Ok(Self {
            host: host.into(),
            path: format!("/{path}/chat/completions"),
            opening: format!(
                r#"{{"model":"bench","tools":{},"messages":[{system}"#,
                tools()
            ),
            lookup,
            connection: None,
        })
    }

    async fn ask(&mut self, body: &str) -> anyhow::Result<Message> {
        let connection = match &mut self.connection {
            Some(connection) => connection,
            none => none.insert(connect(&self.host).await?),
        };
        // The only copy of the transcript: hyper takes the body with it.
        let mut whole = Vec::with_capacity(body.len() + 2);
        whole.extend_from_slice(body.as_bytes());
        whole.extend_from_slice(b"]}");
        let request = hyper::Request::post(&self.path)
            .header(HOST, &self.host)
            .header(CONTENT_TYPE, "application/json")
            .header(AUTHORIZATION, "Bearer none")
            .body(Full::new(Bytes::from(whole)))?;
        connection.ready().await?;
        let response = connection.send_request(request).await?;
        anyhow::ensure!(response.status().is_success(), "{}", response.status());
        let reply = response.into_body().collect().await?.to_bytes();
        serde_json::from_slice::<Reply>(&reply)?.message()
    }
}

impl Clone for Append {
    /// Each worker has a connection of its own.
    fn clone(&self) -> Self {
        Self {
            host: self.host.clone(),
            path: self.path.clone(),
            opening: self.opening.clone(),
            lookup: self.lookup.clone(),
            connection: None,
        }
    }
}

async fn connect(host: &str) -> anyhow::Result<SendRequest<Full<Bytes>>> {
    let stream = TcpStream::connect(host).await?;
    stream.set_nodelay(true)?;
    let (sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection);
    Ok(sender)
}

fn push(body: &mut String, message: &Message) -> anyhow::Result<()> {
    body.push(',');
    body.push_str(&serde_json::to_string(message)?);
    Ok(())
}

impl Contender for Append {
    async fn run(&mut self, question: String) -> anyhow::Result<String> {
        let mut body = self.opening.clone();
        let user = Message {
            role: "user".into(),
            content: Some(question),
            tool_calls: Vec::new(),
            tool_call_id: None,
        };
        push(&mut body, &user)?;
        loop {
            let reply = self.ask(&body).await?;
            if reply.tool_calls.is_empty() {
                return Ok(reply.content.unwrap_or_default());
            }
            push(&mut body, &reply)?;
            for call in reply.tool_calls {
                let result = Message {
                    role: "tool".into(),
                    content: Some(self.lookup.find(&call.function.key()?)),
                    tool_calls: Vec::new(),
                    tool_call_id: Some(call.id),
                };
                push(&mut body, &result)?;
            }
        }
    }
}
