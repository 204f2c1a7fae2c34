//! What a person sets once: the configuration file, stored keys, and the agent file of a folder.

use std::path::Path;

use enact_test_server::{TestServer, Turn};
use serde_json::json;
use tempfile::TempDir;

use crate::command::{Enact, KEY, Said, asking, enact};

const TASK: [&str; 3] = ["run", "question -> answer", "question=Why?"];

fn done() -> Turn {
    Turn::call("submit", json!({"answer": "Because."}))
}

fn in_folder(command: Enact, folder: &Path) -> Said {
    let mut command = command.into_command();
    command
        .current_dir(folder)
        .stdin(std::process::Stdio::null());
    Said::of(&command.output().unwrap())
}

/// The command with this configuration.
fn with_config(folder: &TempDir, text: &str, args: &[&str]) -> Enact {
    let path = folder.path().join("config.toml");
    std::fs::write(&path, text).unwrap();
    enact(args.iter().copied()).env("ENACT_CONFIG", path.to_str().unwrap())
}

#[test]
fn a_configuration_says_what_nothing_else_does() {
    let folder = TempDir::new().unwrap();
    let server = TestServer::start_blocking([done(), done(), done(), done()]);
    let address = server.base_url();
    let text = format!(
        "model = \"configured\"\nbase_url = \"{address}\"\nadapter = \"native\"\nstore = \"runs.db\"\n\
         temperature = 0.25\n"
    );
    let said = with_config(&folder, &text, &TASK).said();
    assert_eq!(
        (said.code, said.stdout.as_str()),
        (0, "Because.\n"),
        "{said:?}"
    );
    // ENACT_STORE of the tests says `none`.
    assert!(!folder.path().join("runs.db").exists());
    let mut command = with_config(&folder, &text, &TASK).into_command();
    let said = Said::of(&command.env_remove("ENACT_STORE").output().unwrap());
    assert_eq!(said.code, 0, "{said:?}");
    assert!(folder.path().join("runs.db").exists());
    let sent = |index: usize| server.requests()[index].json();
    assert_eq!(sent(0)["model"], "configured");
    assert_eq!(sent(0)["temperature"], 0.25);
    // Variables, flags and agent files win.
    let said = with_config(&folder, &text, &TASK)
        .args(["--temperature=0.5"])
        .env("ENACT_MODEL", "named")
        .said();
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(sent(2)["model"], "named");
    assert_eq!(sent(2)["temperature"], 0.5);
    let file = folder.path().join("my.toml");
    std::fs::write(
        &file,
        "signature = \"question -> answer\"\nmodel = \"of-file\"\n",
    )
    .unwrap();
    let agent = format!("--agent={}", file.display());
    let said = with_config(&folder, &text, &["run", &agent, "question=?"]).said();
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(sent(3)["model"], "of-file");
    server.assert_complete();
}

#[test]
fn what_is_wrong_with_a_configuration_is_told_with_its_place() {
    let folder = TempDir::new().unwrap();
    for (text, told) in [
        ("model = 5\n", "config.toml:1:9: expected "),
        (
            "\nmodle = \"m\"\n",
            "config.toml:2:1: unknown key `modle`: did you mean `model`?",
        ),
        (
            "adapter = \"yaml\"\n",
            "config.toml:1:11: unknown value \"yaml\"",
        ),
        (
            "temperature = -1\nbase_url = \"x\"\n",
            "config.toml:2:12: give an address",
        ),
        ("model = \n", "config.toml:1:"),
    ] {
        let said = with_config(&folder, text, &TASK).said();
        assert_eq!(said.code, 2, "{said:?}");
        assert!(said.error_line().contains(told), "{told}: {said:?}");
    }
    let said = enact(TASK)
        .env("ENACT_CONFIG", "/nonexistent/config.toml")
        .said();
    assert_eq!(said.code, 2);
    assert!(said.error_line().contains("ENACT_CONFIG=none"), "{said:?}");
}

#[test]
fn the_agent_file_of_the_folder_is_found_by_itself() {
    let folder = TempDir::new().unwrap();
    let said = in_folder(enact(["run"]), folder.path());
    assert_eq!(said.code, 2);
    for words in ["question -> answer", "--agent FILE", "enact init"] {
        assert!(said.error_line().contains(words), "{said:?}");
    }
    let said = in_folder(enact(["check"]), folder.path());
    assert_eq!(said.code, 2);
    assert!(said.stderr.contains("agent.toml"), "{said:?}");

    assert_eq!(in_folder(enact(["init"]), folder.path()).code, 0);
    let text = std::fs::read_to_string(folder.path().join("agent.toml")).unwrap();
    let schema = text
        .lines()
        .next()
        .unwrap()
        .strip_prefix("#:schema ")
        .unwrap();
    let schema = std::fs::read_to_string(folder.path().join(schema)).unwrap();
    assert_eq!(schema, enact(["check", "--schema"]).said().stdout);
    let said = in_folder(enact(["check"]), folder.path());
    assert_eq!((said.code, said.stdout.as_str()), (0, "agent.toml: ok\n"));

    let server = TestServer::start_blocking([done(), done()]);
    let said = in_folder(asking(&server, ["run", "question=Why?"]), folder.path());
    assert_eq!(
        (said.code, said.stdout.as_str()),
        (0, "Because.\n"),
        "{said:?}"
    );
    assert!(said.stderr.starts_with("agent: ./agent.toml\n"), "{said:?}");
    assert!(server.requests()[0].text().contains("calculator"));
    // A signature wins.
    let said = in_folder(asking(&server, TASK), folder.path());
    assert_eq!(said.code, 0, "{said:?}");
    assert!(!said.stderr.contains("agent.toml"), "{said:?}");
    assert!(!server.requests()[1].text().contains("calculator"));
    let said = in_folder(enact(["tools"]), folder.path());
    assert!(said.stdout.contains("calculator") && !said.stdout.contains("read_file"));
    assert_eq!(said.stderr, "agent: ./agent.toml\n");
    server.assert_complete();
}

#[test]
fn a_server_of_an_agent_finds_the_file_of_the_folder() {
    let folder = TempDir::new().unwrap();
    let text = "signature = \"place -> weather\"\nmodel = \"m\"\n";
    std::fs::write(folder.path().join("agent.toml"), text).unwrap();
    let server = TestServer::start_blocking([]);
    let said = in_folder(asking(&server, ["mcp"]), folder.path());
    assert!(said.stderr.contains("agent: ./agent.toml"), "{said:?}");
    assert!(!said.stderr.contains("the signature"), "{said:?}");
    let said = in_folder(asking(&server, ["mcp"]), &std::env::temp_dir());
    assert_eq!(said.code, 2, "{said:?}");
    assert!(said.error_line().contains("enact init"), "{said:?}");
}

#[test]
fn truth_a_stored_key_is_for_its_owner_and_is_shown_nowhere() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("deep/keys.json");
    let place = file.to_str().unwrap();
    let keys = |args: &[&str]| enact(args.iter().copied()).env("ENACT_KEYS", place);
    let said = keys(&["keys", "list"]).said();
    assert_eq!((said.code, said.stdout.as_str()), (0, ""));
    let said = keys(&["keys", "set", "anthropic"])
        .stdin(format!("{KEY}\n"))
        .said();
    assert_eq!((said.code, said.stdout.as_str()), (0, ""), "{said:?}");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = std::fs::metadata(&file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    assert_eq!(
        keys(&["keys", "list"]).said().stdout,
        "anthropic    stored\n"
    );

    // It is asked with, where its provider is.
    let server = TestServer::start_blocking([Turn::status(401).body(format!("no {KEY}"))]);
    let args = TASK.into_iter().chain(["--model=claude-test"]);
    let said = enact(args)
        .env("ENACT_KEYS", place)
        .env("ANTHROPIC_BASE_URL", server.base_url())
        .said();
    assert_eq!(said.code, 1, "{said:?}");
    assert_eq!(server.requests()[0].header("x-api-key"), Some(KEY));
    // And a variable wins.
    let server = TestServer::start_blocking([Turn::status(401).body("{}")]);
    let args = TASK.into_iter().chain(["--model=claude-test"]);
    let other = "sk-other-0123456789abcdef";
    enact(args)
        .env("ENACT_KEYS", place)
        .env("ANTHROPIC_API_KEY", other)
        .env("ANTHROPIC_BASE_URL", server.base_url())
        .said();
    assert_eq!(server.requests()[0].header("x-api-key"), Some(other));
    // OpenAI's goes to nobody else.
    assert_eq!(keys(&["keys", "set", "openai"]).stdin(KEY).said().code, 0);
    let server = TestServer::start_blocking([done()]);
    let said = enact(
        TASK.into_iter()
            .chain(["--model=openai::m", "--base-url"])
            .chain([server.base_url()]),
    )
    .env("ENACT_KEYS", place)
    .said();
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(server.requests()[0].header("authorization"), None);

    assert_eq!(keys(&["keys", "remove", "anthropic"]).said().code, 0);
    assert_eq!(
        keys(&["keys", "list"]).said().stdout,
        "openai       stored\n"
    );
    for (args, stdin, told) in [
        (
            &["keys", "remove", "anthropic"][..],
            "",
            "no key of `anthropic` is stored",
        ),
        (
            &["keys", "set", "antropic"],
            "k",
            "did you mean `anthropic`?",
        ),
        (&["keys", "set", "ollama"], "k", "needs no key"),
        (&["keys", "set", "groq"], " \n", "the key is empty"),
        (&["keys", "set", "groq"], "two words", "a key is one word"),
    ] {
        let said = keys(args).stdin(stdin).said();
        assert_eq!(said.code, 2, "{said:?}");
        assert!(said.error_line().contains(told), "{said:?}");
    }
    std::fs::write(&file, format!("{{\"openai\": {KEY}}}")).unwrap();
    let said = keys(&["keys", "list"]).said();
    assert_eq!(said.code, 2);
    assert!(said.error_line().contains("line 1, column "), "{said:?}");
}

#[test]
fn short_names_of_models_are_understood() {
    let server = TestServer::start_blocking([done(), done(), done()]);
    for name in ["openai/gpt-test", "openai:gpt-test", "gpt-test"] {
        // Where OpenAI is asked is said by its variable: there, a short name stays what it is.
        let args = TASK.into_iter().chain(["--model", name]);
        let said = enact(args)
            .env("OPENAI_BASE_URL", server.base_url())
            .env("OPENAI_API_KEY", KEY)
            .said();
        assert_eq!(said.code, 0, "{said:?}");
    }
    let asked: Vec<_> = server
        .requests()
        .iter()
        .map(|sent| sent.json()["model"].clone())
        .collect();
    assert_eq!(asked, ["openai/gpt-test", "openai:gpt-test", "gpt-test"]);
    for (name, variable) in [
        ("claude-sonnet-4-5", "ANTHROPIC_API_KEY"),
        ("o3", "OPENAI_API_KEY"),
        ("gemini-2.5-flash", "GEMINI_API_KEY"),
        ("groq/m", "GROQ_API_KEY"),
    ] {
        let said = enact(TASK.into_iter().chain(["--model", name])).said();
        assert_eq!(said.code, 2, "{said:?}");
        assert!(said.error_line().contains(variable), "{said:?}");
        assert!(said.error_line().contains("enact keys set"), "{said:?}");
    }
    let said = enact(TASK.into_iter().chain(["--model=antropic::m"])).said();
    let line = said.error_line();
    assert!(
        line.contains("did you mean `anthropic`?") && line.contains("enact models"),
        "{line}"
    );
}

#[test]
fn completions_and_manual_pages_are_generated() {
    for (shell, words) in [
        ("bash", "complete -F"),
        ("zsh", "#compdef enact"),
        ("fish", "complete -c enact"),
    ] {
        let said = enact(["completions", shell]).said();
        assert_eq!(said.code, 0);
        assert!(
            said.stdout.contains(words) && said.stdout.contains("stall-threshold"),
            "{shell}"
        );
    }
    let page = enact(["man"]).said().stdout;
    assert!(
        page.contains(".TH enact 1") && page.contains("enact demo"),
        "{page}"
    );
    let folder = TempDir::new().unwrap();
    let pages = folder.path().join("man1");
    let said = enact(["man", "--dir", pages.to_str().unwrap()]).said();
    assert_eq!(said.code, 0, "{said:?}");
    let page = std::fs::read_to_string(pages.join("enact-run.1")).unwrap();
    assert!(page.contains("Exit codes"), "{page}");
}

#[test]
fn usage_and_help_do_not_depend_on_variables() {
    let said = enact(["show"])
        .env("ENACT_STORE", "/somewhere/runs.db")
        .said();
    assert_eq!(said.code, 2);
    assert!(!said.stderr.contains("--store"), "{said:?}");
    let help = enact(["run", "--help"]).said().stdout;
    let servers = help.split("MCP servers:").nth(1).unwrap();
    let servers = servers.split("\nInputs:").next().unwrap();
    for flag in ["--json", "--quiet", "--plain"] {
        assert!(
            !servers.contains(flag) && help.contains(flag),
            "{flag}: {help}"
        );
    }
}
