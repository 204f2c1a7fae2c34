//! Durations as people write them, such as `90s` or `2h`.

use std::str::FromStr;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A duration above zero. Written as text in files and flags, and exactly in the note of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "Written", into = "Duration")]
#[schemars(with = "String", extend("format" = "span"))]
pub(crate) struct Time(pub(crate) Duration);

/// An age, which can be given in days or weeks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Age(pub(crate) Duration);

impl FromStr for Age {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        const DAY: u64 = 24 * 60 * 60;
        let whole = |unit, seconds: u64| {
            let count: u64 = text.strip_suffix(unit)?.parse().ok()?;
            count.checked_mul(seconds).map(Duration::from_secs)
        };
        match whole('d', DAY).or_else(|| whole('w', 7 * DAY)) {
            Some(age) => Ok(Self(age)),
            None => {
                let time = text.parse::<Time>();
                time.map(|Time(time)| Self(time))
                    .map_err(|_| "give an age such as 30d, 2w or 12h".to_owned())
            }
        }
    }
}

/// The time limit of a run; `None` for no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(try_from = "String")]
#[schemars(with = "String", extend("format" = "budget"))]
pub(crate) struct TimeBudget(pub(crate) Option<Duration>);

#[derive(Deserialize)]
#[serde(untagged)]
enum Written {
    Words(String),
    Exactly(Duration),
}

impl FromStr for Time {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let time = text.parse::<jiff::SignedDuration>().ok();
        match time.and_then(|time| Duration::try_from(time).ok()) {
            Some(time) if !time.is_zero() => Ok(Self(time)),
            _ => Err("give a time such as 90s, 30m or 2h".to_owned()),
        }
    }
}

/// A duration, or `none` or 0 for no limit.
impl FromStr for TimeBudget {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let zero = text.parse::<jiff::SignedDuration>();
        if text == "none" || text == "0" || zero.is_ok_and(|time| time.is_zero()) {
            return Ok(Self(None));
        }
        match text.parse::<Time>() {
            Ok(Time(time)) => Ok(Self(Some(time))),
            Err(message) => Err(format!("{message}, or `none` for no limit")),
        }
    }
}

impl TryFrom<Written> for Time {
    type Error = String;

    fn try_from(written: Written) -> Result<Self, String> {
        match written {
            Written::Words(text) => text.parse(),
            Written::Exactly(time) => Ok(Self(time)),
        }
    }
}

impl From<Time> for Duration {
    fn from(Time(time): Time) -> Self {
        time
    }
}

impl TryFrom<String> for TimeBudget {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn truth_a_time_budget_can_be_switched_off() {
        for off in ["none", "0", "0s", " 0m "] {
            assert_eq!(off.parse(), Ok(TimeBudget(None)), "{off}");
        }
        let minute = TimeBudget(Some(Duration::from_secs(60)));
        assert_eq!("1m".parse(), Ok(minute));
        for bad in ["", "never", "5", "-1m"] {
            assert!(bad.parse::<TimeBudget>().is_err(), "{bad}");
        }
    }

    #[test]
    fn ages_count_days_and_weeks() {
        let days = |count: u64| Ok(Age(Duration::from_secs(count * 86_400)));
        assert_eq!("30d".parse(), days(30));
        assert_eq!("2w".parse(), days(14));
        assert_eq!("48h".parse(), days(2));
        assert_eq!("0d".parse(), days(0));
        for bad in ["", "d", "-1d", "1.5d", "99999999999999999999d", "month"] {
            assert!(bad.parse::<Age>().is_err(), "{bad}");
        }
    }

    #[test]
    fn times_are_longer_than_nothing() {
        assert_eq!("90s".parse(), Ok(Time(Duration::from_secs(90))));
        assert_eq!("2h30m".parse(), Ok(Time(Duration::from_secs(9_000))));
        for bad in ["", "0s", "-1h", "soon", "5"] {
            assert!(bad.parse::<Time>().is_err(), "{bad}");
        }
    }
}
