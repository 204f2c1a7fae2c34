//! Records out of the tables.

use enact_core::run::Record;
use enact_core::run::store::{RunFilter, RunSummary, StoreError, StoreErrorKind};
use sqlx::sqlite::SqliteRow;
use sqlx::{Row as _, SqliteConnection};

use crate::connect::Writer;
use crate::error::{Failure, is_corrupt};
use crate::shorthand;

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
    pub(crate) is_lost: bool,
}

/// About how many bytes are read at once. A row for each append would cost more than parsing it,
/// and one row for all may be more than SQLite allows.
const BATCH_BYTES: usize = 128 * 1024;
/// How many appends are read at first, and at most.
const FIRST_BATCH: usize = 64;
const LARGEST_BATCH: usize = 1024;

pub(crate) fn summarise(records: &[Record]) -> Option<RunSummary> {
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
                match take_batch(run_id, batch, &mut records) {
                    Ok(appends) => {
                        let each = batch.len() / appends.max(1);
                        size = (BATCH_BYTES / each.max(1)).clamp(1, largest);
                    }
                    Err(damage) => break Some(damage),
                }
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

/// The next appends in one row, each after its position, its checksum and its length.
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

/// Takes the records of a batch, up to the first append that is damaged, and tells how many appends
/// there were.
fn take_batch(run_id: &str, batch: &[u8], records: &mut Vec<Record>) -> Result<usize, Damage> {
    let (mut rest, mut appends) = (batch, 0);
    let mut lines = Vec::new();
    while !rest.is_empty() {
        lines.clear();
        shorthand::expand(check(run_id, records.len(), &mut rest)?, &mut lines);
        // Checked once, and not text by text.
        let lines =
            str::from_utf8(&lines).map_err(|error| not_understood(records.len(), &error))?;
        for line in lines.split('\n') {
            let record = serde_json::from_str(line);
            records.push(record.map_err(|error| not_understood(records.len(), &error))?);
        }
        appends += 1;
    }
    Ok(appends)
}

fn not_understood(record: usize, error: &dyn std::error::Error) -> Damage {
    Damage {
        reason: format!("record {record} is whole, but not understood by this enact: {error}"),
        is_lost: false,
    }
}

/// The next append, in shorthand.
fn check<'a>(run_id: &str, expected: usize, rest: &mut &'a [u8]) -> Result<&'a [u8], Damage> {
    let position = take_number(rest).filter(|position| usize::try_from(*position) == Ok(expected));
    let Some(position) = position else {
        return Err(Damage::lost(expected, "is missing"));
    };
    let stored = take_number(rest);
    let length = take_number(rest).and_then(|length| usize::try_from(length).ok());
    let body = length.and_then(|length| rest.split_off(..length));
    body.filter(|body| Some(checksum(run_id, position, body)) == stored)
        .ok_or_else(|| Damage::lost(expected, "does not match its checksum"))
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
pub(crate) async fn delete(writer: &Writer, run_id: &str) -> Result<bool, Failure> {
    let done = sqlx::query("DELETE FROM runs WHERE run_id = ? AND records > 0")
        .bind(run_id)
        .execute(&mut *writer.turn().await?)
        .await?;
    Ok(done.rows_affected() > 0)
}

/// Over the place as well as the content: a row in the wrong place is damaged too. It is there for
/// accidents, which it sees for few instructions: word by word, and each step can be undone, so that
/// no single change is lost on the way.
pub(crate) fn checksum(run_id: &str, position: i64, body: &[u8]) -> i64 {
    const BASIS: u64 = 0xcbf2_9ce4_8422_2325;
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let mix = |sum: u64, word: u64| (sum ^ word).wrapping_mul(FACTOR).rotate_left(29);
    let mut sum = mix(BASIS, position.cast_unsigned());
    for bytes in [run_id.as_bytes(), body] {
        let (words, rest) = bytes.as_chunks();
        for word in words {
            sum = mix(sum, u64::from_le_bytes(*word));
        }
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        sum = mix(sum, u64::from_le_bytes(last));
        sum = mix(sum, bytes.len() as u64);
    }
    sum.cast_signed()
}
