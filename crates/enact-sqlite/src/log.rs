//! Reads records from the tables.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::Path;

use enact_core::Timestamp;
use enact_core::run::Record;
use enact_core::run::store::{RunFilter, RunStatus, RunSummary, StoreError, StoreErrorKind};
use sqlx::sqlite::SqliteRow;
use sqlx::{Row as _, SqliteConnection};

use crate::connect::Writer;
use crate::error::{Failure, is_corrupt};
use crate::lock;
use crate::row;
use crate::summary;

/// The readable part of a log.
pub(crate) struct Readable {
    pub(crate) records: Vec<Record>,
    /// The problem with the next record, if there should be one.
    pub(crate) damage: Option<Damage>,
}

/// A problem with a record.
pub(crate) struct Damage {
    pub(crate) reason: String,
    /// Whether the record is lost. One that is intact but unknown is not.
    pub(crate) is_lost: bool,
}

/// The approximate number of bytes to read at once: a single row for all may exceed SQLite's limit.
const BATCH_BYTES: usize = 128 * 1024;
/// The number of records to read at first, and at most.
const FIRST_BATCH: usize = 64;
const LARGEST_BATCH: usize = 1024;

pub(crate) fn summarise(records: &[Record]) -> Option<RunSummary> {
    let (first, rest) = records.split_first()?;
    let mut summary = RunSummary::begin(first)?;
    rest.iter().for_each(|record| summary.apply(record));
    Some(summary)
}

/// Reads a log in a transaction, so that all of it is from one state of the database. None if the run
/// doesn't exist.
pub(crate) async fn read(
    connection: &mut SqliteConnection,
    run_id: &str,
) -> Result<Option<Readable>, Failure> {
    let found: Option<(i64, i64, Option<Vec<u8>>)> = sqlx::query_as(
        "SELECT run, records, CAST(spec AS BLOB) FROM runs LEFT JOIN agents USING (agent)
         WHERE run_id = ? AND records > 0",
    )
    .bind(run_id)
    .fetch_optional(&mut *connection)
    .await?;
    let Some((run, count, spec)) = found else {
        return Ok(None);
    };
    // If it is missing or not text, the checksum of the run's start doesn't match.
    let spec = spec.and_then(|spec| String::from_utf8(spec).ok());
    let spec = spec.unwrap_or_default();
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
                if let Err(damage) = take_batch(run_id, &spec, batch, &mut records) {
                    break Some(damage);
                }
                let each = batch.len() / (records.len() - before).max(1);
                size = (BATCH_BYTES / each.max(1)).clamp(1, largest);
            }
            // One by one, those before the unreadable one are readable.
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

/// The next rows as one, each after its length and flags: a row for each record would cost more than
/// parsing it.
async fn read_batch(
    connection: &mut SqliteConnection,
    run: i64,
    first: usize,
    size: usize,
) -> Result<SqliteRow, sqlx::Error> {
    sqlx::query(
        "SELECT CAST(group_concat(item, '') AS BLOB) FROM (
             SELECT position || ' ' || at || ' ' || crc32 || ' ' || octet_length(body) || ' '
                 || event || ' ' || body AS item
             FROM events WHERE run = ? AND position >= ? ORDER BY position LIMIT ?
         )",
    )
    .bind(run)
    .bind(first as i64)
    .bind(size as i64)
    .fetch_one(connection)
    .await
}

/// Takes the records of a batch, up to the first damaged one.
fn take_batch(
    run_id: &str,
    spec: &str,
    batch: &[u8],
    records: &mut Vec<Record>,
) -> Result<(), Damage> {
    let mut rest = batch;
    while !rest.is_empty() {
        let position = records.len();
        // Only the start of a run contains its agent.
        let spec = if position == 0 { spec } else { "" };
        let row = check(run_id, spec, position, &mut rest)?;
        let event = row::event(row.event, row.body, spec);
        let at = Timestamp::from_nanosecond(row.at.into());
        records.push(Record {
            position: position as u64,
            at: at.ok_or_else(|| not_understood(position, &"its time is out of range"))?,
            event: event.map_err(|error| not_understood(position, &error))?,
        });
    }
    Ok(())
}

fn not_understood(record: usize, error: &dyn std::fmt::Display) -> Damage {
    Damage {
        reason: format!("record {record} is whole, but not understood by this enact: {error}"),
        is_lost: false,
    }
}

/// A stored record, without its position.
struct Stored<'a> {
    at: i64,
    event: &'a str,
    body: &'a str,
}

/// The next row.
fn check<'a>(
    run_id: &str,
    spec: &str,
    expected: usize,
    rest: &mut &'a [u8],
) -> Result<Stored<'a>, Damage> {
    let position = take_number(rest).filter(|position| usize::try_from(*position) == Ok(expected));
    let Some(position) = position else {
        return Err(Damage::lost(expected, "is missing"));
    };
    let mut take = || {
        let (at, crc32) = (take_number(rest)?, take_number(rest)?);
        let length = usize::try_from(take_number(rest)?).ok()?;
        let (event, body) = (take_word(rest)?, rest.split_off(..length)?);
        let is_sound = row::checksum(run_id, position, at, event, body, spec) == crc32;
        let body = str::from_utf8(body).ok().filter(|_| is_sound)?;
        Some(Stored { at, event, body })
    };
    take().ok_or_else(|| Damage::lost(expected, "does not match its checksum"))
}

/// A word, and the space after it.
fn take_word<'a>(rest: &mut &'a [u8]) -> Option<&'a str> {
    let end = rest.iter().position(|byte| *byte == b' ')?;
    let word = rest.split_off(..=end)?;
    str::from_utf8(&word[..end]).ok()
}

fn take_number(rest: &mut &[u8]) -> Option<i64> {
    take_word(rest)?.parse().ok()
}

impl Damage {
    fn lost(position: usize, what: &str) -> Self {
        Self {
            reason: format!("record {position} {what}"),
            is_lost: true,
        }
    }
}

/// The error for a log that cannot be read or appended to.
pub(crate) fn unreadable(run_id: &str, damage: &Damage) -> StoreError {
    let advice = if damage.is_lost {
        "restore the database from a copy, or delete the run"
    } else {
        "go on with it in the enact that wrote it"
    };
    let message = format!("the run `{run_id}` is damaged: {}: {advice}", damage.reason);
    StoreError::new(StoreErrorKind::Corrupt, message)
}

/// The number of runs to list at once.
const PAGE: usize = 100;

/// Descriptions of agents, by key.
type Specs = HashMap<Option<i64>, String>;

/// The matching runs, newest first. Their locks are in this directory.
pub(crate) async fn list(
    connection: &mut SqliteConnection,
    filter: &RunFilter,
    locks: &Path,
) -> Result<Vec<RunSummary>, Failure> {
    let limit = filter.limit.map_or(usize::MAX, |limit| limit as usize);
    let (mut list, mut specs, mut seen) = (Vec::new(), Specs::new(), 0);
    while list.len() < limit {
        let rows = summary::page(connection, filter, (seen, PAGE)).await?;
        for row in &rows {
            let summary = listed(connection, row, &mut specs).await?;
            let has_writer =
                summary.status == RunStatus::Running && lock::is_held(locks, &summary.run_id)?;
            let summary = summary.with_writer(has_writer);
            if list.len() < limit && filter.fits(&summary) {
                list.push(summary);
            }
        }
        if rows.len() < PAGE {
            break;
        }
        seen += PAGE;
    }
    Ok(list)
}

/// The summary of a run.
async fn listed(
    connection: &mut SqliteConnection,
    row: &SqliteRow,
    specs: &mut Specs,
) -> Result<RunSummary, Failure> {
    if !has_start(connection, row, specs).await? {
        return Ok(summary::damaged(row)?);
    }
    if let Some(summary) = summary::read(row) {
        return Ok(summary);
    }
    // The log is authoritative: the summary can be recomputed from it.
    let readable = read(connection, row.try_get("run_id")?).await?;
    let summary = readable.and_then(|readable| summarise(&readable.records));
    match summary {
        Some(summary) => Ok(summary),
        None => Ok(summary::damaged(row)?),
    }
}

/// Whether the start of a run exists and is intact.
async fn has_start(
    connection: &mut SqliteConnection,
    row: &SqliteRow,
    specs: &mut Specs,
) -> Result<bool, Failure> {
    let (run, run_id): (i64, String) = (row.try_get("run")?, row.try_get("run_id")?);
    let agent: Option<i64> = row.try_get("agent")?;
    let spec = match specs.entry(agent) {
        Entry::Occupied(known) => known.into_mut(),
        Entry::Vacant(place) => {
            let found = sqlx::query_scalar("SELECT CAST(spec AS BLOB) FROM agents WHERE agent = ?")
                .bind(agent)
                .fetch_optional(&mut *connection);
            let spec: Option<Vec<u8>> = unless_corrupt(found.await)?.flatten();
            let spec = spec.and_then(|spec| String::from_utf8(spec).ok());
            place.insert(spec.unwrap_or_default())
        }
    };
    let found = sqlx::query_as(
        "SELECT at, crc32, CAST(event AS BLOB), CAST(body AS BLOB) FROM events
         WHERE run = ? AND position = 0",
    )
    .bind(run)
    .fetch_optional(connection);
    let found: Option<(i64, i64, Vec<u8>, Vec<u8>)> = unless_corrupt(found.await)?.flatten();
    Ok(found.is_some_and(|(at, crc32, event, body)| {
        let event = str::from_utf8(&event).unwrap_or_default();
        row::checksum(&run_id, 0, at, event, &body, spec) == crc32
    }))
}

/// The result; none on a damaged page.
fn unless_corrupt<T>(found: Result<T, sqlx::Error>) -> Result<Option<T>, Failure> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(error) if is_corrupt(&error) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Deletes a run. Returns whether it existed.
pub(crate) async fn delete(writer: &Writer, run_id: &str) -> Result<bool, Failure> {
    let done = sqlx::query("DELETE FROM runs WHERE run_id = ? AND records > 0")
        .bind(run_id)
        .execute(&mut *writer.turn().await?)
        .await?;
    Ok(done.rows_affected() > 0)
}
