//! How a command ends: its exit code, and the one line that says why.

use std::io::{IsTerminal as _, Write as _};
use std::process::ExitCode;

use enact::signature::SignatureError;
use enact::{Error, ErrorKind};

use crate::secrets;
use crate::view::text;

/// The exit codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// The agent came to its outputs.
    Success = 0,
    /// The run failed, or was cancelled.
    Failed = 1,
    /// The command was wrong: nothing was asked of a model.
    Usage = 2,
    /// The run waits for a person.
    Paused = 3,
    /// There are outputs, but a limit made the agent give them.
    Unsuccessful = 4,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// Why a command has no result.
#[derive(Debug)]
pub(crate) struct Failure {
    /// The sort of failure as one word, for programs.
    pub(crate) kind: &'static str,
    /// What is wrong and what to do, in one line.
    pub(crate) message: String,
    /// A picture of the place in question, for people.
    picture: Option<String>,
    pub(crate) exit: Exit,
}

impl Failure {
    /// The command was wrong.
    pub(crate) fn usage(kind: &'static str, message: impl Into<String>) -> Self {
        Self {
            kind,
            // Servers quote keys back to whoever sent a wrong one.
            message: text::one_line(&secrets::redact(&message.into())),
            picture: None,
            exit: Exit::Usage,
        }
    }

    /// The command was right, and it failed.
    pub(crate) fn failed(kind: &'static str, message: impl Into<String>) -> Self {
        Self {
            exit: Exit::Failed,
            ..Self::usage(kind, message)
        }
    }

    /// Tells a person, and gives the exit code.
    pub(crate) fn end(&self) -> Exit {
        self.print();
        self.exit
    }

    /// Tells a person: one line, and the picture if they look at a terminal.
    pub(crate) fn print(&self) {
        let mut stderr = std::io::stderr().lock();
        // Nobody can be told that nobody can be told.
        let _ = writeln!(stderr, "error: {}", self.message);
        if let Some(picture) = self.picture.as_ref().filter(|_| stderr.is_terminal()) {
            for line in picture.lines() {
                let _ = writeln!(stderr, "  {line}");
            }
        }
    }
}

impl From<SignatureError> for Failure {
    fn from(error: SignatureError) -> Self {
        let place = match error.column() {
            Some(column) => format!(" at column {column}"),
            None => String::new(),
        };
        let message = format!("the signature is wrong{place}: {}", error.message());
        Self {
            picture: error.pointer().map(|picture| text::harmless(&picture)),
            ..Self::usage("signature", message)
        }
    }
}

impl From<&Error> for Failure {
    fn from(error: &Error) -> Self {
        let kind = error.kind();
        let is_usage = matches!(
            kind,
            ErrorKind::Signature
                | ErrorKind::Tools
                | ErrorKind::Input
                | ErrorKind::NoModel
                | ErrorKind::History
                | ErrorKind::Answer
        );
        let message = error.to_string();
        if is_usage {
            Self::usage(kind.as_str(), message)
        } else {
            Self::failed(kind.as_str(), message)
        }
    }
}
