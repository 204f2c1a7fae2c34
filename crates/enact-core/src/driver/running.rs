//! The calls under way.

use std::collections::VecDeque;
use std::pin::Pin;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use tokio::time::Instant;

use super::tools::{self, Outcome};
use super::{World, spans, within};
use crate::react::{RunState, ToolCall};

/// The calls under way, and until when they may be.
#[derive(Default)]
pub(super) struct Running {
    calls: FuturesUnordered<Pin<Box<dyn Future<Output = Outcome> + Send>>>,
    /// The ids of those calls, and when they began.
    under_way: Vec<(String, Instant)>,
    given_up: VecDeque<Outcome>,
    deadline: Option<Instant>,
}

impl Running {
    /// Starts calls. Those of one step share the time that the step has.
    pub(super) fn start(&mut self, state: &RunState, world: &World, calls: Vec<ToolCall>) {
        if self.under_way.is_empty() {
            let left = state.time_left();
            self.deadline = left.and_then(|left| Instant::now().checked_add(left));
        }
        for call in calls {
            self.under_way.push((call.call.id.clone(), Instant::now()));
            let run = spans::tool(world, state.run(), call);
            self.calls.push(Box::pin(run));
        }
    }

    /// What came of the next call that ends. When the time of the run is up, all are given up.
    pub(super) async fn next(&mut self, world: &World, state: &RunState) -> Option<Outcome> {
        if let Some(outcome) = self.given_up.pop_front() {
            return Some(outcome);
        }
        let left = self
            .deadline
            .map(|deadline| deadline.saturating_duration_since(Instant::now()));
        let outcome = match within(left, self.calls.next()).await {
            Some(outcome) => outcome?,
            None => {
                self.calls.clear();
                for call in state.open_calls() {
                    let is_it = |(id, _): &(String, Instant)| *id == call.call.id;
                    let Some(at) = self.under_way.iter().position(is_it) else {
                        continue;
                    };
                    let (_, began) = self.under_way.swap_remove(at);
                    tools::abandon(world, state.run(), &call).await;
                    self.given_up.push_back(tools::given_up(call.call, began));
                }
                self.given_up.pop_front()?
            }
        };
        let ended = outcome.call_id();
        self.under_way.retain(|(id, _)| id != ended);
        Some(outcome)
    }
}
