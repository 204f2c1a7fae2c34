//! The agent pattern, row by row: each option, condition, action, observation feature, reason and
//! criterion that the pattern asks for is done here through the public API.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "test code outside of test functions"
)]

mod acting;
mod behaviour;
mod criteria;
mod ending;
mod models;
mod observing;
mod options;
mod result;
mod scripted;
mod thinking;

use std::collections::BTreeSet;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;

use futures_util::FutureExt as _;

type Check = Pin<Box<dyn Future<Output = ()>>>;

/// One row of the pattern.
pub(crate) struct Row {
    table: &'static str,
    name: &'static str,
    /// Does it, and panics if it is not so.
    check: fn() -> Check,
}

/// A row: its name, and a function that does what it asks for.
macro_rules! rows {
    ($table:literal: $($name:literal => $check:path),* $(,)?) => {
        vec![$(crate::Row { table: $table, name: $name, check: || Box::pin($check()) }),*]
    };
}
pub(crate) use rows;

fn all() -> Vec<Row> {
    let tables = [
        options::rows(),
        ending::rows(),
        thinking::rows(),
        acting::rows(),
        observing::rows(),
        result::rows(),
        behaviour::rows(),
        criteria::rows(),
        models::rows(),
    ];
    tables.into_iter().flatten().collect()
}

#[tokio::test(start_paused = true)]
async fn every_row_of_the_pattern_holds() {
    let rows = all();
    let mut failed = Vec::new();
    for row in &rows {
        let check = AssertUnwindSafe((row.check)()).catch_unwind().await;
        let mark = if check.is_ok() { "holds" } else { "FAILS" };
        println!("{mark}  {}: {}", row.table, row.name);
        if check.is_err() {
            failed.push(format!("{}: {}", row.table, row.name));
        }
    }
    println!("{} of {} rows hold", rows.len() - failed.len(), rows.len());
    assert!(failed.is_empty(), "these rows do not hold: {failed:#?}");
}

#[test]
fn every_row_of_the_pattern_stands_once_in_its_table() {
    let rows = all();
    let names: BTreeSet<_> = rows.iter().map(|row| (row.table, row.name)).collect();
    assert_eq!(names.len(), rows.len());
}
