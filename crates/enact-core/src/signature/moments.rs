//! Dates and times, whose `format` is validated.
//!
//! JSON Schema requires an offset and seconds. Here they are optional: texts often omit them, and a model
//! should not have to invent them. Other formats are not validated.

use enact_signature::Moment;
use jsonschema::error::ValidationErrorKind;
use jsonschema::{Keyword, ValidationError, ValidationOptions};
use serde_json::{Map, Value, json};

/// The keyword for texts that have to be dates or times. Its value is the format.
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

/// Makes schemas validate what [`mark`] has marked.
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

/// Marks the keywords of a date or time.
pub(super) fn mark(keywords: &mut Map<String, Value>) {
    let format = keywords.get("format").and_then(Value::as_str);
    if let Some(moment) = format.and_then(Moment::of_format) {
        keywords.insert(MOMENT.to_owned(), json!(moment.format()));
    }
}

/// The kind of date or time that a text should be, if that is the problem.
pub(super) fn moment(kind: &ValidationErrorKind) -> Option<Moment> {
    match kind {
        ValidationErrorKind::Custom { keyword, message } if keyword == MOMENT => {
            Moment::of_format(message)
        }
        _ => None,
    }
}
