//! Summaries of runs, in the tables `runs` and `agents`.

use enact_core::Timestamp;
use enact_core::run::store::{RunFilter, RunStatus, RunSummary};
use serde_json::json;
use sqlx::sqlite::SqliteRow;
use sqlx::{AssertSqlSafe, Row as _, SqliteConnection};

/// The summary of a run, if it can be read.
pub(crate) fn read(row: &SqliteRow) -> Option<RunSummary> {
    let number = |name| row.try_get::<i64, _>(name).ok();
    let text = |name| row.try_get::<String, _>(name).ok();
    let time = |name| Timestamp::from_nanosecond(number(name)?.into());
    let summary = json!({
        "run_id": text("run_id")?,
        "status": text("status")?,
        "signature": text("signature")?,
        "model": text("model")?,
        "started": time("started")?,
        "updated": time("updated")?,
        "steps": number("steps")?,
        "open_questions": number("open_questions")?,
        "termination_reason": text("termination_reason"),
        "records": number("records")?,
    });
    serde_json::from_value(summary).ok()
}

/// The summary of a run whose log cannot be read.
pub(crate) fn damaged(row: &SqliteRow) -> Result<RunSummary, sqlx::Error> {
    if let Some(mut summary) = read(row) {
        summary.status = RunStatus::Damaged;
        return Ok(summary);
    }
    let time = |name| {
        let at = row.try_get::<i64, _>(name).ok();
        let at = at.and_then(|at| Timestamp::from_nanosecond(at.into()));
        at.unwrap_or(Timestamp::UNIX_EPOCH)
    };
    let run_id: String = row.try_get("run_id")?;
    Ok(RunSummary::damaged(
        run_id,
        time("started"),
        time("updated"),
    ))
}

/// The summary of a run by its internal key, if it is readable.
pub(crate) async fn of_run(
    connection: &mut SqliteConnection,
    run: i64,
) -> Result<Option<RunSummary>, sqlx::Error> {
    let sql = select("run = ?");
    let query = sqlx::query(AssertSqlSafe(sql)).bind(run);
    Ok(read(&query.fetch_one(connection).await?))
}

/// Some of the possibly matching runs, newest first, after an offset. Each has its `run_id`, and what
/// [`read`] reads.
pub(crate) async fn page(
    connection: &mut SqliteConnection,
    filter: &RunFilter,
    (first, size): (usize, usize),
) -> Result<Vec<SqliteRow>, sqlx::Error> {
    let mut which = "records > 0".to_owned();
    let status = match filter.status {
        // The tables don't contain whether a run has a writer.
        Some(RunStatus::Interrupted) => Some(RunStatus::Running),
        Some(RunStatus::Damaged) | None => None,
        status => status,
    };
    // Separate statements, so that each can use its index.
    if status.is_some() {
        which.push_str(" AND status = ?");
    }
    if filter.id_ending.is_some() {
        which.push_str(" AND substr(run_id, -length(?)) = ?");
    }
    let sql = select(&which) + " ORDER BY started DESC, run_id DESC LIMIT ? OFFSET ?";
    let mut query = sqlx::query(AssertSqlSafe(sql));
    if let Some(status) = status {
        query = query.bind(status.as_str());
    }
    if let Some(ending) = &filter.id_ending {
        query = query.bind(ending).bind(ending);
    }
    let query = query.bind(size as i64).bind(first as i64);
    query.fetch_all(connection).await
}

fn select(which: &str) -> String {
    format!(
        "SELECT run, agent, run_id, records, status, started, updated, steps, open_questions,
             termination_reason, signature, model
         FROM runs LEFT JOIN agents USING (agent) WHERE {which}"
    )
}
