//! The identity of a server, to which approvals and rules are bound.

use std::path::{Path, PathBuf};

use reqwest::Url;
use sha2::{Digest as _, Sha256};

use crate::Mcp;
use crate::plan::Way;
use crate::process::Program;

/// The name of a server with a short digest of how it is reached, such as `mcp:git:5f3a9c01`: a
/// server of the same name that is another program is another source, and so is one of the same command
/// in another folder if it is a file of that folder. Headers, variables and the
/// secret parts of addresses are no part of it, and neither are values that a configuration file
/// takes from variables.
pub(crate) fn source(name: &str, plan: &Mcp) -> String {
    let mut reached = match (&plan.written, &plan.way) {
        (Some(written), _) => written.clone(),
        (None, Way::Stdio(program)) => words(&program.command, &program.args),
        (None, Way::Http { url, .. }) => address(url),
    };
    if let Way::Stdio(program) = &plan.way
        && let Some(folder) = folder_of(program)
    {
        reached.push_str(&format!(" in {}", folder.display()));
    }
    let digest = Sha256::digest(reached.as_bytes());
    let short: String = digest
        .iter()
        .take(4)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    format!("mcp:{name}:{short}")
}

/// The folder that a program starts in, where another folder would make it another program: the command
/// or an argument is a file in it.
fn folder_of(program: &Program) -> Option<PathBuf> {
    let folder = match &program.folder {
        Some(folder) => std::path::absolute(folder).ok()?,
        None => std::env::current_dir().ok()?,
    };
    let is_path = |word: &str| Path::new(word).components().count() > 1;
    let is_file = |word: &String| Path::new(word).is_relative() && folder.join(word).is_file();
    let is_here = Path::new(&program.command).is_relative() && is_path(&program.command);
    let counts = is_here || program.args.iter().any(is_file);
    counts.then_some(folder)
}

/// A command with its arguments, so that no two are written alike.
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
    fn truth_a_file_of_another_folder_is_another_source() {
        let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
        for folder in &folders {
            std::fs::write(folder.path().join("server.py"), "").unwrap();
        }
        let is_same = |plan: Mcp| {
            let [one, two] = folders.each_ref().map(|folder| {
                let plan = plan.clone().folder(folder.path());
                source("s", &plan)
            });
            one == two
        };
        assert!(!is_same(Mcp::stdio("./server", ["--stdio"])));
        assert!(!is_same(Mcp::stdio("bin/server", ["--stdio"])));
        assert!(!is_same(Mcp::stdio("python", ["server.py"])));
        assert!(is_same(Mcp::stdio("python", ["-m", "server"])));
        assert!(is_same(Mcp::stdio("npx", ["-y", "@scope/server"])));
        assert!(is_same(Mcp::stdio("/usr/bin/server", ["--stdio"])));
        let here = Mcp::stdio("./server", ["--stdio"]);
        let folder = std::env::current_dir().unwrap();
        assert_eq!(
            source("s", &here),
            source("s", &here.clone().folder(folder))
        );
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
