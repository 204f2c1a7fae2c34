//! What is wrong with an agent file, and where.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::exit::Failure;

/// Something that is wrong with an agent file. Lines and columns count from 1, columns in
/// characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Problem {
    pub(super) path: PathBuf,
    /// The line and the column, if the file could be read.
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

/// One line for a command that needs a file that nobody named: all problems.
pub(super) fn all(problems: &[Problem]) -> Failure {
    let all: Vec<String> = problems.iter().map(Problem::to_string).collect();
    Failure::usage("config", all.join("; "))
}

/// One line for a command that needs the agent: the first problem, and how to see the others.
pub(super) fn failure(path: &Path, problems: &[Problem]) -> Failure {
    let first = match problems.first() {
        Some(problem) => problem.to_string(),
        None => format!("{}: it cannot be used", path.display()),
    };
    let message = match problems.len() {
        0 | 1 => first,
        count => format!(
            "{first} (and {} more: `enact check {}` tells them)",
            count - 1,
            path.display()
        ),
    };
    Failure::usage("agent_file", message)
}
