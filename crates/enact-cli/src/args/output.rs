//! The flags for output.

use std::io::IsTerminal as _;

use clap::Args;

use crate::view::{Form, Screen, Stream};

#[derive(Debug, Clone, Copy, Default, Args)]
pub(crate) struct OutputArgs {
    /// Print one JSON object instead of the steps.
    #[arg(long)]
    pub(crate) json: bool,

    /// Print only the outputs, no steps.
    #[arg(long, short)]
    pub(crate) quiet: bool,

    /// Print plain text: no colours, no rendered Markdown, no live line.
    #[arg(long)]
    pub(crate) plain: bool,
}

impl OutputArgs {
    /// Where steps are shown: on standard output if it is a terminal, and otherwise apart from the
    /// outputs that a program reads there.
    pub(crate) fn steps(self) -> Screen {
        let (out, err) = (
            std::io::stdout().is_terminal(),
            std::io::stderr().is_terminal(),
        );
        self.screen(match (self.quiet, self.json) {
            (true, _) => Stream::Nowhere,
            (false, false) if out => Stream::Stdout,
            (false, true) if !err => Stream::Nowhere,
            (false, _) => Stream::Stderr,
        })
    }

    pub(crate) fn screen(self, stream: Stream) -> Screen {
        let screen = Screen::new(stream);
        match self.plain {
            true => screen.plain(),
            false => screen,
        }
    }

    /// How outputs are printed: by name below the steps, or a single text by itself.
    pub(crate) fn form(self) -> Form {
        match self.quiet || !std::io::stdout().is_terminal() {
            true => Form::Bare,
            false => Form::Named,
        }
    }
}
