//! Checks the names of inputs.

use std::fmt;

use serde_json::Value;

use crate::{Field, Signature, Values, did_you_mean};

/// The values don't match the inputs of the signature.
///
/// Names everything that is missing, unknown and, if checked, of the wrong type, in one
/// message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputError {
    missing: Vec<String>,
    unknown: Vec<String>,
    wrong: Option<String>,
    inputs: Vec<String>,
    arrow: String,
}

impl InputError {
    /// The inputs without value and default.
    pub fn missing(&self) -> &[String] {
        &self.missing
    }

    /// The values for unknown inputs.
    pub fn unknown(&self) -> &[String] {
        &self.unknown
    }

    /// Adds the problems with the given values.
    #[must_use]
    pub fn with_wrong(mut self, problems: impl fmt::Display) -> Self {
        self.wrong = Some(problems.to_string());
        self
    }
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let noun = |names: &[String]| if names.len() == 1 { "input" } else { "inputs" };
        if !self.missing.is_empty() {
            let names = listed(&self.missing);
            write!(f, "missing {} {names}; ", noun(&self.missing))?;
        }
        if !self.unknown.is_empty() {
            let names = listed(&self.unknown);
            write!(f, "unknown {} {names}", noun(&self.unknown))?;
            let known = || self.inputs.iter().map(String::as_str);
            let mut near: Vec<&str> = Vec::new();
            for name in &self.unknown {
                let nearest = did_you_mean(name, known()).into_iter().next();
                near.extend(nearest.filter(|name| !near.contains(name)));
            }
            if !near.is_empty() {
                write!(f, " (did you mean {}?)", listed(near))?;
            }
            f.write_str("; ")?;
        }
        if let Some(problems) = &self.wrong {
            write!(f, "wrong inputs: {problems}; ")?;
        }
        write!(f, "the signature is `{}`", self.arrow)
    }
}

impl std::error::Error for InputError {}

impl Signature {
    /// Checks the names of inputs, and puts the values in the declared order.
    ///
    /// A missing input gets its default, or null if it is optional. The types of the values are not
    /// checked.
    pub fn check_inputs(&self, mut values: Values) -> Result<Values, InputError> {
        let mut ordered = Values::new();
        let mut missing = Vec::new();
        for Field {
            name, ty, default, ..
        } in self.inputs()
        {
            let given = values.shift_remove(name).or_else(|| default.clone());
            match given.or_else(|| ty.is_optional().then_some(Value::Null)) {
                Some(value) => {
                    ordered.insert(name.clone(), value);
                }
                None => missing.push(name.clone()),
            }
        }
        if missing.is_empty() && values.is_empty() {
            return Ok(ordered);
        }
        Err(InputError {
            missing,
            unknown: values.keys().cloned().collect(),
            wrong: None,
            inputs: self
                .inputs()
                .iter()
                .map(|field| field.name.clone())
                .collect(),
            arrow: self.arrow(),
        })
    }
}

/// `` `a`, `b` and `c` ``
pub(crate) fn listed<N: fmt::Display>(names: impl IntoIterator<Item = N>) -> String {
    let names = names.into_iter();
    let quoted: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    match quoted.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, before)) => format!("{} and {last}", before.join(", ")),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn values(value: Value) -> Values {
        serde_json::from_value(value).unwrap()
    }

    fn signature() -> Signature {
        Signature::parse("question: str, k: int = 3, hint: Optional[str] -> answer").unwrap()
    }

    #[test]
    fn defaults_are_filled_in_and_the_order_is_the_declared_one() {
        let checked = signature()
            .check_inputs(values(json!({"hint": "h", "question": "q"})))
            .unwrap();
        assert_eq!(
            serde_json::to_string(&checked).unwrap(),
            r#"{"question":"q","k":3,"hint":"h"}"#
        );
        let checked = signature()
            .check_inputs(values(json!({"question": "q"})))
            .unwrap();
        assert_eq!(checked["hint"], Value::Null);
    }

    #[test]
    fn all_that_is_wrong_is_said_at_once() {
        let signature = Signature::parse("question, context, k: int = 3 -> answer").unwrap();
        let error = signature
            .check_inputs(values(json!({"qestion": "q", "depth": 1})))
            .unwrap_err();
        assert_eq!(error.missing(), ["question", "context"]);
        assert_eq!(error.unknown(), ["qestion", "depth"]);
        assert_eq!(
            error.to_string(),
            "missing inputs `question` and `context`; unknown inputs `qestion` and `depth` (did \
             you mean `question`?); the signature is `question: str, context: str, k: int = 3 -> \
             answer: str`"
        );
    }
}
