//! Pages of allowed hosts.
//!
//! Names are resolved here, every address is checked, and the connection uses exactly that address, so that
//! changing the name's address afterwards has no effect. Every redirect is checked like the first
//! address.

mod address;
mod host;
mod html;
mod page;

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use reqwest::Url;
use reqwest::header::LOCATION;
use reqwest::redirect::Policy;
use schemars::JsonSchema;
use serde::Deserialize;

pub use self::host::HostError;
use self::host::HostPattern;
use self::page::Page;
use enact_core::model::Secrets;
use enact_core::tool::{FnTool, ToolError};

const TIMEOUT: Duration = Duration::from_secs(20);
const MAX_BYTES: usize = 500_000;
const MAX_REDIRECTS: usize = 5;

/// The hosts that an agent can read.
///
/// ```
/// # use enact::tool::builtin::{HostError, Web};
/// let web = Web::new().allow_host("docs.rs")?.allow_host("*.wikipedia.org")?;
/// let tools = enact::Tools::new().with(web.http_get());
/// # Ok::<(), HostError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Web {
    hosts: Vec<HostPattern>,
    allows_private: bool,
    timeout: Duration,
    max_bytes: usize,
}

impl Default for Web {
    fn default() -> Self {
        Self {
            hosts: Vec::new(),
            allows_private: false,
            timeout: TIMEOUT,
            max_bytes: MAX_BYTES,
        }
    }
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Args {
    /// The address, such as `https://example.org/page`.
    url: String,
}

impl Web {
    /// Allows no host.
    pub fn new() -> Self {
        Self::default()
    }

    /// Allows a host: a name, `*.name` for all subdomains, `*` for any host. This applies to the usual ports;
    /// add another port to the name, as in `localhost:8080`.
    ///
    /// # Errors
    /// If it is not a host.
    pub fn allow_host(mut self, host: &str) -> Result<Self, HostError> {
        self.hosts.push(host.parse()?);
        Ok(self)
    }

    /// Allows private addresses: those of this machine, of its network, and of cloud services there. The
    /// hosts still have to be allowed.
    #[must_use]
    pub fn allow_private(self) -> Self {
        Self {
            allows_private: true,
            ..self
        }
    }

    /// Sets the time limit, including redirects. Default: 20 seconds.
    #[must_use]
    pub fn with_timeout(self, timeout: Duration) -> Self {
        Self { timeout, ..self }
    }

    /// Sets the maximum size of a page in bytes. Default: 500,000.
    #[must_use]
    pub fn with_max_bytes(self, max_bytes: usize) -> Self {
        Self { max_bytes, ..self }
    }

    /// The tool `http_get`: reads a page as text.
    pub fn http_get(&self) -> FnTool {
        let web = Arc::new(self.clone());
        FnTool::new(
            "http_get",
            "Reads a page of the web: text and JSON as they are, HTML as its text.",
            move |args: Args, context| {
                let web = Arc::clone(&web);
                async move { web.get(&args.url, context.secrets()).await }
            },
        )
        .built_in()
        .read_only()
        .volatile()
        .timeout(self.timeout)
    }

    async fn get(&self, address: &str, secrets: &Secrets) -> Result<Page, ToolError> {
        let mut url = Url::parse(address.trim())
            .map_err(|error| ToolError::new(format!("this is no address: {error}")))?;
        for _ in 0..=MAX_REDIRECTS {
            let response = self.ask(&url).await?;
            let next = response.headers().get(LOCATION);
            if !response.status().is_redirection() || next.is_none() {
                return page::read(url.as_str(), response, self.max_bytes, secrets).await;
            }
            let next = next.and_then(|next| next.to_str().ok());
            url = next.and_then(|next| url.join(next).ok()).ok_or_else(|| {
                ToolError::new("the page is moved to something that is no address")
            })?;
        }
        let problem = format!("the page is moved more than {MAX_REDIRECTS} times: given up");
        Err(ToolError::new(problem))
    }

    /// Requests an address, after all checks.
    async fn ask(&self, url: &Url) -> Result<reqwest::Response, ToolError> {
        let (host, port) = self.allowed(url)?;
        // The name as the client spells it, so that it is not resolved again.
        let spelled = url.host_str().unwrap_or(&host);
        let addresses = look_up(&host, port).await?;
        if !self.allows_private
            && let Some(private) = addresses.iter().find(|one| !address::is_public(one.ip()))
        {
            // A host with any private address is rejected.
            let problem = format!(
                "`{host}` is at the private address {}: refused",
                private.ip()
            );
            return Err(ToolError::new(problem));
        }
        let client = reqwest::Client::builder()
            .redirect(Policy::none())
            // A proxy would resolve the name again.
            .no_proxy()
            .resolve_to_addrs(spelled, &addresses)
            .timeout(self.timeout)
            .user_agent(concat!("enact/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(failed)?;
        client.get(url.clone()).send().await.map_err(failed)
    }

    /// Host and port of an allowed address.
    fn allowed(&self, url: &Url) -> Result<(String, u16), ToolError> {
        if !matches!(url.scheme(), "http" | "https") {
            let problem = format!("only http and https can be read, not `{}`", url.scheme());
            return Err(ToolError::new(problem));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(ToolError::new(
                "an address with a name or a password is refused",
            ));
        }
        let (Some(host), Some(port)) = (url.host_str(), url.port_or_known_default()) else {
            return Err(ToolError::new("the address names no host"));
        };
        let host = host
            .trim_matches(['[', ']'])
            .trim_end_matches('.')
            .to_owned();
        if self.hosts.iter().any(|pattern| pattern.allows(&host, port)) {
            return Ok((host, port));
        }
        let known: Vec<String> = self.hosts.iter().map(ToString::to_string).collect();
        let known = match known.is_empty() {
            true => "none is".to_owned(),
            false => format!("there are {}", known.join(", ")),
        };
        let problem = format!("the host `{host}` with port {port} is not allowed: {known}");
        Err(ToolError::new(problem))
    }
}

async fn look_up(host: &str, port: u16) -> Result<Vec<SocketAddr>, ToolError> {
    if let Ok(address) = host.parse::<IpAddr>() {
        return Ok(vec![SocketAddr::new(address, port)]);
    }
    let found = tokio::net::lookup_host((host, port)).await;
    let found: Vec<SocketAddr> = found.map(Iterator::collect).unwrap_or_default();
    if found.is_empty() {
        return Err(ToolError::new(format!("there is no host `{host}`")));
    }
    Ok(found)
}

/// The network error, without the address: it may be long, and the model knows it.
fn failed(error: reqwest::Error) -> ToolError {
    let what = if error.is_timeout() {
        "it took too long"
    } else if error.is_connect() {
        "no connection"
    } else {
        "the exchange failed"
    };
    ToolError::new(format!("the page cannot be read: {what}"))
}
