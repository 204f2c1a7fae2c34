//! The usage of a conversation.

use enact::Run;
use enact::model::Usage;

use crate::view::{text, tokens};

/// The usage of all turns since the conversation was opened.
#[derive(Debug)]
pub(super) struct Spent {
    turns: usize,
    usage: Usage,
    /// `None` as soon as a price is unknown.
    cost: Option<f64>,
}

impl Default for Spent {
    fn default() -> Self {
        Self {
            turns: 0,
            usage: Usage::default(),
            cost: Some(0.0),
        }
    }
}

impl Spent {
    /// Adds a turn, whatever its result.
    pub(super) fn add(&mut self, run: &Run) {
        self.turns += 1;
        self.usage += run.usage();
        self.cost = self.cost.zip(run.cost()).map(|(spent, cost)| spent + cost);
    }

    /// The usage in one line.
    pub(super) fn told(&self) -> String {
        if self.turns == 0 {
            return "no turns since the conversation was opened".to_owned();
        }
        let turns = text::counted(self.turns, "turn");
        let requests = text::counted(self.usage.requests as usize, "request");
        let tokens = tokens(&self.usage);
        let tokens = tokens.unwrap_or_else(|| "the server did not report tokens".to_owned());
        let cost = match self.cost {
            Some(cost) => format!("cost {cost:.4}"),
            None => "cost unknown (see `--prices`)".to_owned(),
        };
        format!("{turns} · {requests} · {tokens} · {cost}")
    }
}
