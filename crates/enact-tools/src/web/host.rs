//! Allowed hosts.

use std::fmt;
use std::net::Ipv6Addr;
use std::str::FromStr;

/// A text that is not a host.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no host: write a name such as `docs.rs`, `*.docs.rs` for all below it, `*` for any, \
     with `:PORT` for another port than the usual ones"
)]
pub struct HostError(String);

/// A host, all subdomains of a name, or any host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct HostPattern {
    name: Name,
    /// The port; none for the usual ones.
    port: Option<u16>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Name {
    Any,
    Below(String),
    Just(String),
}

impl HostPattern {
    pub(super) fn allows(&self, host: &str, port: u16) -> bool {
        let is_port = match self.port {
            Some(allowed) => port == allowed,
            None => matches!(port, 80 | 443),
        };
        let host = host.to_ascii_lowercase();
        is_port
            && match &self.name {
                Name::Any => true,
                Name::Just(name) => host == *name,
                Name::Below(name) => {
                    let below = host.strip_suffix(&**name);
                    below.is_some_and(|below| below.len() > 1 && below.ends_with('.'))
                }
            }
    }
}

impl FromStr for HostPattern {
    type Err = HostError;

    fn from_str(text: &str) -> Result<Self, HostError> {
        let wrong = || HostError(text.to_owned());
        let whole = text.trim().to_ascii_lowercase();
        let bare = whole.trim_matches(['[', ']']);
        let (name, port) = match whole.rsplit_once(':') {
            // IPv6 addresses contain colons.
            _ if bare.parse::<Ipv6Addr>().is_ok() => (bare, None),
            Some((name, port)) => {
                let port = port.parse().map_err(|_| wrong())?;
                (name.trim_matches(['[', ']']), Some(port))
            }
            None => (whole.as_str(), None),
        };
        let is_name = |name: &str| {
            let is_address = name.parse::<Ipv6Addr>().is_ok();
            let is_fit = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
            is_address || (!name.is_empty() && name.chars().all(is_fit))
        };
        let name = match (name, name.strip_prefix("*.")) {
            ("*", _) => Name::Any,
            (_, Some(below)) if is_name(below) => Name::Below(below.to_owned()),
            (name, None) if is_name(name) => Name::Just(name.to_owned()),
            _ => return Err(wrong()),
        };
        Ok(Self { name, port })
    }
}

impl fmt::Display for HostPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Name::Any => f.write_str("*")?,
            Name::Below(name) => write!(f, "*.{name}")?,
            Name::Just(name) => f.write_str(name)?,
        }
        match self.port {
            Some(port) => write!(f, ":{port}"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_allowed_by_name_by_what_it_is_below_and_by_port() {
        for (pattern, host, port, is_allowed) in [
            ("docs.rs", "docs.rs", 443, true),
            ("Docs.rs", "DOCS.RS", 80, true),
            ("docs.rs", "docs.rs", 8080, false),
            ("docs.rs", "evil-docs.rs", 443, false),
            ("docs.rs", "docs.rs.evil.org", 443, false),
            ("docs.rs", "a.docs.rs", 443, false),
            ("*.docs.rs", "a.b.docs.rs", 443, true),
            ("*.docs.rs", "docs.rs", 443, false),
            ("*.docs.rs", "evildocs.rs", 443, false),
            ("*", "anything", 443, true),
            ("localhost:8080", "localhost", 8080, true),
            ("localhost:8080", "localhost", 80, false),
            ("[::1]:8080", "::1", 8080, true),
            ("::1", "::1", 80, true),
        ] {
            let known: HostPattern = pattern.parse().unwrap();
            assert_eq!(
                known.allows(host, port),
                is_allowed,
                "{pattern}, {host}:{port}"
            );
        }
        for wrong in [
            "",
            "https://docs.rs",
            "a b",
            "docs.rs:port",
            "*docs.rs",
            "a.*",
        ] {
            assert!(wrong.parse::<HostPattern>().is_err(), "{wrong}");
        }
    }
}
