//! Metrics: compare an answer with what is expected.

mod command;
mod matching;
mod number;
mod text;

use std::fmt;
use std::str::FromStr;

use enact_core::Values;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

pub use command::Program;
pub use number::Tolerance;

/// How an answer is compared with what is expected.
///
/// ```
/// use enact::values;
/// use enact_eval::Metric;
/// use serde_json::json;
///
/// let metric = Metric::read(&json!("exact"))?;
/// let score = metric.compare(&values! { answer: "Paris" }, &values! { answer: "Rome" });
/// assert!(!score.expect("it compares outputs by itself").passed);
/// # Ok::<_, String>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Metric {
    /// The same JSON value; `1` is `1.0`.
    #[default]
    Exact,
    /// The same text, ignoring case, punctuation, articles and white space.
    Normalised,
    /// The answer contains the expected text, or the list the expected element.
    Contains,
    /// The same, with a tolerance for numbers.
    Numeric(Tolerance),
    /// Everything that is expected exists; there may be more.
    JsonSubset,
    /// A model decides.
    Judge,
    /// A program decides.
    Command(Program),
}

/// The names of all metrics.
const NAMES: &str = "exact, normalised, contains, numeric, json_subset, judge or command";

impl Metric {
    /// The name, as in datasets and `--metric`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Normalised => "normalised",
            Self::Contains => "contains",
            Self::Numeric(_) => "numeric",
            Self::JsonSubset => "json_subset",
            Self::Judge => "judge",
            Self::Command(_) => "command",
        }
    }

    /// Parses a name, or an object with a name and its options such as
    /// `{"numeric": {"absolute": 0.5}}`.
    pub fn read(value: &Value) -> Result<Self, String> {
        let (name, options) = match value {
            Value::String(name) => (name.as_str(), json!({})),
            Value::Object(map) => match map.iter().next() {
                Some((name, options)) if map.len() == 1 => (name.as_str(), options.clone()),
                _ => return Err(format!("a metric is one name: {NAMES}")),
            },
            _ => return Err(format!("a metric is a name: {NAMES}")),
        };
        let plain = |metric: Self| match &options {
            Value::Object(map) if map.is_empty() => Ok(metric),
            _ => Err(format!("the metric `{name}` has no options")),
        };
        let wrong = |error: serde_json::Error| format!("the metric `{name}`: {error}");
        match name {
            "exact" => plain(Self::Exact),
            "normalised" | "normalized" => plain(Self::Normalised),
            "contains" => plain(Self::Contains),
            "json_subset" => plain(Self::JsonSubset),
            "judge" => plain(Self::Judge),
            "numeric" => {
                let tolerance: Tolerance =
                    serde_json::from_value(options.clone()).map_err(wrong)?;
                tolerance.check()?;
                Ok(Self::Numeric(tolerance))
            }
            "command" => match serde_json::from_value::<Program>(options.clone()) {
                Ok(program) => program.check().map(Self::Command),
                Err(error) => Err(format!(
                    "the metric `command` names its program, such as \
                     {{\"command\": {{\"program\": \"python3\", \"args\": [\"score.py\"]}}}}: {error}"
                )),
            },
            other => Err(format!("there is no metric `{other}`: use {NAMES}")),
        }
    }

    /// Whether the expected values must have the declared types.
    pub(crate) fn wants_typed(&self) -> bool {
        matches!(self, Self::Exact | Self::Normalised | Self::Numeric(_))
    }

    /// Compares without a model or program; none for a metric that needs one.
    pub fn compare(&self, expected: &Values, outputs: &Values) -> Option<Score> {
        let is_match: &dyn Fn(&Value, &Value) -> bool = match self {
            Self::Exact => &matching::exact,
            Self::Normalised => &matching::normalised,
            Self::Contains => &matching::contains,
            Self::Numeric(tolerance) => {
                &|expected, given| matching::numeric(expected, given, *tolerance)
            }
            Self::JsonSubset => &matching::subset,
            Self::Judge | Self::Command(_) => return None,
        };
        Some(Score::by_field(expected, outputs, is_match))
    }
}

/// A name, or JSON as in a dataset.
impl FromStr for Metric {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        if text.starts_with('{') {
            let value: Value = serde_json::from_str(text)
                .map_err(|error| format!("the metric is not JSON: {error}"))?;
            Self::read(&value)
        } else {
            Self::read(&Value::String(text.to_owned()))
        }
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The verdict of a metric on an answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Score {
    /// Whether the answer counts as correct.
    pub passed: bool,
    /// The score, from 0 to 1.
    pub value: f64,
    /// The reason, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl Score {
    /// A score of 1 or 0.
    pub fn whole(passed: bool, reason: Option<String>) -> Self {
        Self {
            passed,
            value: if passed { 1.0 } else { 0.0 },
            reason,
        }
    }

    /// Passes if all expected outputs match; the score is the share of those that do.
    fn by_field(
        expected: &Values,
        outputs: &Values,
        is_match: &dyn Fn(&Value, &Value) -> bool,
    ) -> Self {
        let mut share = crate::Share::default();
        let mut wrong = Vec::new();
        for (name, wanted) in expected {
            let given = outputs.get(name).unwrap_or(&Value::Null);
            let is_hit = is_match(wanted, given);
            share.add(is_hit);
            if !is_hit {
                let (wanted, given) = (text::clipped(wanted), text::clipped(given));
                wrong.push(format!("`{name}`: expected {wanted}, got {given}"));
            }
        }
        Self {
            passed: wrong.is_empty(),
            value: share.value().unwrap_or(1.0),
            reason: (!wrong.is_empty()).then(|| wrong.join("; ")),
        }
    }
}

#[cfg(test)]
mod tests {
    use enact_core::values;

    use super::*;

    #[test]
    fn metrics_are_read_by_name_or_with_options() {
        assert_eq!("exact".parse(), Ok(Metric::Exact));
        assert_eq!(" normalized ".parse(), Ok(Metric::Normalised));
        assert_eq!("numeric".parse(), Ok(Metric::Numeric(Tolerance::default())));
        let tolerant = r#"{"numeric": {"absolute": 0.5}}"#.parse::<Metric>();
        let Ok(Metric::Numeric(tolerance)) = tolerant else {
            panic!("{tolerant:?}");
        };
        assert_eq!(tolerance.absolute, 0.5);
        for (text, problem) in [
            ("exakt", "there is no metric `exakt`"),
            (r#"{"exact": {"a": 1}}"#, "no options"),
            (r#"{"exact": {}, "contains": {}}"#, "one name"),
            (r#"{"numeric": {"absolut": 1}}"#, "absolut"),
            (r#"{"numeric": {"absolute": -1}}"#, "0 or more"),
            ("{", "not JSON"),
            ("command", "program"),
            (r#"{"command": {"program": ""}}"#, "empty"),
        ] {
            let error = text.parse::<Metric>().unwrap_err();
            assert!(error.contains(problem), "{text}: {error}");
        }
    }

    #[test]
    fn metrics_come_back_from_json() {
        let program = r#"{"command": {"program": "true"}}"#;
        for text in ["exact", "judge", "json_subset", "numeric", program] {
            let metric: Metric = text.parse().unwrap();
            let json = serde_json::to_string(&metric).unwrap();
            assert_eq!(serde_json::from_str::<Metric>(&json).unwrap(), metric);
        }
    }

    #[test]
    fn an_answer_passes_if_all_fields_match() {
        let expected = values! { answer: 42, unit: "km" };
        let compare = |outputs| Metric::Exact.compare(&expected, &outputs).unwrap();
        let right = compare(values! { answer: 42.0, unit: "km", more: "x" });
        assert_eq!(right, Score::whole(true, None));
        let half = compare(values! { answer: 42, unit: "m" });
        assert_eq!((half.passed, half.value), (false, 0.5));
        assert_eq!(
            half.reason.as_deref(),
            Some(r#"`unit`: expected "km", got "m""#)
        );
        let missing = compare(Values::new());
        assert_eq!((missing.passed, missing.value), (false, 0.0));
    }
}
