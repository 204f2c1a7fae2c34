//! Shares, intervals, percentiles and a test for two samples.

use serde::{Deserialize, Serialize};

/// A number out of a total.
///
/// ```
/// use enact_eval::Share;
///
/// let share = Share::count([true, true, true, false]);
/// assert_eq!(share.value(), Some(0.75));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Share {
    /// The number.
    pub hits: u64,
    /// The total.
    pub of: u64,
}

impl Share {
    /// Counts the values for which it is true.
    pub fn count(of: impl IntoIterator<Item = bool>) -> Self {
        let mut share = Self::default();
        for is_hit in of {
            share.add(is_hit);
        }
        share
    }

    /// Adds one value.
    pub fn add(&mut self, is_hit: bool) {
        self.hits += u64::from(is_hit);
        self.of += 1;
    }

    /// The share from 0 to 1; none if the total is 0.
    pub fn value(self) -> Option<f64> {
        (self.of > 0).then(|| float(self.hits) / float(self.of))
    }

    /// The 95 % confidence interval (Wilson's score interval).
    pub fn interval(self) -> Option<(f64, f64)> {
        const Z: f64 = 1.959_963_984_540_054;
        let share = self.value()?;
        let count = float(self.of);
        let denominator = 1.0 + Z * Z / count;
        let centre = (share + Z * Z / (2.0 * count)) / denominator;
        let spread = share * (1.0 - share) / count + Z * Z / (4.0 * count * count);
        let half = Z * spread.sqrt() / denominator;
        Some(((centre - half).max(0.0), (centre + half).min(1.0)))
    }
}

impl std::iter::Sum for Share {
    fn sum<I: Iterator<Item = Self>>(shares: I) -> Self {
        shares.fold(Self::default(), |sum, share| Self {
            hits: sum.hits + share.hits,
            of: sum.of + share.of,
        })
    }
}

/// The mean; none without values.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / float(values.len() as u64))
}

/// The smallest value that is at least this percentile (nearest rank).
pub fn percentile(values: &[f64], percent: u64) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let rank = (sorted.len() as u64 * percent.min(100)).div_ceil(100);
    let index = usize::try_from(rank.max(1)).ok()? - 1;
    sorted.get(index).copied()
}

/// The probability that two equally good agents differ at least this much: McNemar's exact test on the
/// examples that only one of them passed.
pub fn mcnemar(only_first: u64, only_second: u64) -> f64 {
    let count = only_first + only_second;
    let fewer = only_first.min(only_second);
    // The tail of a fair coin, summed with logarithms: powers of two leave the range of floats.
    let half = -float(count) * std::f64::consts::LN_2;
    let mut choose = 0.0;
    let mut tail = 0.0;
    for successes in 0..=fewer {
        if successes > 0 {
            choose += (float(count - successes + 1) / float(successes)).ln();
        }
        tail += (choose + half).exp();
    }
    (2.0 * tail).min(1.0)
}

/// A count as a float. Counts of examples and tokens are far below the limit of exactness.
#[expect(clippy::cast_precision_loss, reason = "counts are below 2^53")]
pub(crate) fn float(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() < 5e-4
    }

    #[test]
    fn shares() {
        let share = Share::count([true, false, true, true]);
        assert_eq!((share.hits, share.of), (3, 4));
        assert_eq!(share.value(), Some(0.75));
        assert_eq!(Share::default().value(), None);
        assert_eq!(Share::default().interval(), None);
    }

    #[test]
    fn wilson_intervals_are_those_of_the_books() {
        let (low, high) = Share { hits: 8, of: 10 }.interval().unwrap();
        assert!(near(low, 0.4902) && near(high, 0.9433), "{low} {high}");
        let (low, high) = Share { hits: 10, of: 10 }.interval().unwrap();
        assert!(near(low, 0.7225) && near(high, 1.0), "{low} {high}");
        let (low, high) = Share { hits: 0, of: 10 }.interval().unwrap();
        assert!(near(low, 0.0) && near(high, 0.2775), "{low} {high}");
    }

    #[test]
    fn percentiles_are_nearest_ranks() {
        let values: Vec<f64> = (1..=10).map(f64::from).collect();
        assert_eq!(percentile(&values, 50), Some(5.0));
        assert_eq!(percentile(&values, 90), Some(9.0));
        assert_eq!(percentile(&values, 99), Some(10.0));
        assert_eq!(percentile(&[7.0], 50), Some(7.0));
        assert_eq!(percentile(&[3.0, 1.0, 2.0], 0), Some(1.0));
        assert_eq!(percentile(&[], 50), None);
        assert_eq!(mean(&[1.0, 3.0]), Some(2.0));
        assert_eq!(mean(&[]), None);
    }

    #[test]
    fn mcnemar_is_the_exact_test() {
        assert!(near(mcnemar(0, 0), 1.0));
        assert!(near(mcnemar(5, 5), 1.0));
        // 2 · (1 + 10) / 1024
        assert!(near(mcnemar(1, 9), 0.0215));
        assert!(near(mcnemar(9, 1), 0.0215));
        // 2 / 64
        assert!(near(mcnemar(0, 6), 0.0313));
        assert!(mcnemar(0, 5_000) < 1e-9);
        assert!(near(mcnemar(2_500, 2_500), 1.0));
    }
}
