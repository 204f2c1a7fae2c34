//! Checks for implementations of stores. Run them in the tests of a new store.

use std::sync::Arc;

use super::{RunFilter, RunStatus, Store, StoreErrorKind};
use crate::run::event::{Asked, Event, Record, TerminationReason};
use crate::run::history::Call;
use crate::run::question::{Answerer, Decision, Origin, QuestionKind};
use crate::run::started::{AgentSpec, Started};
use crate::signature::{Signature, Values};
use crate::time::Timestamp;

/// Checks that an empty store keeps the guarantees of [`Store`]. The error names the violation.
pub async fn check_store(store: &dyn Store) -> Result<(), String> {
    let checked = keeps_its_promises(store).await;
    checked.map_err(|broken| broken.to_string())
}

type Broken = Box<dyn std::error::Error + Send + Sync>;
type Checked = Result<(), Broken>;

async fn keeps_its_promises(store: &dyn Store) -> Checked {
    unknown_runs_are_not_found(store).await?;
    records_come_back_as_they_were(store).await?;
    positions_have_no_gaps(store).await?;
    one_writer_at_a_time(store).await?;
    an_old_lease_cannot_write(store).await?;
    a_run_without_a_writer_is_interrupted(store).await?;
    lists_are_filtered_and_ordered(store).await?;
    deleted_runs_are_gone(store).await
}

fn started(run_id: &str, second: i64) -> Result<Record, Broken> {
    let signature = Signature::parse("question -> answer")?;
    let agent = AgentSpec::new(signature, "model", "native");
    let inputs = Values::from_iter([("question".to_owned(), "Why? ü \u{0} \\".into())]);
    let started = Started::new(run_id, agent, inputs);
    let at = Timestamp::from_second(second).ok_or("there is no such second")?;
    Ok(Record {
        position: 0,
        at,
        event: Event::Started(Arc::new(started)),
    })
}

fn record(position: u64, event: Event) -> Record {
    Record {
        position,
        at: Timestamp::UNIX_EPOCH,
        event,
    }
}

fn tool_started(position: u64) -> Record {
    record(
        position,
        Event::ToolStarted {
            call_id: format!("call_{position}"),
        },
    )
}

fn finished(position: u64) -> Record {
    let reason = TerminationReason::Success;
    record(position, Event::Finished { reason })
}

fn ensure(holds: bool, what: &str) -> Checked {
    if holds { Ok(()) } else { Err(what.into()) }
}

fn refused<T>(outcome: Result<T, super::StoreError>, kind: StoreErrorKind, what: &str) -> Checked {
    match outcome {
        Ok(_) => Err(format!("{what}: it was allowed").into()),
        Err(error) if error.kind() == kind => Ok(()),
        Err(error) => {
            let other = error.kind();
            Err(format!("{what}: {other:?} instead of {kind:?}: {error}").into())
        }
    }
}

async fn unknown_runs_are_not_found(store: &dyn Store) -> Checked {
    refused(
        store.load("nowhere").await,
        StoreErrorKind::NotFound,
        "loading an unknown run",
    )?;
    refused(
        store.delete("nowhere").await,
        StoreErrorKind::NotFound,
        "deleting an unknown run",
    )
}

async fn records_come_back_as_they_were(store: &dyn Store) -> Checked {
    let lease = store.acquire("whole").await?;
    let all = vec![started("whole", 1)?, tool_started(1), finished(2)];
    store.append(&lease, &all[..1]).await?;
    store.append(&lease, &all[1..]).await?;
    let stored = store.load("whole").await?;
    ensure(stored.damage.is_none(), "a healthy run is called damaged")?;
    ensure(
        Vec::from(stored.run) == all,
        "a run does not come back as it was",
    )
}

async fn positions_have_no_gaps(store: &dyn Store) -> Checked {
    let lease = store.acquire("gaps").await?;
    let position = StoreErrorKind::Position;
    refused(
        store.append(&lease, &[tool_started(1)]).await,
        position,
        "beginning at 1",
    )?;
    store.append(&lease, &[started("gaps", 2)?]).await?;
    refused(
        store.append(&lease, &[tool_started(0)]).await,
        position,
        "repeating a position",
    )?;
    refused(
        store.append(&lease, &[tool_started(2)]).await,
        position,
        "leaving a gap",
    )?;

    let broken = [tool_started(1), tool_started(3)];
    refused(
        store.append(&lease, &broken).await,
        position,
        "a gap inside one append",
    )?;
    store.append(&lease, &[]).await?;
    store.append(&lease, &[tool_started(1)]).await?;
    let stored = store.load("gaps").await?;
    ensure(
        stored.run.records().len() == 2,
        "a refused append left something behind",
    )
}

async fn one_writer_at_a_time(store: &dyn Store) -> Checked {
    let lease = store.acquire("alone").await?;
    store.append(&lease, &[started("alone", 3)?]).await?;
    let busy = StoreErrorKind::Busy;
    refused(store.acquire("alone").await, busy, "a second writer")?;
    refused(store.delete("alone").await, busy, "deleting under a writer")?;
    store.load("alone").await?;
    drop(lease);
    store.acquire("alone").await?;
    Ok(())
}

async fn an_old_lease_cannot_write(store: &dyn Store) -> Checked {
    let first = store.acquire("fence").await?;
    store.append(&first, &[started("fence", 4)?]).await?;
    // The first writer is cut off: its lease is released without its knowledge.
    let stale = super::Lease::new("fence", first.fence(), ());
    drop(first);
    let second = store.acquire("fence").await?;
    ensure(
        second.fence() > stale.fence(),
        "fencing numbers do not grow",
    )?;
    let fenced = StoreErrorKind::Fenced;
    refused(
        store.append(&stale, &[tool_started(1)]).await,
        fenced,
        "writing with an old lease",
    )?;
    store.append(&second, &[tool_started(1)]).await?;
    Ok(())
}

async fn a_run_without_a_writer_is_interrupted(store: &dyn Store) -> Checked {
    let lease = store.acquire("a-writer").await?;
    store.append(&lease, &[started("a-writer", 4)?]).await?;
    let listed = async |status, what: &str| {
        let filter = RunFilter::all()
            .with_id_ending("-writer")
            .with_status(status);
        let runs = store.list(&filter).await?;
        ensure(runs.len() == 1 && runs[0].status == status, what)
    };
    listed(
        RunStatus::Running,
        "a run with a writer is not listed as running",
    )
    .await?;
    drop(lease);
    listed(
        RunStatus::Interrupted,
        "a run without a writer is not listed as interrupted",
    )
    .await?;
    let lease = store.acquire("a-writer").await?;
    let cancelled = Event::Failed {
        reason: TerminationReason::Cancelled,
        message: "cancelled".to_owned(),
    };
    store.append(&lease, &[record(1, cancelled)]).await?;
    listed(
        RunStatus::Cancelled,
        "a cancelled run is not listed as cancelled",
    )
    .await
}

async fn lists_are_filtered_and_ordered(store: &dyn Store) -> Checked {
    let call = Call {
        id: "c".into(),
        name: "t".into(),
        args: Values::new(),
        raw: None,
    };
    let origin = Origin {
        run_id: "asks",
        step: 0,
        nth: 0,
        tool: None,
    };
    let question = Asked::about(origin, QuestionKind::Confirm, &call);
    let confirmation_id = question.confirmation_id.clone();
    let lease = store.acquire("asks").await?;
    let asked = record(1, Event::Asked(Box::new(question)));
    store
        .append(&lease, &[started("asks", 100)?, asked])
        .await?;
    let status = |status| RunFilter::all().with_status(status);
    let paused = store.list(&status(RunStatus::Paused)).await?;
    let is_it = paused.len() == 1 && paused[0].run_id == "asks" && paused[0].open_questions == 1;
    ensure(is_it, "a waiting run is not listed as paused")?;
    let answered = Event::Answered {
        confirmation_id,
        decision: Decision::Approve,
        by: Answerer::Person,
    };
    store.append(&lease, &[record(2, answered)]).await?;
    let paused = store.list(&status(RunStatus::Paused)).await?;
    ensure(
        paused.is_empty(),
        "an answered run is still listed as paused",
    )?;
    let done = store.list(&status(RunStatus::Finished)).await?;
    let is_it = done.len() == 1 && done[0].termination_reason == Some(TerminationReason::Success);
    ensure(is_it, "a finished run is not listed as finished")?;
    let all = store.list(&RunFilter::all()).await?;
    ensure(
        all.is_sorted_by(|a, b| a.started >= b.started),
        "the newest run is not first",
    )?;
    ensure(
        all.first().is_some_and(|run| run.run_id == "asks"),
        "the newest run is not first",
    )?;
    let two = store.list(&RunFilter::all().with_limit(2)).await?;
    ensure(
        two.len() == 2 && two[..] == all[..2],
        "the limit does not keep the newest",
    )
}

async fn deleted_runs_are_gone(store: &dyn Store) -> Checked {
    store.delete("whole").await?;
    refused(
        store.load("whole").await,
        StoreErrorKind::NotFound,
        "loading a deleted run",
    )?;
    let all = store.list(&RunFilter::all()).await?;
    ensure(
        all.iter().all(|run| run.run_id != "whole"),
        "a deleted run is still listed",
    )?;
    // Its id can be used again for a new run.
    let lease = store.acquire("whole").await?;
    store.append(&lease, &[started("whole", 5)?]).await?;
    Ok(())
}
