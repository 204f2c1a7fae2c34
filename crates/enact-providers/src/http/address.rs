//! The address of a server, with and without its secret parts.

use std::time::Duration;

use reqwest::Url;
use secrecy::{ExposeSecret as _, SecretString};

use enact_core::model::{ModelError, ModelErrorKind};

/// Shorter parts of a URL are not secrets.
const MIN_CREDENTIAL: usize = 4;

/// A valid base URL.
#[derive(Clone)]
pub struct Address {
    /// For display: no user, no password, no query.
    base_url: String,
    /// The full address. Secret, because the base URL may contain a password or a key.
    endpoint: SecretString,
    credentials: Vec<SecretString>,
    is_loopback: bool,
    is_tls: bool,
}

impl Address {
    /// The public address of a provider.
    pub(crate) fn public(host: &str, endpoint: &str) -> Self {
        let base_url = format!("https://{host}/v1");
        Self {
            endpoint: format!("{base_url}{endpoint}").into(),
            base_url,
            credentials: Vec::new(),
            is_loopback: false,
            is_tls: true,
        }
    }

    /// Parses a base URL; `endpoint` is the path after it.
    pub(crate) fn parse(text: &str, endpoint: &str) -> Result<Self, ModelError> {
        let text = text.trim();
        let mut url = Url::parse(text).map_err(|error| bad_address(text, &error.to_string()))?;
        let is_tls = match url.scheme() {
            "https" => true,
            "http" => false,
            _ => {
                return Err(bad_address(
                    text,
                    "it must begin with `http://` or `https://`",
                ));
            }
        };
        let Some(host) = url.host_str().map(str::to_owned) else {
            return Err(bad_address(text, "it names no host"));
        };
        let credentials = credentials(text).into_iter().map(SecretString::from);
        let credentials = credentials.collect();
        url.set_fragment(None);
        // People often paste the whole address instead of its base.
        let path = url.path().trim_end_matches('/');
        let path = path.strip_suffix(endpoint).unwrap_or(path).to_owned();
        url.set_path(&format!("{path}{endpoint}"));
        let address = SecretString::from(url.as_str());

        url.set_query(None);
        url.set_path(&path);
        // Neither can fail: the URL has a host.
        let _ = url.set_username("");
        let _ = url.set_password(None);
        Ok(Self {
            base_url: url.as_str().trim_end_matches('/').to_owned(),
            endpoint: address,
            credentials,
            is_loopback: is_loopback(&host),
            is_tls,
        })
    }

    pub(crate) fn base_url(&self) -> &str {
        &self.base_url
    }

    /// An HTTP client for this server.
    pub(crate) fn client(&self, connect: Duration) -> Result<reqwest::Client, ModelError> {
        let mut builder = reqwest::Client::builder()
            .user_agent(concat!("enact/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(connect)
            // Proxies hold back compressed events until a block is full. Another crate in the program may have
            // enabled compression.
            .no_gzip()
            // A redirect would send prompts to an address that was not configured.
            .redirect(reqwest::redirect::Policy::none());
        if self.is_loopback {
            builder = builder.no_proxy();
        }
        if !self.is_tls {
            // There is nothing to verify: avoids loading the system's certificates, which can fail.
            builder = builder.tls_certs_only([]);
        }
        builder
            .build()
            .map_err(|error| no_client().with_source(error.without_url()))
    }

    pub(super) fn endpoint(&self) -> Result<Url, ModelError> {
        let endpoint = self.endpoint.expose_secret();
        Url::parse(endpoint).map_err(|error| bad_address(&self.base_url, &error.to_string()))
    }

    /// What errors never contain; see [`credentials`].
    pub(crate) fn credentials(&self) -> impl Iterator<Item = &str> {
        self.credentials.iter().map(|text| text.expose_secret())
    }
}

/// The secret parts of a base URL: user, password, and the values of its query, encoded and decoded.
/// Parts with less than 4 characters are left out: they occur by chance.
///
/// The clients keep them out of their errors. Also use this to add
/// [`Secrets`](enact_core::model::Secrets) to runs.
///
/// ```
/// let parts = enact_providers::credentials("https://me:p%40ssword@host/v1?token=t0ken");
/// assert_eq!(parts, ["p%40ssword", "p@ssword", "t0ken"]);
/// ```
pub fn credentials(base_url: &str) -> Vec<String> {
    let Ok(url) = Url::parse(base_url.trim()) else {
        return Vec::new();
    };
    let user = [url.username(), url.password().unwrap_or_default()];
    let values = url.query().unwrap_or_default().split('&');
    let values = values.filter_map(|pair| pair.split_once('='));
    let written = user.into_iter().chain(values.map(|(_, value)| value));
    let decoded = written
        .clone()
        .map(decoded)
        .chain(url.query_pairs().map(|(_, value)| value.into_owned()));
    let mut parts: Vec<String> = Vec::new();
    for part in written.map(str::to_owned).chain(decoded) {
        if part.chars().count() >= MIN_CREDENTIAL && !parts.contains(&part) {
            parts.push(part);
        }
    }
    // The longest first, so that one inside another leaves no remainder.
    parts.sort_by_key(|part| std::cmp::Reverse(part.len()));
    parts
}

/// A percent-decoded part of a URL.
fn decoded(part: &str) -> String {
    let query = format!("x={}", part.replace('+', "%2B"));
    let Ok(mut url) = Url::parse("http://h") else {
        return String::new();
    };
    url.set_query(Some(&query));
    let found = url.query_pairs().next();
    found.map_or_else(String::new, |(_, value)| value.into_owned())
}

pub(crate) fn is_loopback(host: &str) -> bool {
    let literal = host.trim_start_matches('[').trim_end_matches(']');
    match literal.parse::<std::net::IpAddr>() {
        Ok(address) => address.is_loopback(),
        Err(_) => host == "localhost" || host.ends_with(".localhost"),
    }
}

pub(crate) fn no_client() -> ModelError {
    ModelError::new(
        ModelErrorKind::Connection,
        "could not set up the HTTP client: check the system's TLS certificates",
    )
}

pub(crate) fn bad_address(text: &str, why: &str) -> ModelError {
    // An unparsable URL can't be cleaned of a password either.
    let shown = match text.split_once('?') {
        _ if text.contains('@') => "…",
        Some((shown, _)) => shown,
        None => text,
    };
    ModelError::new(
        ModelErrorKind::InvalidRequest,
        format!("bad base URL `{shown}`: {why}; write it like `http://localhost:8080/v1`"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENDPOINT: &str = "/chat/completions";

    fn parsed(text: &str) -> (String, String) {
        let address = Address::parse(text, ENDPOINT).unwrap();
        let endpoint = address.endpoint().unwrap();
        (address.base_url().to_owned(), endpoint.as_str().to_owned())
    }

    #[test]
    fn the_endpoint_follows_the_base() {
        for text in [
            "http://h:1/v1",
            "http://h:1/v1/",
            "http://h:1/v1/chat/completions",
        ] {
            let (base, endpoint) = parsed(text);
            assert_eq!(base, "http://h:1/v1");
            assert_eq!(endpoint, "http://h:1/v1/chat/completions");
        }
        assert_eq!(parsed("http://h").1, "http://h/chat/completions");
    }

    #[test]
    fn secrets_are_sent_but_not_shown() {
        let (base, endpoint) = parsed("https://u:p4ss@h/v1?key=k");
        assert_eq!(base, "https://h/v1");
        assert_eq!(endpoint, "https://u:p4ss@h/v1/chat/completions?key=k");
    }

    #[test]
    fn a_bad_url_is_explained_without_its_password() {
        for text in ["", "localhost:8080/v1", "ftp://h/v1", "/v1", "http://"] {
            let error = Address::parse(text, ENDPOINT).err().unwrap();
            assert_eq!(error.kind(), ModelErrorKind::InvalidRequest, "{text}");
            assert!(
                error.to_string().contains("http://localhost:8080/v1"),
                "{error}"
            );
        }
        let error = Address::parse("ftp://u:p4ss@h", ENDPOINT).err().unwrap();
        assert!(!error.to_string().contains("p4ss"), "{error}");
    }

    #[test]
    fn loopback_hosts_are_known() {
        for host in [
            "localhost",
            "127.0.0.1",
            "127.1.2.3",
            "[::1]",
            "a.localhost",
        ] {
            assert!(
                Address::parse(&format!("http://{host}:1/v1"), ENDPOINT)
                    .unwrap()
                    .is_loopback
            );
        }
        for host in ["example.com", "10.0.0.1", "localhost.example.com"] {
            assert!(
                !Address::parse(&format!("http://{host}/v1"), ENDPOINT)
                    .unwrap()
                    .is_loopback
            );
        }
    }

    #[test]
    fn the_public_address_is_what_parsing_it_gives() {
        let (base, endpoint) = parsed("https://api.openai.com/v1");
        let address = Address::public("api.openai.com", ENDPOINT);
        assert_eq!(address.base_url(), base);
        assert_eq!(address.endpoint().unwrap().as_str(), endpoint);
    }
}
