//! What a list shows of a run, in the tables `runs` and `agents`.

use enact_core::Timestamp;
use enact_core::run::store::{RunFilter, RunSummary};
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

/// The summary of a run by its short key, if it has one that can be read.
pub(crate) async fn of_run(
    connection: &mut SqliteConnection,
    run: i64,
) -> Result<Option<RunSummary>, sqlx::Error> {
    let sql = select("run = ?");
    let query = sqlx::query(AssertSqlSafe(sql)).bind(run);
    Ok(read(&query.fetch_one(connection).await?))
}

/// The runs that fit, newest first. Each has its `run_id`, and what [`read`] reads.
pub(crate) async fn list(
    connection: &mut SqliteConnection,
    filter: &RunFilter,
) -> Result<Vec<SqliteRow>, sqlx::Error> {
    // Two statements, so that each can use its index.
    let which = match filter.status {
        Some(_) => "status = ?",
        None => "started IS NOT NULL",
    };
    let sql = select(which) + " ORDER BY started DESC, run_id DESC LIMIT ?";
    let mut query = sqlx::query(AssertSqlSafe(sql));
    if let Some(status) = filter.status {
        query = query.bind(status.as_str());
    }
    let limit = filter.limit.map_or(-1, i64::from);
    query.bind(limit).fetch_all(connection).await
}

fn select(which: &str) -> String {
    format!(
        "SELECT run_id, records, status, started, updated, steps, open_questions,
             termination_reason, signature, model
         FROM runs LEFT JOIN agents USING (agent) WHERE {which}"
    )
}
