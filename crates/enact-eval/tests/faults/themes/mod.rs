//! The scenarios, by what goes wrong.

mod endings;
mod garbage;
mod inner;
mod limits;
mod models;
mod people;
mod stalls;
mod stops;
mod thoughts;
mod tool_errors;

use crate::scenario::Scenario;

pub(crate) const ADAPTERS: [&str; 5] = ["native", "json", "chat", "xml", "tagged"];

/// All scenarios.
pub(crate) fn all() -> Vec<Scenario> {
    let themes = [
        tool_errors::scenarios(),
        garbage::scenarios(),
        models::scenarios(),
        stalls::scenarios(),
        limits::scenarios(),
        endings::scenarios(),
        stops::scenarios(),
        people::scenarios(),
        thoughts::scenarios(),
        inner::scenarios(),
    ];
    themes.into_iter().flatten().collect()
}

/// The same in the words of each adapter.
fn in_all_adapters(make: impl Fn() -> Scenario) -> impl Iterator<Item = Scenario> {
    ADAPTERS
        .into_iter()
        .map(move |adapter| make().under(adapter))
}
