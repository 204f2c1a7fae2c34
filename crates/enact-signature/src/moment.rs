//! Dates and times as text.

/// The kinds of dates and times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Moment {
    /// A day, such as `2025-01-31`.
    Date,
    /// A day and a time, such as `2025-01-31T14:30:00Z`. The offset and the seconds are optional.
    DateTime,
    /// A time of day, such as `14:30:00`. The offset and the seconds are optional.
    Time,
}

impl Moment {
    /// All kinds.
    pub const ALL: [Moment; 3] = [Moment::Date, Moment::DateTime, Moment::Time];

    /// The `format` of JSON Schema.
    pub fn format(self) -> &'static str {
        match self {
            Moment::Date => "date",
            Moment::DateTime => "date-time",
            Moment::Time => "time",
        }
    }

    /// The kind for a `format` of JSON Schema.
    pub fn of_format(format: &str) -> Option<Moment> {
        Moment::ALL
            .into_iter()
            .find(|moment| moment.format() == format)
    }

    /// The name in arrow strings.
    pub fn name(self) -> &'static str {
        match self {
            Moment::DateTime => "datetime",
            other => other.format(),
        }
    }

    /// A valid example.
    pub fn example(self) -> &'static str {
        match self {
            Moment::Date => "2025-01-31",
            Moment::DateTime => "2025-01-31T14:30:00Z",
            Moment::Time => "14:30:00",
        }
    }

    /// Whether a text is valid.
    pub fn accepts(self, text: &str) -> bool {
        match self {
            Moment::Date => is_date(text),
            Moment::Time => is_time(text),
            Moment::DateTime => text
                .split_once('T')
                .is_some_and(|(date, time)| is_date(date) && is_time(time)),
        }
    }

    /// The valid form of a text that is only written differently: with white space around it, or with a
    /// space between date and time.
    pub fn respelled(self, text: &str) -> Option<String> {
        let text = text.trim();
        let text = match self {
            Moment::DateTime => text.replacen([' ', 't'], "T", 1),
            _ => text.to_owned(),
        };
        self.accepts(&text).then_some(text)
    }
}

/// The number in this many digits.
fn number(text: &str, digits: usize) -> Option<u32> {
    let is_number = text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| text.parse().ok()).flatten()
}

fn is_date(text: &str) -> bool {
    let date = || {
        let (year, rest) = text.split_once('-')?;
        let (month, day) = rest.split_once('-')?;
        let (year, month, day) = (number(year, 4)?, number(month, 2)?, number(day, 2)?);
        let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        let days = match month {
            1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
            4 | 6 | 9 | 11 => 30,
            2 if is_leap => 29,
            2 => 28,
            _ => return None,
        };
        (1..=days).contains(&day).then_some(())
    };
    date().is_some()
}

fn is_time(text: &str) -> bool {
    let (time, offset) = match text.find(['Z', '+', '-']) {
        Some(at) => text.split_at(at),
        None => (text, ""),
    };
    let is_offset = match offset.strip_prefix(['+', '-']) {
        Some(offset) => offset.len() == 5 && is_clock(offset),
        None => matches!(offset, "" | "Z"),
    };
    is_offset && is_clock(time)
}

/// `14:30`, `14:30:00` or `14:30:00.25`.
fn is_clock(text: &str) -> bool {
    let clock = || {
        let mut parts = text.split(':');
        let (hour, minute) = (number(parts.next()?, 2)?, number(parts.next()?, 2)?);
        let second = match parts.next() {
            Some(second) => {
                let (whole, fraction) = second.split_once('.').unwrap_or((second, "0"));
                number(fraction, fraction.len().clamp(1, 9))?;
                number(whole, 2)?
            }
            None => 0,
        };
        // 60 is a leap second.
        (hour < 24 && minute < 60 && second <= 60 && parts.next().is_none()).then_some(())
    };
    clock().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_a_date_and_what_is_not() {
        for (moment, fine, wrong) in [
            (
                Moment::Date,
                &["2025-01-31", "2024-02-29", "0001-12-01"][..],
                &[
                    "2025-02-29",
                    "1900-02-29",
                    "2025-13-01",
                    "2025-1-1",
                    "25-01-01",
                    "31.1.2025",
                    "2025-01-31T00:00:00Z",
                    "2025-01-+1",
                    "tomorrow",
                    "",
                ][..],
            ),
            (
                Moment::Time,
                &[
                    "14:30",
                    "14:30:00",
                    "00:00:00.25Z",
                    "23:59:60+02:00",
                    "14:30-05:30",
                ],
                &[
                    "24:00",
                    "14:60",
                    "2:30",
                    "14",
                    "14:30:00.",
                    "14:30:00+2",
                    "14:30 pm",
                    "14:30:00:00",
                ],
            ),
            (
                Moment::DateTime,
                &[
                    "2025-01-31T14:30:00Z",
                    "2025-01-31T14:30",
                    "2025-01-31T14:30:00.5+01:00",
                ],
                &[
                    "2025-01-31",
                    "2025-01-31 14:30",
                    "2025-02-30T14:30:00Z",
                    "14:30",
                ],
            ),
        ] {
            assert!(moment.accepts(moment.example()));
            for text in fine {
                assert!(moment.accepts(text), "{text}");
            }
            for text in wrong {
                assert!(!moment.accepts(text), "{text}");
            }
        }
    }

    #[test]
    fn another_spelling_of_the_same() {
        let respelled = |text| Moment::DateTime.respelled(text);
        assert_eq!(
            respelled(" 2025-01-31 14:30 ").as_deref(),
            Some("2025-01-31T14:30")
        );
        assert_eq!(respelled("2025-01-31"), None);
        assert_eq!(
            Moment::Date.respelled("2025-01-31\n").as_deref(),
            Some("2025-01-31")
        );
    }
}
