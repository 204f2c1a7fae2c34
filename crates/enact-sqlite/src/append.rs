//! Records into the tables.

use std::sync::{Mutex, PoisonError};

use enact_core::run::Record;
use enact_core::run::store::{Lease, RunSummary, StoreError, StoreErrorKind};
use sqlx::{Connection as _, SqliteConnection};

use crate::connect::{self, Writer};
use crate::error::{Failure, is_raised};
use crate::lock::RunLock;
use crate::log::{self, Readable};
use crate::shorthand;

/// What a lease keeps, so that an append has nothing to read.
pub(crate) struct Held {
    _lock: RunLock,
    /// The short key of the run.
    run: i64,
    /// The summary of what is stored, if it can be read.
    summary: Mutex<Option<RunSummary>>,
}

impl Held {
    fn summary(&self) -> Option<RunSummary> {
        let summary = self.summary.lock();
        summary.unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn take(&self, summary: RunSummary) {
        let mut known = self.summary.lock().unwrap_or_else(PoisonError::into_inner);
        *known = Some(summary);
    }
}

/// Gives the run a new fencing number, higher than any before.
pub(crate) async fn fence(writer: &Writer, run_id: &str, lock: RunLock) -> Result<Lease, Failure> {
    let mut connection = writer.turn().await?;
    let mut transaction = connection.begin_with(connect::BEGIN).await?;
    let fence: i64 = sqlx::query_scalar("UPDATE fences SET last = last + 1 RETURNING last")
        .fetch_one(&mut *transaction)
        .await?;
    let (run, summary): (i64, Option<String>) = sqlx::query_as(
        "INSERT INTO runs (run_id, fence) VALUES (?, ?)
         ON CONFLICT (run_id) DO UPDATE SET fence = excluded.fence RETURNING run, summary",
    )
    .bind(run_id)
    .bind(fence)
    .fetch_one(&mut *transaction)
    .await?;
    transaction.commit().await?;
    let summary = summary.and_then(|summary| serde_json::from_str(&summary).ok());
    let held = Held {
        _lock: lock,
        run,
        summary: Mutex::new(summary),
    };
    Ok(Lease::new(run_id, fence.cast_unsigned(), held))
}

/// Appends records, all of them or none.
pub(crate) async fn append(
    writer: &Writer,
    lease: &Lease,
    records: &[Record],
) -> Result<(), Failure> {
    let held = lease.guard().ok_or_else(|| {
        let message = "the lease is of another store: acquire the run from this one";
        StoreError::new(StoreErrorKind::Fenced, message)
    })?;
    let mut connection = writer.turn().await?;
    let Some(first) = records.first() else {
        stored(&mut connection, lease, held).await?;
        return Ok(());
    };
    let known = held.summary();
    if known.is_some() || first.position == 0 {
        let summary = follow(lease, known, records)?;
        match insert(&mut connection, lease, held, records, &summary).await {
            // It was not this writer's turn, or the log ends elsewhere.
            Err(Failure::Sql(error)) if is_raised(&error) => {}
            inserted => {
                inserted?;
                held.take(summary);
                return Ok(());
            }
        }
    }
    let mut transaction = connection.begin_with(connect::BEGIN).await?;
    let before = mend(&mut transaction, lease, held, first.position).await?;
    let summary = follow(lease, before, records)?;
    insert(&mut transaction, lease, held, records, &summary).await?;
    transaction.commit().await?;
    held.take(summary);
    Ok(())
}

/// How many records are stored, if the lease is the newest.
async fn stored(
    connection: &mut SqliteConnection,
    lease: &Lease,
    held: &Held,
) -> Result<u64, Failure> {
    let count: Option<i64> =
        sqlx::query_scalar("SELECT records FROM runs WHERE run = ? AND fence = ?")
            .bind(held.run)
            .bind(lease.fence().cast_signed())
            .fetch_optional(connection)
            .await?;
    let count = count.ok_or_else(|| StoreError::fenced(lease.run_id()))?;
    Ok(count.cast_unsigned())
}

/// The summary after these records, if they follow one another.
fn follow(
    lease: &Lease,
    mut summary: Option<RunSummary>,
    records: &[Record],
) -> Result<RunSummary, Failure> {
    let run_id = lease.run_id();
    let first = records.first().map_or(0, |record| record.position);
    for (expected, record) in (first..).zip(records) {
        if record.position != expected {
            return Err(StoreError::position(run_id, expected, record.position).into());
        }
        match &mut summary {
            Some(summary) => summary.apply(record),
            None => summary = RunSummary::begin(record),
        }
    }
    summary.ok_or_else(|| {
        let message = format!("the first record of the run `{run_id}` must be its start");
        StoreError::new(StoreErrorKind::Corrupt, message).into()
    })
}

/// About what a record takes as JSON. A small one takes half of it.
const ROOM: usize = 512;

/// Inserts all records or none. The database checks the turn and keeps the summary, see the trigger
/// of `appends`.
async fn insert(
    connection: &mut SqliteConnection,
    lease: &Lease,
    held: &Held,
    records: &[Record],
    summary: &RunSummary,
) -> Result<(), Failure> {
    let first = records.first().map_or(0, |record| record.position);
    let mut lines = Vec::with_capacity(ROOM * records.len());
    for record in records {
        if !lines.is_empty() {
            lines.push(b'\n');
        }
        serde_json::to_writer(&mut lines, record).map_err(unwritable)?;
    }
    let body = shorthand::shorten(&lines);
    let checksum = log::checksum(lease.run_id(), first.cast_signed(), &body);
    let started = summary.started.as_nanosecond();
    let started = started.clamp(i64::MIN.into(), i64::MAX.into()) as i64;
    sqlx::query(
        "INSERT INTO appends
         (run, fence, summary, status, started, position, next, body, checksum)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
    )
    .bind(held.run)
    .bind(lease.fence().cast_signed())
    .bind(serde_json::to_string(summary).map_err(unwritable)?)
    .bind(summary.status.as_str())
    .bind(started)
    .bind(first.cast_signed())
    .bind(first.cast_signed() + records.len() as i64)
    .bind(body)
    .bind(checksum)
    .execute(connection)
    .await?;
    Ok(())
}

/// Makes room at the first damaged position, and gives the summary of what is before. The whole
/// log is read for this; a healthy log is appended to without.
async fn mend(
    connection: &mut SqliteConnection,
    lease: &Lease,
    held: &Held,
    position: u64,
) -> Result<Option<RunSummary>, Failure> {
    let run_id = lease.run_id();
    if stored(connection, lease, held).await? == 0 {
        return Err(StoreError::position(run_id, 0, position).into());
    }
    let readable = log::read(connection, run_id).await?;
    let Readable { records, damage } = readable.ok_or_else(|| StoreError::fenced(run_id))?;
    let end = records.len() as u64;
    if let Some(damage) = &damage
        && (!damage.is_lost || end == 0)
    {
        return Err(log::unreadable(run_id, damage).into());
    }
    if position != end {
        return Err(StoreError::position(run_id, end, position).into());
    }
    sqlx::query("DELETE FROM events WHERE run = ? AND position >= ?")
        .bind(held.run)
        .bind(end.cast_signed())
        .execute(&mut *connection)
        .await?;
    sqlx::query("UPDATE runs SET records = ? WHERE run = ?")
        .bind(end.cast_signed())
        .bind(held.run)
        .execute(connection)
        .await?;
    Ok(log::summarise(&records))
}

fn unwritable(error: serde_json::Error) -> Failure {
    let message = "a record cannot be written as JSON: this is a defect of enact, report it";
    StoreError::new(StoreErrorKind::Io, message)
        .with_source(error)
        .into()
}
