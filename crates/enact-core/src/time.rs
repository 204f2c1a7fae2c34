//! Timestamps in logs.

use std::fmt;
use std::str::FromStr;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

/// A moment in time, with nanoseconds. Serialised in UTC as RFC 3339, such as `2026-01-15T09:30:00Z`.
///
/// ```
/// use std::time::Duration;
///
/// use enact::Timestamp;
///
/// let began: Timestamp = "2026-01-15T09:30:00Z".parse()?;
/// let ended: Timestamp = "2026-01-15T09:31:30Z".parse()?;
/// assert_eq!(ended.since(began), Duration::from_secs(90));
/// assert_eq!(began.checked_add(Duration::from_secs(90)), Some(ended));
/// # Ok::<(), enact::TimestampError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timestamp(jiff::Timestamp);

impl Timestamp {
    /// The start of 1970.
    pub const UNIX_EPOCH: Self = Self(jiff::Timestamp::UNIX_EPOCH);

    /// The current time.
    pub fn now() -> Self {
        Self(jiff::Timestamp::now())
    }

    /// A number of seconds after the start of 1970; none after the year 9999.
    pub fn from_second(second: i64) -> Option<Self> {
        jiff::Timestamp::from_second(second).ok().map(Self)
    }

    /// A number of nanoseconds after the start of 1970; none after the year 9999.
    pub fn from_nanosecond(nanosecond: i128) -> Option<Self> {
        jiff::Timestamp::from_nanosecond(nanosecond).ok().map(Self)
    }

    /// Nanoseconds since the start of 1970.
    pub fn as_nanosecond(self) -> i128 {
        self.0.as_nanosecond()
    }

    /// This time plus a duration; none after the year 9999.
    pub fn checked_add(self, time: Duration) -> Option<Self> {
        self.0.checked_add(time).ok().map(Self)
    }

    /// This time minus a duration; none before the year -9999.
    pub fn checked_sub(self, time: Duration) -> Option<Self> {
        self.0.checked_sub(time).ok().map(Self)
    }

    /// In a readable form: `2026-01-15 09:30`, in UTC.
    pub fn to_minute(self) -> String {
        self.0.strftime("%Y-%m-%d %H:%M").to_string()
    }

    /// The duration since an earlier time; zero if it is later.
    pub fn since(self, earlier: Self) -> Duration {
        self.0
            .duration_since(earlier.0)
            .try_into()
            .unwrap_or_default()
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl From<Timestamp> for SystemTime {
    fn from(timestamp: Timestamp) -> Self {
        timestamp.0.into()
    }
}

impl TryFrom<SystemTime> for Timestamp {
    type Error = TimestampError;

    fn try_from(time: SystemTime) -> Result<Self, TimestampError> {
        let timestamp = jiff::Timestamp::try_from(time);
        timestamp.map(Self).map_err(TimestampError::of)
    }
}

impl FromStr for Timestamp {
    type Err = TimestampError;

    fn from_str(text: &str) -> Result<Self, TimestampError> {
        text.parse().map(Self).map_err(TimestampError::of)
    }
}

/// A text that is not a [`Timestamp`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a moment in time: {0}")]
pub struct TimestampError(String);

impl TimestampError {
    fn of(error: jiff::Error) -> Self {
        Self(error.to_string())
    }
}
