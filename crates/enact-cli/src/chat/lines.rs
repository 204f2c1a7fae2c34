//! Reads the lines of a conversation.

use std::path::PathBuf;

use super::said::COMMANDS;
use crate::editor::{Editor, Prompt, Recall};
use crate::exit::Failure;
use crate::interrupt;
use crate::line::{self, Line};
use crate::person::Person;
use crate::view::{Ink, Narrator, Screen, Stream};

/// The source of lines.
#[derive(Debug)]
pub(super) enum Lines {
    /// A terminal, with a prompt and editing.
    Terminal(Editor),
    /// A pipe or a file.
    Pipe,
}

impl Lines {
    /// Reads from the terminal. The file stores earlier lines.
    pub(super) fn at_terminal(file: Option<PathBuf>) -> Result<Self, Failure> {
        Ok(Self::Terminal(Editor::start(file, &COMMANDS)?))
    }

    pub(super) fn is_terminal(&self) -> bool {
        matches!(self, Self::Terminal(_))
    }

    /// Where steps are shown: apart from the outputs if a program reads those.
    pub(super) fn stream_of_steps(&self) -> Stream {
        match self {
            Self::Terminal(_) => Stream::Stdout,
            Self::Pipe => Stream::Stderr,
        }
    }

    /// Who answers the questions of tools.
    pub(super) fn person(&self, narrator: &Narrator) -> Person {
        match self {
            Self::Terminal(editor) => Person::Talking(editor.clone()),
            Self::Pipe => Person::here(narrator),
        }
    }

    /// The next line.
    pub(super) async fn next(&self, screen: &Screen, prompt: &str) -> Line {
        match self {
            Self::Terminal(editor) => {
                let prompt = Prompt::new(screen, Ink::Strong, prompt);
                editor.read(prompt, Recall::Yes).await
            }
            Self::Pipe => line::read(&interrupt::watch()).await,
        }
    }
}
