//! Starts the command and collects what it says.

use std::io::Write as _;
use std::process::{Command, Stdio};

use enact_test_server::TestServer;
use serde_json::Value;

/// A key that must never be seen.
pub(crate) const KEY: &str = "sk-test-0123456789abcdef";

/// The command with a clean environment.
pub(crate) struct Enact {
    command: Command,
    stdin: Option<Vec<u8>>,
}

/// What a process said.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

pub(crate) fn enact<'a>(args: impl IntoIterator<Item = &'a str>) -> Enact {
    let mut command = Command::new(env!("CARGO_BIN_EXE_enact"));
    command.args(args);
    for name in [
        "OPENAI_API_KEY",
        "ANTHROPIC_API_KEY",
        "GEMINI_API_KEY",
        "GOOGLE_API_KEY",
        "MISTRAL_API_KEY",
        "GROQ_API_KEY",
        "DEEPSEEK_API_KEY",
        "XAI_API_KEY",
        "OPEN_ROUTER_API_KEY",
        "OPENROUTER_API_KEY",
        "OPENAI_BASE_URL",
        "ENACT_MODEL",
        "ENACT_LOG",
        "ENACT_SECRETS",
        "HF_ENDPOINT",
        "HF_TOKEN",
        "ENACT_LOCAL_CONTEXT",
        "ENACT_LOCAL_THREADS",
        "RUST_LOG",
        "OTEL_EXPORTER_OTLP_ENDPOINT",
        "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
        "OTEL_SERVICE_NAME",
        "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT",
        "NO_COLOR",
        "RUST_BACKTRACE",
    ] {
        command.env_remove(name);
    }
    // Nobody is at home at port 1, whatever else runs on this machine.
    command.env("OLLAMA_HOST", "127.0.0.1:1");
    command.env("LLAMACPP_BASE_URL", "http://127.0.0.1:1/v1");
    // Tests that keep runs say where.
    command.env("ENACT_STORE", "none");
    // The tests are one user on one machine.
    command.env(
        "ENACT_SEAL_KEY",
        concat!(env!("CARGO_TARGET_TMPDIR"), "/seal.key"),
    );
    command.env("ENACT_MODELS", "/nonexistent/models");
    command.env("ENACT_CONFIG", "none");
    command.env("ENACT_KEYS", "/nonexistent/keys.json");
    // Scripts begin with the first step. Tests of the probe switch it on.
    command.env("ENACT_PROBE", "off");
    command.env("ENACT_PROBES", "/nonexistent/probes.json");
    Enact {
        command,
        stdin: None,
    }
}

/// `enact run` against a scripted server.
pub(crate) fn run<'a>(server: &TestServer, args: impl IntoIterator<Item = &'a str>) -> Enact {
    asking(server, ["run"].into_iter().chain(args))
}

/// The command against a scripted server.
pub(crate) fn asking<'a>(server: &TestServer, args: impl IntoIterator<Item = &'a str>) -> Enact {
    let args: Vec<&str> = args.into_iter().collect();
    let begins_runs =
        matches!(args[..], ["run" | "chat" | "eval", ..]) && args.get(1) != Some(&"compare");
    let names_model = args.iter().any(|arg| arg.starts_with("--model"));
    let model = (begins_runs && !names_model).then_some("--model=test-model");
    enact(args.into_iter().chain(model))
        .env("OPENAI_BASE_URL", server.base_url())
        .env("OPENAI_API_KEY", KEY)
}

/// Returns once this many requests have come in.
pub(crate) fn wait_for_requests(server: &TestServer, count: usize) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime.block_on(server.wait_for_requests(count));
}

impl Enact {
    pub(crate) fn args<'a>(mut self, args: impl IntoIterator<Item = &'a str>) -> Self {
        self.command.args(args);
        self
    }

    pub(crate) fn env(mut self, name: &str, value: &str) -> Self {
        self.command.env(name, value);
        self
    }

    pub(crate) fn stdin(mut self, text: impl Into<Vec<u8>>) -> Self {
        self.stdin = Some(text.into());
        self
    }

    /// The command itself, for a test that starts it in its own way.
    #[cfg(unix)]
    pub(crate) fn into_command(self) -> Command {
        self.command
    }

    /// Starts the process; nothing comes on its standard input unless it was given.
    pub(crate) fn spawn(mut self) -> std::process::Child {
        let mut child = self
            .command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        // A process that does not read its input is free not to.
        let _ = stdin.write_all(&self.stdin.unwrap_or_default());
        child
    }

    pub(crate) fn said(self) -> Said {
        let output = self.spawn().wait_with_output().unwrap();
        Said::of(&output)
    }
}

impl Said {
    pub(crate) fn of(output: &std::process::Output) -> Self {
        let said = Self {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8(output.stdout.clone()).unwrap(),
            stderr: String::from_utf8(output.stderr.clone()).unwrap(),
        };
        for text in [&said.stdout, &said.stderr] {
            assert!(!text.contains(KEY), "the key is shown: {text}");
            assert!(!text.contains("panicked"), "{text}");
            assert!(!text.contains('\u{1b}'), "escape codes in a pipe: {text:?}");
        }
        said
    }

    /// The one object on standard output.
    pub(crate) fn json(&self) -> Value {
        let object: Value =
            serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"));
        let keys: Vec<&String> = object.as_object().unwrap().keys().collect();
        assert_eq!(
            keys,
            [
                "run_id",
                "status",
                "success",
                "termination_reason",
                "inputs",
                "outputs",
                "trajectory",
                "trace",
                "history",
                "usage",
                "execution_time",
                "pending",
                "error",
            ]
        );
        object
    }

    /// The one error, which is the last line on standard error.
    pub(crate) fn error_line(&self) -> &str {
        let errors = self
            .stderr
            .lines()
            .filter(|line| line.starts_with("error: "));
        let last = self.stderr.lines().last().unwrap_or_default();
        assert_eq!(errors.count(), 1, "not one error: {:?}", self.stderr);
        last.strip_prefix("error: ")
            .unwrap_or_else(|| panic!("the error is not the last line: {:?}", self.stderr))
    }
}
