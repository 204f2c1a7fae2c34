//! A command that is asked: a program, its arguments, and where it starts.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::time::Duration;

use enact::model::Secrets;
use enact::tool::Environment;
use enact::tool::builtin::process;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::answer::Said;
use crate::args::CommandLine;
use crate::mcp;
use crate::view::text;

/// The most that an answer may have.
const MAX_ANSWER: usize = 10_000_000;
/// The most characters that are shown of what a command complains.
const SHOWN: usize = 300;

/// A program and its arguments, without secrets: `${NAME}` stands for a variable.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Program {
    words: Vec<String>,
    /// The folder that it starts in.
    folder: PathBuf,
}

/// A program that can be started.
#[derive(Debug, Clone)]
pub(super) struct Ready {
    name: &'static str,
    program: String,
    args: Vec<String>,
    folder: PathBuf,
    environment: Environment,
    timeout: Duration,
}

impl Program {
    pub(super) fn read(line: &CommandLine, folder: &Path) -> Result<Self, String> {
        let words = line.words().filter(|words| {
            words
                .first()
                .is_some_and(|program| !program.trim().is_empty())
        });
        let Some(mut words) = words else {
            return Err("not a command: name a program, and close quotes".to_owned());
        };
        if mcp::argument_with_secret(&words).is_some() {
            let message = "write a secret as a variable, such as '${NAME}': the command is stored \
                           with the run, so it would be in its log";
            return Err(message.to_owned());
        }
        // A program with a path is a file, and files are looked for beside the agent.
        let program = &mut words[0];
        if is_path(program) {
            *program = folder.join(&*program).to_string_lossy().into_owned();
        }
        let program = Self {
            words,
            folder: folder.to_owned(),
        };
        program.check()?;
        Ok(program)
    }

    /// Whether the file is there that it names.
    fn check(&self) -> Result<(), String> {
        match &self.words[..] {
            [] => Err("not a command: name a program".to_owned()),
            [program, ..] if is_path(program) && !Path::new(program).is_file() => {
                Err(format!("there is no file `{program}`"))
            }
            _ => Ok(()),
        }
    }

    /// The secrets with those that it reads from the environment.
    pub(super) fn add_secrets(&self, secrets: Secrets) -> Secrets {
        mcp::add_command_secrets(secrets, &self.words)
    }

    /// With the values of its variables.
    pub(super) fn ready(
        &self,
        name: &'static str,
        environment: &Environment,
        timeout: Duration,
    ) -> Result<Ready, String> {
        self.check()?;
        let words = self.words.iter().map(|word| mcp::fill(word));
        let mut words = words.collect::<Result<Vec<_>, _>>()?.into_iter();
        Ok(Ready {
            name,
            program: words.next().unwrap_or_default(),
            args: words.collect(),
            folder: self.folder.clone(),
            environment: environment.clone(),
            timeout,
        })
    }
}

/// How it is listed before a run from another source is resumed.
impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} in {}", json!(self.words), self.folder.display())
    }
}

fn is_path(program: &str) -> bool {
    program.contains(['/', '\\']) && !program.starts_with("${")
}

impl Ready {
    /// Starts it, and hands it this on its standard input. What it is asked is over when it ends.
    pub(super) async fn ask(&self, input: &Value) -> Result<Said, String> {
        let mut command = Command::new(&self.program);
        command
            .args(&self.args)
            .current_dir(&self.folder)
            .env_clear()
            .envs(self.environment.values());
        let input = format!("{input}\n");
        let running = process::run(command, Some(input.as_bytes()), MAX_ANSWER);
        let ended = match tokio::time::timeout(self.timeout, running).await {
            Ok(Ok(ended)) => ended,
            Ok(Err(error)) => return Err(format!("`{}`: {error}", self.program)),
            Err(_) => return Err(format!("no answer within {:?}", self.timeout)),
        };
        let complaint = ended.stderr.text(&enact::secrets());
        tracing::debug!(hook = self.name, %complaint, "a hook has ended");
        let complaint = Complaint(ended.status, complaint);
        let Some(code) = ended.status.and_then(|status| status.code()) else {
            return Err(complaint.to_string());
        };
        let stdout = ended.stdout.whole();
        let stdout = stdout.ok_or_else(|| format!("it printed more than {MAX_ANSWER} bytes"))?;
        let stdout = String::from_utf8(stdout).map_err(|_| "it printed no UTF-8".to_owned())?;
        Ok(Said {
            code,
            stdout,
            complaint: complaint.to_string(),
        })
    }
}

/// How a program ended, and what it said last about that.
struct Complaint(Option<ExitStatus>, String);

impl fmt::Display for Complaint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(status) => write!(f, "{status}")?,
            None => f.write_str("its end is not known")?,
        }
        let lines = self.1.lines().map(str::trim);
        match lines.rev().find(|line| !line.is_empty()) {
            Some(last) => write!(f, ": {}", text::clipped(&text::one_line(last), SHOWN)),
            None => Ok(()),
        }
    }
}
