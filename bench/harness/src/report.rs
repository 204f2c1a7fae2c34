//! What was measured, where and when.

use serde::{Deserialize, Serialize};

use crate::section::Measured;
use crate::targets::Judged;

/// All that is written into `results.json`.
#[derive(Serialize, Deserialize)]
pub(crate) struct Report {
    pub(crate) quick: bool,
    pub(crate) machine: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) note: Option<String>,
    pub(crate) targets: Vec<Judged>,
    pub(crate) sections: Vec<Measured>,
}

impl Report {
    pub(crate) fn begin(quick: bool, note: Option<String>) -> Self {
        Self {
            quick,
            machine: machine(),
            note,
            targets: Vec::new(),
            sections: Vec::new(),
        }
    }

    /// Puts a section in the place of an earlier one of the same title, or behind all.
    pub(crate) fn put(&mut self, measured: Measured) {
        let mut sections = self.sections.iter_mut();
        match sections.find(|known| known.title == measured.title) {
            Some(known) => *known = measured,
            None => self.sections.push(measured),
        }
    }

    /// The section whose title begins like this, if it was measured.
    pub(crate) fn section(&self, title: &str) -> Option<&Measured> {
        let mut sections = self.sections.iter();
        sections.find(|section| section.title.starts_with(title))
    }

    /// Who failed, where, and how.
    pub(crate) fn failures(&self) -> Vec<String> {
        let rows = self.sections.iter().flat_map(|section| {
            let rows = section.rows.iter();
            rows.map(move |row| (&section.title, row))
        });
        rows.filter_map(|(title, row)| {
            let failure = row.failure.as_ref()?;
            Some(format!("{title}: {}: {failure}", row.contender))
        })
        .collect()
    }
}

/// The processor and how much of it there is.
fn machine() -> String {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let described = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = described
        .lines()
        .find_map(|line| line.strip_prefix("model name"))
        .map_or("an unknown processor", |rest| {
            rest.trim_start_matches([' ', '\t', ':'])
        });
    format!("{cores} cores of {model}")
}
