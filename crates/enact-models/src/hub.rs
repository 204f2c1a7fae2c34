//! The hub: lists the files of a repository, and downloads them.

use std::fmt;
use std::time::Duration;

use reqwest::header::RANGE;
use reqwest::{Client, Response, StatusCode, Url};
use secrecy::{ExposeSecret as _, SecretString};
use serde::Deserialize;

use crate::checksum::Checksum;
use crate::error::{ShelfError, ShelfErrorKind};

/// The default address of the hub, which `HF_ENDPOINT` overrides.
const PUBLIC: &str = "https://huggingface.co";
const ADDRESS_VARIABLE: &str = "HF_ENDPOINT";
const TOKEN_VARIABLE: &str = "HF_TOKEN";
const REVISION: &str = "main";
const CONNECT_TIMEOUT: Duration = Duration::from_secs(30);
/// The time limit without any data.
const IDLE_TIMEOUT: Duration = Duration::from_secs(60);

/// A hub with model repositories: Hugging Face's, or a compatible one.
///
/// It provides the list of a repository's files (`/api/models/OWNER/REPO/tree/main`), with the size and
/// the SHA-256 of large ones, and their bytes (`/OWNER/REPO/resolve/main/FILE`).
#[derive(Clone)]
pub struct Hub {
    client: Client,
    base: Url,
    token: Option<SecretString>,
}

/// A file of a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Listed {
    pub(crate) path: String,
    pub(crate) bytes: u64,
    pub(crate) sha256: Option<Checksum>,
}

/// An entry in the hub's list.
#[derive(Debug, Deserialize)]
struct Entry {
    #[serde(rename = "type")]
    kind: String,
    path: String,
    #[serde(default)]
    size: u64,
    lfs: Option<Large>,
}

#[derive(Debug, Deserialize)]
struct Large {
    oid: String,
    size: u64,
}

impl Hub {
    /// The public hub, or the one in `HF_ENDPOINT`; with the token in `HF_TOKEN`, if it is
    /// set.
    ///
    /// # Errors
    /// If the address is invalid.
    pub fn open() -> Result<Self, ShelfError> {
        let given = |name| {
            let value = std::env::var(name).ok()?.trim().to_owned();
            (!value.is_empty()).then_some(value)
        };
        let address = given(ADDRESS_VARIABLE);
        let hub = Self::at(address.as_deref().unwrap_or(PUBLIC))?;
        Ok(Self {
            token: given(TOKEN_VARIABLE).map(SecretString::from),
            ..hub
        })
    }

    /// The hub at this address.
    ///
    /// # Errors
    /// If the address is invalid.
    pub fn at(address: &str) -> Result<Self, ShelfError> {
        let wrong = || {
            let message = format!("`{address}` is no address of a hub: check {ADDRESS_VARIABLE}");
            ShelfError::new(ShelfErrorKind::Hub, message)
        };
        let base: Url = address.parse().map_err(|_| wrong())?;
        if base.cannot_be_a_base() {
            return Err(wrong());
        }
        let client = Client::builder()
            .connect_timeout(CONNECT_TIMEOUT)
            .read_timeout(IDLE_TIMEOUT)
            .user_agent(concat!("enact/", env!("CARGO_PKG_VERSION")))
            .build();
        let client = client.map_err(|error| {
            ShelfError::new(ShelfErrorKind::Connection, "no HTTPS client can be made")
                .with_source(error)
        })?;
        Ok(Self {
            client,
            base,
            token: None,
        })
    }

    /// Lists the files of a repository.
    pub(crate) async fn files(&self, repository: &str) -> Result<Vec<Listed>, ShelfError> {
        let mut url = self.url(&format!("api/models/{repository}/tree/{REVISION}"))?;
        url.set_query(Some("recursive=true"));
        let response = self.get(url, 0).await?;
        let response = self.succeeded(response, repository)?;
        let broken = |error: reqwest::Error| {
            let message = format!("the hub does not tell the files of `{repository}`: try again");
            ShelfError::new(ShelfErrorKind::Hub, message).with_source(error.without_url())
        };
        let body = response.bytes().await.map_err(broken)?;
        let entries: Vec<Entry> = serde_json::from_slice(&body).map_err(|error| {
            let message = format!(
                "the hub's list of the files of `{repository}` cannot be read: check \
                 {ADDRESS_VARIABLE}"
            );
            ShelfError::new(ShelfErrorKind::Hub, message).with_source(error)
        })?;
        let files = entries.into_iter().filter(|entry| entry.kind == "file");
        files.map(listed).collect()
    }

    /// The bytes of a file, starting with this one.
    pub(crate) async fn bytes(
        &self,
        repository: &str,
        path: &str,
        from: u64,
    ) -> Result<Response, ShelfError> {
        let url = self.url(&format!("{repository}/resolve/{REVISION}/{path}"))?;
        let response = self.get(url, from).await?;
        self.succeeded(response, &format!("{repository}/{path}"))
    }

    fn url(&self, path: &str) -> Result<Url, ShelfError> {
        let mut url = self.base.clone();
        let parts = path.split('/').filter(|part| !part.is_empty());
        match url.path_segments_mut() {
            Ok(mut segments) => {
                segments.pop_if_empty().extend(parts);
            }
            Err(()) => {
                let message = format!("the hub has no address: check {ADDRESS_VARIABLE}");
                return Err(ShelfError::new(ShelfErrorKind::Hub, message));
            }
        }
        Ok(url)
    }

    async fn get(&self, url: Url, from: u64) -> Result<Response, ShelfError> {
        let mut request = self.client.get(url);
        if let Some(token) = &self.token {
            request = request.bearer_auth(token.expose_secret());
        }
        if from > 0 {
            request = request.header(RANGE, format!("bytes={from}-"));
        }
        request.send().await.map_err(|error| self.lost(error))
    }

    /// The connection failed or broke.
    pub(crate) fn lost(&self, error: reqwest::Error) -> ShelfError {
        let host = self.base.host_str().unwrap_or_default();
        let what = if error.is_connect() {
            format!(
                "the hub at `{host}` cannot be reached: check the network, or {ADDRESS_VARIABLE}"
            )
        } else {
            format!("the hub at `{host}` broke off: pull again to go on")
        };
        ShelfError::new(ShelfErrorKind::Connection, what).with_source(error.without_url())
    }

    fn succeeded(&self, response: Response, what: &str) -> Result<Response, ShelfError> {
        let status = response.status();
        if status.is_success() {
            return Ok(response);
        }
        let (kind, message) = match status {
            StatusCode::NOT_FOUND => (
                ShelfErrorKind::NotFound,
                format!("the hub has no `{what}`: check the name"),
            ),
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => (
                ShelfErrorKind::Hub,
                format!(
                    "the hub does not give `{what}` to everybody: check the name, accept the \
                     terms on its page, and put a token into {TOKEN_VARIABLE}"
                ),
            ),
            _ => (
                ShelfErrorKind::Hub,
                format!(
                    "the hub does not give `{what}` (status {}): try again",
                    status.as_u16()
                ),
            ),
        };
        Err(ShelfError::new(kind, message))
    }
}

impl fmt::Debug for Hub {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hub")
            .field("base", &self.base.as_str())
            .finish_non_exhaustive()
    }
}

fn listed(entry: Entry) -> Result<Listed, ShelfError> {
    let sha256 = match &entry.lfs {
        Some(large) => Some(large.oid.parse()?),
        None => None,
    };
    Ok(Listed {
        path: entry.path,
        bytes: entry.lfs.map_or(entry.size, |large| large.size),
        sha256,
    })
}
