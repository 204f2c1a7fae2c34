//! A mistake in an agent file, with its place.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::exit::Failure;

/// A mistake in an agent file. Lines and columns start at 1; columns count
/// characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    pub(super) path: PathBuf,
    /// Line and column, if the file could be read.
    pub(super) place: Option<(usize, usize)>,
    pub(super) message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path.display())?;
        if let Some((line, column)) = self.place {
            write!(f, ":{line}:{column}")?;
        }
        write!(f, ": {}", self.message)
    }
}

/// All problems in one line, for a command that uses the file without being asked to.
pub(super) fn all(problems: &[Problem]) -> Failure {
    let all: Vec<String> = problems.iter().map(Problem::to_string).collect();
    Failure::usage("config", all.join("; "))
}

/// The first problem in one line and how to list the others, for a command that needs the agent.
pub(super) fn failure(path: &Path, problems: &[Problem]) -> Failure {
    let first = match problems.first() {
        Some(problem) => problem.to_string(),
        None => format!("{}: it cannot be used", path.display()),
    };
    let message = match problems.len() {
        0 | 1 => first,
        count => format!(
            "{first} (and {} more: `enact check {}` lists them)",
            count - 1,
            path.display()
        ),
    };
    Failure::usage("agent_file", message)
}
