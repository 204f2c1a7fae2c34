//! Where the server is, with and without what must not be shown.

use reqwest::Url;
use secrecy::{ExposeSecret as _, SecretString};

use enact_core::model::{ModelError, ModelErrorKind};

/// A checked base URL.
#[derive(Clone)]
pub(crate) struct Address {
    /// For people: no user, no password, no query.
    base_url: String,
    /// What is asked. Secret, because the base URL may hold a password or a key.
    endpoint: SecretString,
    password: Option<SecretString>,
    pub(super) is_loopback: bool,
    pub(super) is_tls: bool,
}

impl Address {
    /// The public address of a provider.
    pub(crate) fn public(host: &str, endpoint: &str) -> Self {
        let base_url = format!("https://{host}/v1");
        Self {
            endpoint: format!("{base_url}{endpoint}").into(),
            base_url,
            password: None,
            is_loopback: false,
            is_tls: true,
        }
    }

    /// Reads a base URL; `endpoint` is the path behind it.
    pub(crate) fn parse(text: &str, endpoint: &str) -> Result<Self, ModelError> {
        let text = text.trim();
        let mut url = Url::parse(text).map_err(|error| bad(text, &error.to_string()))?;
        let is_tls = match url.scheme() {
            "https" => true,
            "http" => false,
            _ => return Err(bad(text, "it must begin with `http://` or `https://`")),
        };
        let Some(host) = url.host_str().map(str::to_owned) else {
            return Err(bad(text, "it names no host"));
        };
        let password = url.password().map(SecretString::from);
        url.set_fragment(None);
        // People paste the whole address as often as its base.
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
            password,
            is_loopback: is_loopback(&host),
            is_tls,
        })
    }

    pub(crate) fn base_url(&self) -> &str {
        &self.base_url
    }

    pub(super) fn endpoint(&self) -> Result<Url, ModelError> {
        let endpoint = self.endpoint.expose_secret();
        Url::parse(endpoint).map_err(|error| bad(&self.base_url, &error.to_string()))
    }

    pub(super) fn password(&self) -> Option<&str> {
        self.password.as_ref().map(|text| text.expose_secret())
    }
}

fn is_loopback(host: &str) -> bool {
    let literal = host.trim_start_matches('[').trim_end_matches(']');
    match literal.parse::<std::net::IpAddr>() {
        Ok(address) => address.is_loopback(),
        Err(_) => host == "localhost" || host.ends_with(".localhost"),
    }
}

fn bad(text: &str, why: &str) -> ModelError {
    // What cannot be parsed cannot be cleaned of a password either.
    let shown = if text.contains('@') { "…" } else { text };
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
