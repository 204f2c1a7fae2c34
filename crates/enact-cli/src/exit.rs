//! How a command ends: its exit code, and one line with the reason.

use std::io::{IsTerminal as _, Write as _};
use std::process::ExitCode;

use enact::signature::SignatureError;
use enact::{Error, ErrorKind};

use crate::secrets;
use crate::view::text;

/// The exit codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// The run finished successfully.
    Success = 0,
    /// The run failed or was cancelled.
    Failed = 1,
    /// The command was wrong: no model was asked.
    Usage = 2,
    /// The run waits for a person.
    Paused = 3,
    /// There are outputs, but a limit ended the run early.
    Unsuccessful = 4,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// Why a command failed.
#[derive(Debug)]
pub(crate) struct Failure {
    /// The kind of failure as one word, for programs.
    pub(crate) kind: &'static str,
    /// The problem and what to do about it, in one line.
    pub(crate) message: String,
    /// An excerpt that shows the place, for people.
    picture: Option<String>,
    pub(crate) exit: Exit,
}

impl Failure {
    /// A wrong command.
    pub(crate) fn usage(kind: &'static str, message: impl Into<String>) -> Self {
        Self {
            kind,
            // Servers quote a wrong key in their errors.
            message: text::one_line(&secrets::redact(&message.into())),
            picture: None,
            exit: Exit::Usage,
        }
    }

    /// A correct command that failed.
    pub(crate) fn failed(kind: &'static str, message: impl Into<String>) -> Self {
        Self {
            exit: Exit::Failed,
            ..Self::usage(kind, message)
        }
    }

    /// Reports the failure to a person, and returns the exit code.
    pub(crate) fn end(&self) -> Exit {
        self.print();
        self.exit
    }

    /// Reports the failure to a person: one line, and the excerpt if they use a terminal.
    pub(crate) fn print(&self) {
        let mut stderr = std::io::stderr().lock();
        // If standard error fails, there is nowhere to report it.
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
