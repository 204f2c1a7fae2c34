//! Who solves the tasks.

use std::path::Path;
use std::process::Stdio;
use std::str::FromStr;

use anyhow::Context as _;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use crate::enact_agent;

/// The contenders that run unless others are named.
pub(crate) const ALL: &str = "enact-auto,enact-native,enact-native-required,enact-json,enact-chat,enact-xml,enact-tagged,\
    dspy-react,dspy-react-v2,dspy-react-v2-native";

/// A contender by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Contender {
    /// With the adapter of this name.
    Enact(String),
    /// The module of this name.
    Dspy(String),
}

/// What a contender is to do.
#[derive(Debug, Serialize)]
pub(crate) struct Order<'a> {
    pub(crate) url: String,
    pub(crate) model: &'a str,
    pub(crate) instructions: &'a str,
    pub(crate) question: &'a str,
    pub(crate) max_iterations: u32,
    pub(crate) max_tokens: u32,
}

/// How it ended.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Answered {
    pub(crate) answer: String,
    pub(crate) steps: u64,
    pub(crate) termination: String,
    pub(crate) error: Option<String>,
}

impl FromStr for Contender {
    type Err = anyhow::Error;

    fn from_str(name: &str) -> anyhow::Result<Self> {
        if let Some(adapter) = name.strip_prefix("enact-") {
            return Ok(Self::Enact(adapter.to_owned()));
        }
        match name {
            "dspy-react" | "dspy-react-v2" | "dspy-react-v2-native" => {
                Ok(Self::Dspy(name["dspy-".len()..].to_owned()))
            }
            _ => anyhow::bail!("there is no contender `{name}`: use some of {ALL}"),
        }
    }
}

impl Contender {
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Enact(adapter) => format!("enact-{adapter}"),
            Self::Dspy(module) => format!("dspy-{module}"),
        }
    }
}

/// A contender at work.
pub(crate) enum Worker {
    Enact(String),
    Dspy(Box<Process>),
}

impl Worker {
    /// Gets a contender ready. `python` has the peers' packages.
    pub(crate) fn start(
        contender: &Contender,
        python: &Path,
        script: &Path,
    ) -> anyhow::Result<Self> {
        Ok(match contender {
            Contender::Enact(adapter) => Self::Enact(adapter.clone()),
            Contender::Dspy(module) => {
                Self::Dspy(Box::new(Process::start(python, script, module)?))
            }
        })
    }

    pub(crate) async fn solve(&mut self, order: &Order<'_>) -> anyhow::Result<Answered> {
        match self {
            Self::Enact(adapter) => enact_agent::solve(adapter, order).await,
            Self::Dspy(process) => process.solve(order).await,
        }
    }
}

/// A program that reads an order a line and writes an answer a line.
pub(crate) struct Process {
    stdin: ChildStdin,
    stdout: Lines<BufReader<ChildStdout>>,
    /// Ended with its owner.
    _child: Child,
}

impl Process {
    fn start(python: &Path, script: &Path, module: &str) -> anyhow::Result<Self> {
        let mut child = Command::new(python)
            .arg(script)
            .arg(module)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .with_context(|| format!("{} cannot be started", python.display()))?;
        let stdin = child.stdin.take().context("no standard input")?;
        let stdout = child.stdout.take().context("no standard output")?;
        Ok(Self {
            stdin,
            stdout: BufReader::new(stdout).lines(),
            _child: child,
        })
    }

    async fn solve(&mut self, order: &Order<'_>) -> anyhow::Result<Answered> {
        let line = serde_json::to_string(order)? + "\n";
        self.stdin.write_all(line.as_bytes()).await?;
        let line = self.stdout.next_line().await?;
        let line = line.context("the program ended without an answer")?;
        serde_json::from_str(&line).with_context(|| line.clone())
    }
}
