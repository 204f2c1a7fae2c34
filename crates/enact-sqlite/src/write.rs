//! Work for the tables, combined into few statements: each statement is a round trip to the database
//! thread.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use enact_core::run::store::RunSummary;
use sqlx::{AssertSqlSafe, SqliteConnection};

use crate::append::Append;
use crate::row::Row;
use crate::summary;

/// How much one statement writes.
const APPENDS: usize = 250;
const ROWS: usize = 500;
/// Statements for at most this many are prepared once and cached.
const FEW: usize = 4;

/// A piece of work.
#[derive(Debug)]
pub(crate) enum Work {
    /// Records at the end of a log.
    Append(Box<Append>),
    /// A new fencing number for the run with this name.
    Fence(String),
}

/// The result.
#[derive(Debug)]
pub(crate) enum Done {
    /// Whether the append was in turn. It isn't if its lease is outdated, or if the log has another end:
    /// nothing of it is written then.
    Appended(bool),
    Fenced(Box<Fenced>),
}

/// A run with a new fencing number, higher than any before.
#[derive(Debug)]
pub(crate) struct Fenced {
    pub(crate) run: i64,
    pub(crate) fence: i64,
    /// The summary of what is stored, if it can be read.
    pub(crate) summary: Option<RunSummary>,
}

impl Work {
    /// The number of rows, and approximately the number of bytes.
    pub(crate) fn rows(&self) -> usize {
        match self {
            Self::Append(append) => append.rows.len(),
            Self::Fence(_) => 1,
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Append(append) => append.rows.iter().map(|row| row.body.len()).sum(),
            Self::Fence(run_id) => run_id.len(),
        }
    }

    /// A caller started to write it, and gave up before the result was known.
    pub(crate) fn may_be_done(&mut self) {
        match self {
            Self::Append(append) => append.may_be_stored = true,
            // Another number does no harm.
            Self::Fence(_) => {}
        }
    }
}

/// Writes all of this in a transaction.
pub(crate) async fn write(
    connection: &mut SqliteConnection,
    all: &[&Work],
) -> Result<Vec<Done>, sqlx::Error> {
    let (mut appends, mut run_ids) = (Vec::with_capacity(all.len()), Vec::new());
    for work in all {
        match work {
            Work::Append(append) => appends.push(&**append),
            Work::Fence(run_id) => run_ids.push(&**run_id),
        }
    }
    // First: a caller that has lost its run must not write to it any more.
    let mut fenced = fence(connection, &run_ids).await?.into_iter();
    let mut appended = append(connection, &appends).await?.into_iter();
    let done = all.iter().map(|work| match work {
        Work::Append(_) => appended.next().map(Done::Appended),
        Work::Fence(_) => fenced.next().map(Box::new).map(Done::Fenced),
    });
    done.collect::<Option<_>>().ok_or(sqlx::Error::RowNotFound)
}

/// Gives runs new fencing numbers, including runs that don't exist yet.
async fn fence(
    connection: &mut SqliteConnection,
    run_ids: &[&str],
) -> Result<Vec<Fenced>, sqlx::Error> {
    let mut all = Vec::with_capacity(run_ids.len());
    for run_ids in run_ids.chunks(APPENDS) {
        let last: i64 = sqlx::query_scalar("UPDATE fences SET last = last + ? RETURNING last")
            .bind(run_ids.len() as i64)
            .fetch_one(&mut *connection)
            .await?;
        let first = last - run_ids.len() as i64 + 1;
        let sql = format!(
            "INSERT INTO runs (run_id, fence) {}
             ON CONFLICT (run_id) DO UPDATE SET fence = excluded.fence
             RETURNING run_id, run, records",
            values(2, run_ids.len())
        );
        let mut query = sqlx::query_as::<_, (String, i64, i64)>(AssertSqlSafe(sql))
            .persistent(run_ids.len() <= FEW);
        for (fence, run_id) in (first..).zip(run_ids) {
            query = query.bind(*run_id).bind(fence);
        }
        let found = query.fetch_all(&mut *connection).await?.into_iter();
        let found: HashMap<String, (i64, i64)> = found
            .map(|(run_id, run, records)| (run_id, (run, records)))
            .collect();
        for (fence, run_id) in (first..).zip(run_ids) {
            let (run, records) = found.get(*run_id).ok_or(sqlx::Error::RowNotFound)?;
            let summary = match records {
                0 => None,
                _ => summary::of_run(connection, *run).await?,
            };
            all.push(Fenced {
                run: *run,
                fence,
                summary,
            });
        }
    }
    Ok(all)
}

/// Writes appends, and returns for each whether it was in turn.
async fn append(
    connection: &mut SqliteConnection,
    appends: &[&Append],
) -> Result<Vec<bool>, sqlx::Error> {
    let mut written = vec![false; appends.len()];
    let (mut places, mut fresh) = (HashMap::new(), Vec::with_capacity(appends.len()));
    for (index, append) in appends.iter().enumerate() {
        if append.may_be_stored && is_stored(connection, append).await? {
            written[index] = true;
        } else if let Entry::Vacant(place) = places.entry(append.run) {
            // Of two for the same position, the first may be in turn.
            place.insert(index);
            fresh.push(*append);
        }
    }
    let in_turn = go_on(connection, &fresh).await?;
    fresh.retain(|append| in_turn.contains(&append.run));
    insert(connection, &fresh).await?;
    list(connection, &fresh).await?;
    name(connection, &fresh).await?;
    for append in fresh {
        written[places[&append.run]] = true;
    }
    Ok(written)
}

/// Moves the ends of the logs to which these append, and returns the runs.
async fn go_on(
    connection: &mut SqliteConnection,
    appends: &[&Append],
) -> Result<HashSet<i64>, sqlx::Error> {
    let mut in_turn = HashSet::with_capacity(appends.len());
    for appends in appends.chunks(APPENDS) {
        let sql = format!(
            "UPDATE runs SET records = column4, updated = column5, steps = column6,
                 open_questions = column7, termination_reason = column8
             FROM ({}) WHERE run = column1 AND fence = column2 AND records = column3
             RETURNING run",
            values(8, appends.len())
        );
        let mut query =
            sqlx::query_scalar::<_, i64>(AssertSqlSafe(sql)).persistent(appends.len() <= FEW);
        for append in appends {
            let first = append.rows.first().map_or(0, |row| row.position);
            let reason = append.summary.termination_reason;
            query = query
                .bind(append.run)
                .bind(append.fence)
                .bind(first)
                .bind(first + append.rows.len() as i64)
                .bind(append.updated)
                .bind(append.summary.steps.cast_signed())
                .bind(append.summary.open_questions.cast_signed())
                .bind(reason.map(|reason| reason.as_str()));
        }
        in_turn.extend(query.fetch_all(&mut *connection).await?);
    }
    Ok(in_turn)
}

async fn insert(connection: &mut SqliteConnection, appends: &[&Append]) -> Result<(), sqlx::Error> {
    let rows = appends
        .iter()
        .flat_map(|append| append.rows.iter().map(|row| (append.run, row)));
    let rows: Vec<(i64, &Row)> = rows.collect();
    for rows in rows.chunks(ROWS) {
        let sql = format!("INSERT INTO events {}", values(6, rows.len()));
        let mut query = sqlx::query(AssertSqlSafe(sql)).persistent(rows.len() <= FEW);
        for (run, row) in rows {
            query = query
                .bind(run)
                .bind(row.position)
                .bind(row.at)
                .bind(&*row.event)
                .bind(&*row.body)
                .bind(row.crc32);
        }
        query.execute(&mut *connection).await?;
    }
    Ok(())
}

fn values(columns: usize, rows: usize) -> String {
    let row = format!("({})", vec!["?"; columns].join(", "));
    format!("VALUES {}", vec![&*row; rows].join(", "))
}

/// Moves runs in their lists, whose indexes are only written then.
async fn list(connection: &mut SqliteConnection, appends: &[&Append]) -> Result<(), sqlx::Error> {
    let moving: Vec<_> = appends.iter().filter(|append| append.moves).collect();
    for appends in moving.chunks(APPENDS) {
        let sql = format!(
            "UPDATE runs SET status = column2, started = column3 FROM ({}) WHERE run = column1",
            values(3, appends.len())
        );
        let mut query = sqlx::query(AssertSqlSafe(sql)).persistent(appends.len() <= FEW);
        for append in appends {
            query = query
                .bind(append.run)
                .bind(append.summary.status.as_str())
                .bind(append.started);
        }
        query.execute(&mut *connection).await?;
    }
    Ok(())
}

/// Stores the agents of new runs.
async fn name(connection: &mut SqliteConnection, appends: &[&Append]) -> Result<(), sqlx::Error> {
    let mut agents: HashMap<&str, (&RunSummary, Vec<i64>)> = HashMap::new();
    for append in appends {
        if let Some(spec) = &append.spec {
            let (_, runs) = agents.entry(spec).or_insert((&append.summary, Vec::new()));
            runs.push(append.run);
        }
    }
    for (spec, (summary, runs)) in agents {
        let crc32 = i64::from(crc32fast::hash(spec.as_bytes()).cast_signed());
        sqlx::query(
            "INSERT INTO agents (crc32, signature, model, spec) SELECT $1, $2, $3, $4
             WHERE NOT EXISTS (SELECT 1 FROM agents WHERE crc32 = $1 AND spec = $4)",
        )
        .bind(crc32)
        .bind(&*summary.signature)
        .bind(&*summary.model)
        .bind(spec)
        .execute(&mut *connection)
        .await?;
        for runs in runs.chunks(APPENDS) {
            let sql = format!(
                "UPDATE runs SET agent = (SELECT agent FROM agents WHERE crc32 = ? AND spec = ?)
                 WHERE run IN ({})",
                vec!["?"; runs.len()].join(", ")
            );
            let query = sqlx::query(AssertSqlSafe(sql)).persistent(runs.len() <= FEW);
            let mut query = query.bind(crc32).bind(spec);
            for run in runs {
                query = query.bind(run);
            }
            query.execute(&mut *connection).await?;
        }
    }
    Ok(())
}

/// Whether the last record of an append exists.
async fn is_stored(
    connection: &mut SqliteConnection,
    append: &Append,
) -> Result<bool, sqlx::Error> {
    let Some(last) = append.rows.last() else {
        return Ok(true);
    };
    sqlx::query_scalar(
        "SELECT EXISTS (SELECT 1 FROM runs JOIN events USING (run)
         WHERE run = ? AND fence = ? AND position = ? AND crc32 = ?)",
    )
    .bind(append.run)
    .bind(append.fence)
    .bind(last.position)
    .bind(last.crc32)
    .fetch_one(connection)
    .await
}
