//! Writes records to the tables.

use std::sync::{Mutex, PoisonError};

use enact_core::run::Record;
use enact_core::run::store::{Lease, RunSummary, StoreError, StoreErrorKind};
use sqlx::{Connection as _, SqliteConnection};

use crate::connect::{self, Writer};
use crate::error::Failure;
use crate::lock::RunLock;
use crate::log::{self, Readable};
use crate::row::{self, Row};
use crate::write::{self, Done, Work};

/// What a lease keeps, so that an append doesn't have to read.
pub(crate) struct Held {
    _lock: RunLock,
    /// The internal key of the run.
    run: i64,
    /// The summary of the stored records, if it can be read.
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

/// Records to be written atomically.
#[derive(Debug)]
pub(crate) struct Append {
    pub(crate) run: i64,
    pub(crate) fence: i64,
    /// The description of the agent, if the run starts.
    pub(crate) spec: Option<String>,
    /// At least one record.
    pub(crate) rows: Vec<Row>,
    pub(crate) summary: RunSummary,
    /// When the run started and was last written to, in nanoseconds since 1970.
    pub(crate) started: i64,
    pub(crate) updated: i64,
    /// Whether the run moves in its lists, whose indexes are only written then.
    pub(crate) moves: bool,
    /// Whether it may have been written already, by a caller that gave up before it was confirmed.
    pub(crate) may_be_stored: bool,
}

/// Gives the run a new fencing number, higher than any before.
pub(crate) async fn fence(writer: &Writer, run_id: &str, lock: RunLock) -> Result<Lease, Failure> {
    let fenced = writer.fence(run_id).await?;
    let held = Held {
        _lock: lock,
        run: fenced.run,
        summary: Mutex::new(fenced.summary),
    };
    Ok(Lease::new(run_id, fenced.fence.cast_unsigned(), held))
}

/// Appends records atomically.
pub(crate) async fn append(
    writer: &Writer,
    lease: &Lease,
    records: &[Record],
) -> Result<(), Failure> {
    let held = lease.guard().ok_or_else(|| {
        let message = "the lease is of another store: acquire the run from this one";
        StoreError::new(StoreErrorKind::Fenced, message)
    })?;
    let Some(first) = records.first() else {
        stored(&mut *writer.turn().await?, lease, held).await?;
        return Ok(());
    };
    let known = held.summary();
    if known.as_ref().map_or(0, |known| known.records) == first.position {
        let append = Append::new(lease, held, known, records)?;
        let summary = append.summary.clone();
        if writer.append(append).await? {
            held.take(summary);
            return Ok(());
        }
        // The lease is outdated, or the log has another end.
    }
    let mut connection = writer.turn().await?;
    let mut transaction = connection.begin_with(connect::BEGIN).await?;
    let before = mend(&mut transaction, lease, held, first.position).await?;
    let append = Append::new(lease, held, before, records)?;
    let summary = append.summary.clone();
    let done = write::write(&mut transaction, &[&Work::Append(append.into())]).await?;
    if !matches!(done[..], [Done::Appended(true)]) {
        return Err(StoreError::fenced(lease.run_id()).into());
    }
    transaction.commit().await?;
    held.take(summary);
    Ok(())
}

/// The number of stored records, if the lease is the newest.
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

/// The summary after these records, if they are consecutive.
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

impl Append {
    /// An append after the records in this summary.
    fn new(
        lease: &Lease,
        held: &Held,
        before: Option<RunSummary>,
        records: &[Record],
    ) -> Result<Self, Failure> {
        let status = before.as_ref().map(|before| before.status);
        let summary = follow(lease, before, records)?;
        let mut spec = None;
        let mut rows = Vec::with_capacity(records.len());
        for record in records {
            let (row, agent) = Row::new(lease.run_id(), record)?;
            rows.push(row);
            spec = spec.or(agent);
        }
        Ok(Self {
            run: held.run,
            fence: lease.fence().cast_signed(),
            spec,
            rows,
            moves: status != Some(summary.status),
            started: row::nanoseconds(summary.started)?,
            updated: row::nanoseconds(summary.updated)?,
            summary,
            may_be_stored: false,
        })
    }
}

/// Removes everything from the first damaged position, and returns the summary of what is before. This
/// reads the whole log; appends to a healthy log don't.
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
