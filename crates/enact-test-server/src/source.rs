//! Where the answers of a server come from.

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use crate::http::Received;
use crate::turn::Turn;

/// Gives the turn for each request.
pub(crate) enum Source {
    /// One after the other, whatever is asked.
    Script(VecDeque<Turn>),
    /// By what is asked.
    Function(Arc<dyn Fn(&Received) -> Turn + Send + Sync>),
}

impl Source {
    pub(crate) fn script(turns: impl IntoIterator<Item = Turn>) -> Self {
        Self::Script(turns.into_iter().collect())
    }

    pub(crate) fn function(function: impl Fn(&Received) -> Turn + Send + Sync + 'static) -> Self {
        Self::Function(Arc::new(function))
    }

    #[expect(
        clippy::panic,
        reason = "a turn that would never be played is a mistake in the test"
    )]
    pub(crate) fn push(&mut self, turn: Turn) {
        match self {
            Self::Script(turns) => turns.push_back(turn),
            Self::Function(_) => panic!("this server answers by a function: it has no script"),
        }
    }

    /// How many turns were not played.
    pub(crate) fn left(&self) -> usize {
        match self {
            Self::Script(turns) => turns.len(),
            Self::Function(_) => 0,
        }
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Script(turns) => f.debug_tuple("Script").field(turns).finish(),
            Self::Function(_) => f.write_str("Function"),
        }
    }
}

/// Which requests are answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Paths {
    /// Those for chat completions; others are not found.
    Chat,
    /// All, whatever their method and path.
    Any,
}
