//! One thing that is measured: of each contender in turn, round by round.

use serde::{Deserialize, Serialize};

use crate::contender::{Contender, Kind};
use crate::server::Server;

/// All that a measurement needs.
pub(crate) struct Bench {
    pub(crate) server: Server,
    pub(crate) contenders: Vec<Contender>,
    pub(crate) quick: bool,
    pub(crate) rounds: usize,
}

/// What is measured, and of whom.
pub(crate) struct Section {
    pub(crate) title: &'static str,
    pub(crate) about: &'static str,
    pub(crate) columns: Vec<Column>,
    pub(crate) kinds: &'static [Kind],
    pub(crate) rounds: Rounds,
    /// The values of the columns, for one contender in one round.
    pub(crate) measure: fn(&Bench, &Contender) -> anyhow::Result<Vec<f64>>,
}

/// How often a contender is measured.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Rounds {
    /// Once: counts do not vary.
    One,
    /// Once, and not if quick: it takes long, and `bench/gate` does it for enact.
    OneIfNotQuick,
    /// As often as was asked for.
    All,
}

/// One number of each contender.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Column {
    pub(crate) key: String,
    pub(crate) title: String,
    /// Digits behind the point.
    pub(crate) digits: usize,
}

/// A section that was measured.
#[derive(Serialize, Deserialize)]
pub(crate) struct Measured {
    pub(crate) title: String,
    pub(crate) date: String,
    pub(crate) about: String,
    pub(crate) columns: Vec<Column>,
    pub(crate) rows: Vec<Row>,
}

/// One contender.
#[derive(Serialize, Deserialize)]
pub(crate) struct Row {
    pub(crate) contender: String,
    /// The medians, by column; none if it failed.
    pub(crate) medians: Vec<f64>,
    /// What was measured, round by round.
    pub(crate) rounds: Vec<Vec<f64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) failure: Option<String>,
}

pub(crate) fn column(key: &str, title: &str, digits: usize) -> Column {
    Column {
        key: key.into(),
        title: title.into(),
        digits,
    }
}

impl Section {
    /// Measures each contender in turn, so that what else the machine does hits all of them.
    pub(crate) fn measure(&self, bench: &Bench) -> anyhow::Result<Measured> {
        let contenders: Vec<&Contender> = bench
            .contenders
            .iter()
            .filter(|contender| self.kinds.contains(&contender.kind))
            .collect();
        let mut rows: Vec<Row> = contenders
            .iter()
            .map(|contender| Row::new(contender.name))
            .collect();
        let rounds = match self.rounds {
            Rounds::One | Rounds::OneIfNotQuick => 1,
            Rounds::All => bench.rounds,
        };
        for round in 0..rounds {
            for turn in 0..contenders.len() {
                // Nobody always comes first.
                let index = (turn + round) % contenders.len();
                let (contender, row) = (contenders[index], &mut rows[index]);
                if row.failure.is_some() {
                    continue;
                }
                eprintln!(
                    "{}: round {} of {rounds}: {}",
                    self.title,
                    round + 1,
                    contender.name
                );
                match (self.measure)(bench, contender) {
                    Ok(values) => row.rounds.push(values),
                    Err(error) => row.failure = Some(format!("{error:#}")),
                }
            }
        }
        for row in &mut rows {
            row.take_medians(self.columns.len());
        }
        Ok(Measured {
            title: self.title.into(),
            date: jiff::Timestamp::now().strftime("%Y-%m-%d").to_string(),
            about: self.about.into(),
            columns: self.columns.clone(),
            rows,
        })
    }
}

impl Row {
    fn new(contender: &str) -> Self {
        Self {
            contender: contender.into(),
            medians: Vec::new(),
            rounds: Vec::new(),
            failure: None,
        }
    }

    fn take_medians(&mut self, columns: usize) {
        if self.failure.is_none() {
            let medians = (0..columns)
                .map(|index| median(self.rounds.iter().map(|values| values[index]).collect()));
            self.medians = medians.collect();
        }
    }
}

impl Measured {
    /// The median of a contender in a column.
    pub(crate) fn value(&self, contender: &str, key: &str) -> Option<f64> {
        let index = self.columns.iter().position(|column| column.key == key)?;
        let row = self.rows.iter().find(|row| row.contender == contender)?;
        row.medians.get(index).copied()
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => f64::NAN,
        odd if odd % 2 == 1 => values[middle],
        _ => (values[middle - 1] + values[middle]) / 2.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_median_is_the_middle() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(vec![4.0, 1.0, 2.0, 3.0]), 2.5);
    }
}
