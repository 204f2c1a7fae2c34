//! The identity of a server, to which approvals and rules are bound.

use reqwest::Url;
use sha2::{Digest as _, Sha256};

use crate::Mcp;
use crate::plan::Way;

/// The name of a server with a short digest of how it is reached, such as `mcp:git:5f3a9c01`: a different
/// program with the same name is a different source. The digest excludes headers, variables, the secret
/// parts of addresses, and values that a configuration file takes from
/// variables.
pub(crate) fn source(name: &str, plan: &Mcp) -> String {
    let reached = match (&plan.written, &plan.way) {
        (Some(written), _) => written.clone(),
        (None, Way::Stdio(program)) => words(&program.command, &program.args),
        (None, Way::Http { url, .. }) => address(url),
    };
    let digest = Sha256::digest(reached.as_bytes());
    let short: String = digest
        .iter()
        .take(4)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    format!("mcp:{name}:{short}")
}

/// A command with its arguments, unambiguously.
pub(crate) fn words(command: &str, args: &[String]) -> String {
    let words = std::iter::once(command).chain(args.iter().map(String::as_str));
    let words: Vec<String> = words.map(|word| format!("{word:?}")).collect();
    words.join(" ")
}

/// An address without user, password, query and fragment.
pub(crate) fn address(url: &str) -> String {
    let Ok(mut parsed) = Url::parse(url) else {
        // Not filled in yet, or not an address.
        return url.split(['?', '#']).next().unwrap_or_default().to_owned();
    };
    parsed.set_query(None);
    parsed.set_fragment(None);
    // Fails for addresses that can't have them.
    let _ = parsed.set_username("");
    let _ = parsed.set_password(None);
    parsed.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Environment, config};

    #[test]
    fn the_source_is_the_server_and_not_its_secrets() {
        let of = |plan: &Mcp| source("s", plan);
        let one = Mcp::stdio("npx", ["-y", "server-a"]);
        assert!(of(&one).starts_with("mcp:s:"), "{}", of(&one));
        assert_eq!(of(&one), of(&one.clone().variable("KEY", "k").folder("/x")));
        assert_ne!(of(&one), of(&Mcp::stdio("npx", ["-y", "server-b"])));
        assert_ne!(of(&one), of(&Mcp::stdio("npx", ["-y server-a"])));
        assert_ne!(of(&one), source("t", &one));

        let far = Mcp::http("https://a.example/mcp");
        let keyed = Mcp::http("https://me:word@a.example/mcp?key=k#f").header("X-Key", "k");
        assert_eq!(of(&far), of(&keyed));
        assert_ne!(of(&far), of(&Mcp::http("https://b.example/mcp")));
    }

    #[test]
    fn a_value_from_a_variable_is_no_part_of_it() {
        let read = |text: &str| {
            let servers = config::read(text, &Environment::new()).unwrap();
            source("s", &servers[0])
        };
        let filled = read(r#"{"mcpServers": {"s": {"command": "x", "args": ["${PATH}"]}}}"#);
        let written = Mcp::stdio("x", ["${PATH}"]);
        assert_eq!(filled, source("s", &written));
        let plain = read(r#"{"mcpServers": {"s": {"command": "x", "args": ["a"]}}}"#);
        assert_eq!(plain, source("s", &Mcp::stdio("x", ["a"])));
        let far = read(r#"{"mcpServers": {"s": {"url": "https://a.example/mcp?key=${PATH}"}}}"#);
        assert_eq!(far, source("s", &Mcp::http("https://a.example/mcp")));
    }
}
