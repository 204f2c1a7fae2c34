//! Drives a run to its end, asking the person when needed.

use std::sync::Arc;

use enact::module::StartFrom;
use enact::signature::Dynamic;
use enact::{Call, CancellationToken, Error, ErrorKind, Outcome, ReAct, Run, Values};
use enact_sqlite::SqliteStore;
use tracing::Instrument as _;

use crate::hooks;
use crate::person::{Answer, Person};
use crate::view::Narrator;

/// Drives a call until it finishes, or pauses because no one can answer.
pub(crate) async fn drive<B: StartFrom<Dynamic>>(
    agent: &ReAct,
    call: Call<'_, Dynamic, B>,
    narrator: &Arc<Narrator>,
    person: &Person,
    interrupted: &CancellationToken,
    store: Option<&SqliteStore>,
) -> Result<Outcome<Values>, Error> {
    let resume = |run: Run| match store {
        Some(store) => agent.resume(run).store(store.clone()),
        None => agent.resume(run),
    };
    // Waiting for a person is part of the run: one span contains all of it.
    let span = tracing::info_span!(target: enact::telemetry::TARGET, "run");
    let stop = Stop {
        token: interrupted,
        is_kept: store.is_some(),
    };
    let mut outcome = watched(call, narrator, stop).instrument(span.clone()).await;
    loop {
        let paused = match outcome {
            Ok(Outcome::Paused(paused)) => paused,
            // The question is still open: show the problem and ask again.
            Err(error) if error.kind() == ErrorKind::Answer && person.is_there() => {
                match error.run().cloned() {
                    Some(run) => {
                        person.refuse(narrator, &error.to_string());
                        outcome = watched(resume(run), narrator, stop)
                            .instrument(span.clone())
                            .await;
                        continue;
                    }
                    None => return Err(error),
                }
            }
            ended => return ended,
        };
        let Some(question) = paused.questions().first() else {
            return Ok(Outcome::Paused(paused));
        };
        let answer = person
            .ask(narrator, paused.run(), question, interrupted)
            .await;
        let call = match answer {
            Answer::Nobody => return Ok(Outcome::Paused(paused)),
            // The token is cancelled: the run stops and reports it.
            Answer::Interrupted => resume(paused.into()),
            Answer::Decided(decision) => {
                let id = question.confirmation_id.clone();
                resume(paused.into()).answer(id, decision)
            }
        };
        outcome = watched(call, narrator, stop).instrument(span.clone()).await;
    }
}

/// What stops a run, and what happens to the run then.
#[derive(Clone, Copy)]
struct Stop<'a> {
    token: &'a CancellationToken,
    /// A stored run can be resumed later; any other run is cancelled, since it would be lost.
    is_kept: bool,
}

/// Runs a call until it finishes or pauses, and shows its progress.
async fn watched<B: StartFrom<Dynamic>>(
    call: Call<'_, Dynamic, B>,
    narrator: &Arc<Narrator>,
    stop: Stop<'_>,
) -> Result<Outcome<Values>, Error> {
    let listener = Arc::clone(narrator);
    hooks::tell(narrator);
    let token = stop.token.clone();
    let stopping = match stop.is_kept {
        true => call.interrupt_with(token),
        false => call.cancel_with(token),
    };
    let outcome = stopping
        .on_update(move |update| listener.tell(update))
        .await;
    narrator.screen().idle();
    outcome
}
