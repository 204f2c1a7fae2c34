//! Dates and times, whose `format` is checked.
//!
//! JSON Schema asks for an offset and for seconds. Here they may be missing: a text often does not say
//! them, and a model should not have to invent them. Other formats are not checked.

use enact_signature::Moment;
use jsonschema::error::ValidationErrorKind;
use jsonschema::{Keyword, ValidationError, ValidationOptions};
use serde_json::{Map, Value, json};

/// The keyword of texts that have to be dates or times. It names the format.
const MOMENT: &str = "x-moment";

struct OfMoment(Moment);

impl<'i> Keyword<'i> for OfMoment {
    fn validate(&self, instance: &'i Value) -> Result<(), ValidationError<'i>> {
        match self.is_valid(instance) {
            true => Ok(()),
            false => Err(ValidationError::custom(self.0.format())),
        }
    }

    fn is_valid(&self, instance: &'i Value) -> bool {
        let text = instance.as_str();
        text.is_none_or(|text| self.0.accepts(text))
    }
}

/// Makes schemas check what [`mark`] has marked.
pub(super) fn checked(options: ValidationOptions<'static>) -> ValidationOptions<'static> {
    options.with_keyword(MOMENT, |_, format: &Value, _| {
        match format.as_str().and_then(Moment::of_format) {
            Some(moment) => Ok(Box::new(OfMoment(moment))),
            None => Err(ValidationError::custom(
                "not the format of a date or a time",
            )),
        }
    })
}

/// Marks the keywords of a date or a time.
pub(super) fn mark(keywords: &mut Map<String, Value>) {
    let format = keywords.get("format").and_then(Value::as_str);
    if let Some(moment) = format.and_then(Moment::of_format) {
        keywords.insert(MOMENT.to_owned(), json!(moment.format()));
    }
}

/// The moment that a text was expected to be, if that is what is wrong.
pub(super) fn moment(kind: &ValidationErrorKind) -> Option<Moment> {
    match kind {
        ValidationErrorKind::Custom { keyword, message } if keyword == MOMENT => {
            Moment::of_format(message)
        }
        _ => None,
    }
}
