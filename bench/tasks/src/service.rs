//! One server between contenders and model: it passes requests on, counts what each run asked and
//! got, and runs the tools for contenders in other languages. So all are measured in one way.

use std::collections::HashMap;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::Context as _;
use axum::Router;
use axum::body::Bytes;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use enact::tool::ToolContext;
use enact::{Tools, Values};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::tools;

/// What a run asked of the model.
#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
pub(crate) struct Asked {
    pub(crate) model_calls: u64,
    pub(crate) prompt_tokens: u64,
    pub(crate) completion_tokens: u64,
    /// Replies without a count of tokens, or with an error.
    pub(crate) uncounted: u64,
}

#[derive(Debug, Default)]
struct Run {
    asked: Asked,
    /// Why the model's server did not serve the last request, for which no contender is to blame.
    unserved: Option<String>,
    tools: Option<Tools>,
}

/// Whether a server refuses everybody, or serves nobody just now.
fn is_unserved(status: StatusCode) -> bool {
    matches!(
        status,
        StatusCode::UNAUTHORIZED
            | StatusCode::FORBIDDEN
            | StatusCode::NOT_FOUND
            | StatusCode::TOO_MANY_REQUESTS
            | StatusCode::BAD_GATEWAY
            | StatusCode::SERVICE_UNAVAILABLE
            | StatusCode::GATEWAY_TIMEOUT
    )
}

/// The running server.
#[derive(Debug, Clone)]
pub(crate) struct Service {
    upstream: Arc<str>,
    client: reqwest::Client,
    runs: Arc<Mutex<HashMap<String, Run>>>,
    address: std::net::SocketAddr,
    /// Where what runs send and get is kept, if anywhere.
    transcripts: Option<Arc<std::path::Path>>,
}

impl Service {
    /// Starts it in front of a model's base URL.
    pub(crate) async fn start(
        upstream: &str,
        transcripts: Option<PathBuf>,
    ) -> anyhow::Result<Self> {
        if let Some(folder) = &transcripts {
            std::fs::create_dir_all(folder)?;
        }
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
        let service = Self {
            upstream: upstream.trim_end_matches('/').into(),
            // llama.cpp's server closes connections that are idle, and a request that meets that fails.
            client: reqwest::Client::builder()
                .no_proxy()
                .pool_max_idle_per_host(0)
                .build()?,
            runs: Arc::default(),
            address: listener.local_addr()?,
            transcripts: transcripts.map(Into::into),
        };
        let routes = Router::new()
            .route("/{run}/v1/chat/completions", post(pass_on))
            .route("/{run}/tools/{name}", post(call_tool))
            .with_state(service.clone());
        tokio::spawn(async move { axum::serve(listener, routes).await });
        Ok(service)
    }

    /// Where a run finds its model (with `/v1`) and its tools (with `/tools`).
    pub(crate) fn url(&self, run: &str) -> String {
        format!("http://{}/{run}", self.address)
    }

    /// What a run asked of the model.
    pub(crate) fn asked(&self, run: &str) -> Asked {
        self.runs()
            .get(run)
            .map(|run| run.asked)
            .unwrap_or_default()
    }

    /// Why the last request of a run was not served, if it was not.
    pub(crate) fn unserved(&self, run: &str) -> Option<String> {
        self.runs().get(run)?.unserved.clone()
    }

    fn runs(&self) -> MutexGuard<'_, HashMap<String, Run>> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn ask(&self, run: &str, headers: &HeaderMap, sent: Bytes) -> anyhow::Result<Response> {
        let url = format!("{}/chat/completions", self.upstream);
        let mut request = self.client.post(url).body(sent.clone());
        for name in [header::CONTENT_TYPE, header::AUTHORIZATION] {
            if let Some(value) = headers.get(&name) {
                request = request.header(name, value);
            }
        }
        let reply = request.send().await.context("the model's server")?;
        let status = reply.status();
        let kind = reply.headers().get(header::CONTENT_TYPE).cloned();
        let body = reply.bytes().await.context("the model's reply")?;
        self.keep(run, &[&sent, &body])?;
        let usage = usage(&body);
        let mut runs = self.runs();
        let run = runs.entry(run.to_owned()).or_default();
        run.unserved = is_unserved(status)
            .then(|| format!("status {status}: {}", String::from_utf8_lossy(&body)));
        let asked = &mut run.asked;
        asked.model_calls += 1;
        match usage {
            Some((prompt, completion)) => {
                asked.prompt_tokens += prompt;
                asked.completion_tokens += completion;
            }
            None => asked.uncounted += 1,
        }
        let mut response = (status, body).into_response();
        if let Some(kind) = kind {
            response.headers_mut().insert(header::CONTENT_TYPE, kind);
        }
        Ok(response)
    }

    fn keep(&self, run: &str, texts: &[&[u8]]) -> anyhow::Result<()> {
        let Some(folder) = &self.transcripts else {
            return Ok(());
        };
        let path = folder.join(format!("{run}.txt"));
        let mut file = OpenOptions::new().create(true).append(true).open(path)?;
        for text in texts {
            file.write_all(text)?;
            file.write_all(b"\n")?;
        }
        Ok(())
    }
}

/// The tokens of the prompt and of the reply, of one body or of the last event that has them.
fn usage(body: &[u8]) -> Option<(u64, u64)> {
    let text = std::str::from_utf8(body).ok()?;
    let read = |text: &str| {
        let value: Value = serde_json::from_str(text).ok()?;
        let usage = value.get("usage")?;
        let count = |name| usage.get(name)?.as_u64();
        Some((count("prompt_tokens")?, count("completion_tokens")?))
    };
    let events = text
        .lines()
        .rev()
        .filter_map(|line| line.strip_prefix("data:"));
    read(text).or_else(|| events.map(str::trim).find_map(read))
}

async fn pass_on(
    State(service): State<Service>,
    Path(run): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    match service.ask(&run, &headers, body).await {
        Ok(response) => response,
        Err(error) => {
            let why = format!("{error:#}");
            service.runs().entry(run).or_default().unserved = Some(why.clone());
            (StatusCode::BAD_GATEWAY, why).into_response()
        }
    }
}

async fn call_tool(
    State(service): State<Service>,
    Path((run, name)): Path<(String, String)>,
    axum::Json(args): axum::Json<Values>,
) -> Response {
    let tool = {
        let mut runs = service.runs();
        let tools = runs
            .entry(run)
            .or_default()
            .tools
            .get_or_insert_with(tools::tools);
        tools.get(&name).cloned()
    };
    let Some(tool) = tool else {
        return (StatusCode::NOT_FOUND, format!("there is no tool `{name}`")).into_response();
    };
    let answer = match tool.call(args, ToolContext::detached("call")).await {
        Ok(output) => json!({"result": output.value}),
        Err(error) => json!({"error": error.to_string()}),
    };
    axum::Json(answer).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn unserved_by(upstream: &str) -> Option<String> {
        let service = Service::start(upstream, None).await.unwrap();
        let url = format!("{}/v1/chat/completions", service.url("run"));
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        client.post(url).body("{}").send().await.unwrap();
        service.unserved("run")
    }

    /// The base URL of a server that answers every request with this status.
    async fn server(status: StatusCode) -> String {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let routes = Router::new().fallback(move || async move { (status, "told") });
        tokio::spawn(async move { axum::serve(listener, routes).await });
        format!("http://{address}/v1")
    }

    #[tokio::test]
    async fn a_server_that_serves_nobody_is_told_from_a_reply_that_a_contender_brought_about() {
        let gone = {
            let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
            format!("http://{}/v1", listener.local_addr().unwrap())
        };
        assert!(
            unserved_by(&gone)
                .await
                .unwrap()
                .contains("the model's server")
        );
        let loading = unserved_by(&server(StatusCode::SERVICE_UNAVAILABLE).await).await;
        assert!(loading.unwrap().contains("told"));
        for status in [
            StatusCode::OK,
            StatusCode::BAD_REQUEST,
            StatusCode::INTERNAL_SERVER_ERROR,
        ] {
            assert_eq!(unserved_by(&server(status).await).await, None, "{status}");
        }
    }
}
