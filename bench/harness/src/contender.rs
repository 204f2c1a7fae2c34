//! Who takes part.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use serde::de::DeserializeOwned;

/// What a contender is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A loop by hand.
    Floor,
    /// enact as a library.
    Enact,
    /// enact with a store: it waits for the disk.
    Stored,
    /// Runs that wait, held by enact.
    Held,
    /// The same in a store.
    HeldOnDisk,
    /// Another library in Rust.
    Rust,
    /// A library in Python: a process of another order, which is given less to do.
    Python,
    /// The `enact` command.
    Command,
}

/// One program that does the work.
#[derive(Clone)]
pub(crate) struct Contender {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    /// In which form the model has to speak.
    script: &'static str,
    command: Vec<String>,
}

/// How much there is to do.
#[derive(Clone, Copy)]
pub(crate) struct Amount {
    pub(crate) runs: usize,
    pub(crate) warmup: usize,
    pub(crate) concurrency: usize,
    pub(crate) steps: usize,
    pub(crate) observation: usize,
}

impl Amount {
    /// Runs of ten steps with short observations, one at a time.
    pub(crate) fn of(runs: usize) -> Self {
        Self {
            runs,
            warmup: 0,
            concurrency: 1,
            steps: 10,
            observation: 64,
        }
    }
}

pub(crate) fn in_rust(programs: &Path) -> Vec<Contender> {
    let one = |name, kind, script, program: &str, subcommand: &[&str]| {
        let mut command = vec![programs.join(program).to_string_lossy().into_owned()];
        command.extend(subcommand.iter().map(|&word| word.to_owned()));
        Contender {
            name,
            kind,
            script,
            command,
        }
    };
    let floor = |name| one(name, Kind::Floor, "text", "bench-floors", &[name]);
    let enact = |name, script| one(name, Kind::Enact, script, "bench-enact", &[name]);
    let held = |name, kind| one(name, kind, "publish", "bench-enact", &[name]);
    vec![
        floor("floor-append"),
        floor("floor-reqwest"),
        enact("enact-native", "submit"),
        one(
            "enact-sqlite",
            Kind::Stored,
            "submit",
            "bench-enact",
            &["enact-sqlite"],
        ),
        enact("enact-json", "json"),
        enact("enact-chat", "chat"),
        enact("enact-xml", "xml"),
        enact("enact-tagged", "tagged"),
        held("enact-paused", Kind::Held),
        held("enact-paused-sqlite", Kind::HeldOnDisk),
        one("genai", Kind::Rust, "text", "bench-genai", &[]),
        one("rig", Kind::Rust, "text", "bench-rig", &[]),
    ]
}

pub(crate) fn in_python(python: &Path, scripts: &Path) -> Vec<Contender> {
    let peer = |name, script, file: &str| Contender {
        name,
        kind: Kind::Python,
        script,
        command: [python, &scripts.join(file)]
            .map(|path| path.to_string_lossy().into_owned())
            .to_vec(),
    };
    vec![
        peer("dspy-react", "dspy", "dspy_react.py"),
        peer("dspy-react-v2", "submit", "dspy_react_v2.py"),
        peer("udspy", "udspy", "udspy_react.py"),
        peer("langgraph", "text", "langgraph_agent.py"),
        peer("pydantic-ai", "text", "pydantic_ai_agent.py"),
        peer("openai-agents", "text", "openai_agents_agent.py"),
    ]
}

impl Contender {
    /// `enact run`, which keeps its runs in a file, as it does unless told otherwise.
    pub(crate) fn command(program: &Path, store: &Path) -> Self {
        let words = [
            &program.to_string_lossy(),
            "run",
            "question -> answer",
            "question=What is the answer? [run command]",
            "--json",
            "--model",
            "bench",
            "--store",
            &store.to_string_lossy(),
        ];
        Self {
            name: "enact run",
            kind: Kind::Command,
            script: "submit",
            command: words.map(str::to_owned).to_vec(),
        }
    }

    pub(crate) fn script(&self) -> &'static str {
        self.script
    }

    /// The command line, ready to run.
    pub(crate) fn arguments(&self, url: &str, amount: Amount) -> Vec<String> {
        let mut words = self.command.clone();
        words.extend(["--base-url".to_owned(), url.to_owned()]);
        if self.kind == Kind::Command {
            return words;
        }
        for (option, value) in [
            ("--runs", amount.runs),
            ("--warmup", amount.warmup),
            ("--concurrency", amount.concurrency),
            ("--steps", amount.steps),
            ("--observation", amount.observation),
        ] {
            words.extend([option.to_owned(), value.to_string()]);
        }
        words
    }

    /// Runs it, and reads the line that it prints.
    pub(crate) fn run<T: DeserializeOwned>(&self, url: &str, amount: Amount) -> anyhow::Result<T> {
        let (text, _) = finish(&self.arguments(url, amount))?;
        let line = text.lines().last().context("it printed nothing")?;
        serde_json::from_str(line).with_context(|| format!("it printed `{line}`"))
    }

    /// From its start to its end.
    pub(crate) fn time(&self, url: &str, amount: Amount) -> anyhow::Result<Duration> {
        Ok(finish(&self.arguments(url, amount))?.1)
    }
}

/// Runs a command to its end: what it printed, and how long it took.
pub(crate) fn finish(words: &[String]) -> anyhow::Result<(String, Duration)> {
    let (program, rest) = words.split_first().context("no program")?;
    let began = Instant::now();
    let output = Command::new(program)
        .args(rest)
        // Peers in Python would ask the internet about models.
        .env("LITELLM_LOCAL_MODEL_COST_MAP", "true")
        .env("LANGSMITH_TRACING", "false")
        .env_remove("OPENAI_API_KEY")
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("cannot start {program}"))?;
    let took = began.elapsed();
    let told = String::from_utf8_lossy(&output.stderr);
    anyhow::ensure!(
        output.status.success(),
        "{}: {}",
        output.status,
        told.lines().last().unwrap_or_default()
    );
    Ok((String::from_utf8(output.stdout)?, took))
}
