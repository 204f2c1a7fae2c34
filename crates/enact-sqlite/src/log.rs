//! Records in and out of the tables.

use enact::run::Record;
use enact::run::store::{Lease, RunFilter, RunSummary, StoreError, StoreErrorKind};
use sqlx::sqlite::SqliteRow;
use sqlx::{Row as _, SqliteConnection, SqlitePool};

use crate::error::{Failure, is_corrupt};

/// A log as far as it can be read.
pub(crate) struct Readable {
    pub(crate) records: Vec<Record>,
    /// What is wrong with the record after these, if there should be one.
    pub(crate) damage: Option<Damage>,
}

/// What is wrong with a record.
pub(crate) struct Damage {
    pub(crate) reason: String,
    /// Whether the record is lost. One that is whole but not understood is not.
    is_lost: bool,
}

/// About how many bytes are read at once. A row for each record would cost more than parsing it,
/// and one row for all may be more than SQLite allows.
const BATCH_BYTES: usize = 128 * 1024;
/// How many records are read at first, and at most.
const FIRST_BATCH: usize = 64;
const LARGEST_BATCH: usize = 1024;

/// Gives the run a new fencing number, higher than any before.
pub(crate) async fn next_fence(
    connection: &mut SqliteConnection,
    run_id: &str,
) -> Result<u64, Failure> {
    let fence: i64 = sqlx::query_scalar("UPDATE fences SET last = last + 1 RETURNING last")
        .fetch_one(&mut *connection)
        .await?;
    sqlx::query(
        "INSERT INTO runs (run_id, fence) VALUES (?, ?)
         ON CONFLICT (run_id) DO UPDATE SET fence = excluded.fence",
    )
    .bind(run_id)
    .bind(fence)
    .execute(connection)
    .await?;
    Ok(fence.cast_unsigned())
}

/// Appends records, inside of a transaction.
pub(crate) async fn append(
    connection: &mut SqliteConnection,
    lease: &Lease,
    records: &[Record],
) -> Result<(), Failure> {
    let run_id = lease.run_id();
    let found: Option<(i64, i64, Option<String>)> =
        sqlx::query_as("SELECT run, records, summary FROM runs WHERE run_id = ? AND fence = ?")
            .bind(run_id)
            .bind(lease.fence().cast_signed())
            .fetch_optional(&mut *connection)
            .await?;
    let (run, count, summary) = found.ok_or_else(|| StoreError::fenced(run_id))?;
    let Some(first) = records.first() else {
        return Ok(());
    };
    let is_next = first.position == count.cast_unsigned();
    let summary = summary.filter(|_| is_next);
    let mut summary: Option<RunSummary> =
        summary.and_then(|summary| serde_json::from_str(&summary).ok());
    let listed_as = summary.as_ref().map(|summary| summary.status);
    if summary.is_none() && count > 0 {
        summary = mend(connection, run, run_id, first.position).await?;
    } else if !is_next {
        return Err(StoreError::position(run_id, count.cast_unsigned(), first.position).into());
    }
    for (expected, record) in (first.position..).zip(records) {
        if record.position != expected {
            return Err(StoreError::position(run_id, expected, record.position).into());
        }
        match &mut summary {
            Some(summary) => summary.apply(record),
            None => summary = RunSummary::begin(record),
        }
        insert(connection, run, run_id, record).await?;
    }
    let Some(summary) = summary else {
        let message = format!("the first record of the run `{run_id}` must be its start");
        return Err(StoreError::new(StoreErrorKind::Corrupt, message).into());
    };
    let count = first.position + records.len() as u64;
    update(connection, run, count, &summary).await?;
    // The indexes are written only when a run moves in its list, which is seldom.
    if listed_as != Some(summary.status) {
        enlist(connection, run, &summary).await?;
    }
    Ok(())
}

async fn insert(
    connection: &mut SqliteConnection,
    run: i64,
    run_id: &str,
    record: &Record,
) -> Result<(), Failure> {
    let body = serde_json::to_string(record).map_err(unwritable)?;
    let position = record.position.cast_signed();
    sqlx::query("INSERT INTO events (run, position, body, checksum) VALUES (?, ?, ?, ?)")
        .bind(run)
        .bind(position)
        .bind(&body)
        .bind(checksum(run_id, position, body.as_bytes()))
        .execute(connection)
        .await?;
    Ok(())
}

async fn update(
    connection: &mut SqliteConnection,
    run: i64,
    records: u64,
    summary: &RunSummary,
) -> Result<(), Failure> {
    sqlx::query("UPDATE runs SET records = ?, summary = ? WHERE run = ?")
        .bind(records.cast_signed())
        .bind(serde_json::to_string(summary).map_err(unwritable)?)
        .bind(run)
        .execute(connection)
        .await?;
    Ok(())
}

async fn enlist(
    connection: &mut SqliteConnection,
    run: i64,
    summary: &RunSummary,
) -> Result<(), Failure> {
    let started = summary.started.as_nanosecond();
    let started = started.clamp(i64::MIN.into(), i64::MAX.into()) as i64;
    sqlx::query("UPDATE runs SET status = ?, started = ? WHERE run = ?")
        .bind(summary.status.as_str())
        .bind(started)
        .bind(run)
        .execute(connection)
        .await?;
    Ok(())
}

/// Makes room at the first damaged position, and gives the summary of what is before. The whole
/// log is read for this; a healthy log is appended to without.
async fn mend(
    connection: &mut SqliteConnection,
    run: i64,
    run_id: &str,
    position: u64,
) -> Result<Option<RunSummary>, Failure> {
    let readable = read(connection, run_id).await?;
    let Readable { records, damage } = readable.ok_or_else(|| StoreError::fenced(run_id))?;
    let end = records.len() as u64;
    if let Some(damage) = &damage
        && (!damage.is_lost || end == 0)
    {
        return Err(unreadable(run_id, damage).into());
    }
    if position != end {
        return Err(StoreError::position(run_id, end, position).into());
    }
    sqlx::query("DELETE FROM events WHERE run = ? AND position >= ?")
        .bind(run)
        .bind(end.cast_signed())
        .execute(connection)
        .await?;
    Ok(summarise(&records))
}

fn summarise(records: &[Record]) -> Option<RunSummary> {
    let (first, rest) = records.split_first()?;
    let mut summary = RunSummary::begin(first)?;
    rest.iter().for_each(|record| summary.apply(record));
    Some(summary)
}

/// Reads a log, inside of a transaction, so that all of it is of one state of the database. None if
/// there is no such run.
pub(crate) async fn read(
    connection: &mut SqliteConnection,
    run_id: &str,
) -> Result<Option<Readable>, Failure> {
    let found: Option<(i64, i64)> =
        sqlx::query_as("SELECT run, records FROM runs WHERE run_id = ? AND records > 0")
            .bind(run_id)
            .fetch_optional(&mut *connection)
            .await?;
    let Some((run, count)) = found else {
        return Ok(None);
    };
    let mut records = Vec::new();
    let (mut size, mut largest) = (FIRST_BATCH, LARGEST_BATCH);
    let damage = loop {
        let before = records.len();
        match read_batch(connection, run, before, size).await {
            Ok(row) => {
                let batch = row.try_get::<Option<&[u8]>, _>(0)?.unwrap_or_default();
                if batch.is_empty() {
                    let is_short = (before as u64) < count.cast_unsigned();
                    break is_short.then(|| Damage::lost(before, "is missing"));
                }
                if let Err(damage) = take_batch(run_id, batch, &mut records) {
                    break Some(damage);
                }
                let each = batch.len() / (records.len() - before);
                size = (BATCH_BYTES / each.max(1)).clamp(1, largest);
            }
            // One by one, those before the one that cannot be read can.
            Err(_) if size > 1 => (size, largest) = (1, 1),
            Err(error) if !records.is_empty() && is_corrupt(&error) => {
                let why = format!("is on a damaged page of the database: {error}");
                break Some(Damage::lost(records.len(), &why));
            }
            Err(error) => return Err(error.into()),
        }
    };
    Ok(Some(Readable { records, damage }))
}

/// The next records in one row, each after its position, its checksum and its length. They are
/// bytes because damage can leave text that is not UTF-8.
async fn read_batch(
    connection: &mut SqliteConnection,
    run: i64,
    first: usize,
    size: usize,
) -> Result<SqliteRow, sqlx::Error> {
    sqlx::query(
        "SELECT CAST(group_concat(item, '') AS BLOB) FROM (
             SELECT position || ' ' || checksum || ' ' || octet_length(body) || ' ' || body AS item
             FROM events WHERE run = ? AND position >= ? ORDER BY position LIMIT ?
         )",
    )
    .bind(run)
    .bind(first as i64)
    .bind(size as i64)
    .fetch_one(connection)
    .await
}

/// Takes the records of a batch, up to the first that is damaged.
fn take_batch(run_id: &str, batch: &[u8], records: &mut Vec<Record>) -> Result<(), Damage> {
    let mut rest = batch;
    while !rest.is_empty() {
        let record = check(run_id, records.len(), &mut rest)?;
        records.push(record);
    }
    Ok(())
}

fn check(run_id: &str, expected: usize, rest: &mut &[u8]) -> Result<Record, Damage> {
    let position = take_number(rest).filter(|position| usize::try_from(*position) == Ok(expected));
    let Some(position) = position else {
        return Err(Damage::lost(expected, "is missing"));
    };
    let stored = take_number(rest);
    let length = take_number(rest).and_then(|length| usize::try_from(length).ok());
    let body = length.and_then(|length| rest.split_off(..length));
    let Some(body) = body.filter(|body| Some(checksum(run_id, position, body)) == stored) else {
        return Err(Damage::lost(expected, "does not match its checksum"));
    };
    serde_json::from_slice(body).map_err(|error| Damage {
        reason: format!("record {expected} is whole, but not understood by this enact: {error}"),
        is_lost: false,
    })
}

/// A number, and the space after it.
fn take_number(rest: &mut &[u8]) -> Option<i64> {
    let end = rest.iter().position(|byte| *byte == b' ')?;
    let number = rest.split_off(..=end)?;
    str::from_utf8(&number[..end]).ok()?.parse().ok()
}

impl Damage {
    fn lost(position: usize, what: &str) -> Self {
        Self {
            reason: format!("record {position} {what}"),
            is_lost: true,
        }
    }
}

/// The error for a log that cannot be read, or not be gone on with.
pub(crate) fn unreadable(run_id: &str, damage: &Damage) -> StoreError {
    let advice = if damage.is_lost {
        "restore the database from a copy, or delete the run"
    } else {
        "go on with it in the enact that wrote it"
    };
    let message = format!(
        "the run `{run_id}` cannot be used: {}: {advice}",
        damage.reason
    );
    StoreError::new(StoreErrorKind::Corrupt, message)
}

/// The runs that fit, newest first.
pub(crate) async fn list(
    connection: &mut SqliteConnection,
    filter: &RunFilter,
) -> Result<Vec<RunSummary>, Failure> {
    // Two statements, so that each can use its index.
    let query = match filter.status {
        Some(status) => sqlx::query_as(
            "SELECT run_id, summary FROM runs WHERE status = ?
             ORDER BY started DESC, run_id DESC LIMIT ?",
        )
        .bind(status.as_str()),
        None => sqlx::query_as(
            "SELECT run_id, summary FROM runs WHERE started IS NOT NULL
             ORDER BY started DESC, run_id DESC LIMIT ?",
        ),
    };
    let limit = filter.limit.map_or(-1, i64::from);
    let rows: Vec<(String, String)> = query.bind(limit).fetch_all(&mut *connection).await?;
    let mut list = Vec::with_capacity(rows.len());
    for (run_id, summary) in rows {
        match serde_json::from_str(&summary) {
            Ok(summary) => list.push(summary),
            // The log is what counts: the summary can be had from it again.
            Err(_) => {
                let readable = read(connection, &run_id).await?;
                list.extend(readable.and_then(|readable| summarise(&readable.records)));
            }
        }
    }
    Ok(list)
}

/// Forgets a run. Says whether there was one.
pub(crate) async fn delete(pool: &SqlitePool, run_id: &str) -> Result<bool, Failure> {
    let done = sqlx::query("DELETE FROM runs WHERE run_id = ? AND records > 0")
        .bind(run_id)
        .execute(pool)
        .await?;
    Ok(done.rows_affected() > 0)
}

/// Over the place as well as the content: a row in the wrong place is damaged too. FNV-1a in 64 bits:
/// it is there for accidents, which it sees for few instructions a byte.
fn checksum(run_id: &str, position: i64, body: &[u8]) -> i64 {
    const BASIS: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0100_0000_01b3;
    let position = position.to_le_bytes();
    let bytes = run_id.as_bytes().iter().chain(&position).chain(body);
    bytes
        .fold(BASIS, |sum, byte| {
            (sum ^ u64::from(*byte)).wrapping_mul(PRIME)
        })
        .cast_signed()
}

fn unwritable(error: serde_json::Error) -> Failure {
    let message = "a record cannot be written as JSON: this is a defect of enact, report it";
    StoreError::new(StoreErrorKind::Io, message)
        .with_source(error)
        .into()
}
