//! Where the lines of a conversation come from.

use std::path::PathBuf;

use super::said::COMMANDS;
use crate::editor::{Editor, Prompt, Recall};
use crate::exit::Failure;
use crate::interrupt;
use crate::line::{self, Line};
use crate::person::Person;
use crate::view::{Ink, Narrator, Screen, Stream};

/// Whoever types.
#[derive(Debug)]
pub(super) enum Lines {
    /// A person at a terminal, with a prompt and editing.
    Terminal(Editor),
    /// A pipe or a file: lines, and nothing else.
    Pipe,
}

impl Lines {
    /// At the terminal. Lines of earlier times are recalled from the file.
    pub(super) fn at_terminal(file: Option<PathBuf>) -> Result<Self, Failure> {
        Ok(Self::Terminal(Editor::start(file, &COMMANDS)?))
    }

    pub(super) fn is_terminal(&self) -> bool {
        matches!(self, Self::Terminal(_))
    }

    /// Where steps are told: not among the outputs, where a program reads those.
    pub(super) fn stream_of_steps(&self) -> Stream {
        match self {
            Self::Terminal(_) => Stream::Stdout,
            Self::Pipe => Stream::Stderr,
        }
    }

    /// Who is asked when a tool wants it.
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
