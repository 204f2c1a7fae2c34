//! Images among values: replaced in the text and sent as separate parts.

use serde_json::Value;

use crate::model::{Image, Message, Part};
use crate::run::ToolResult;
use crate::signature::Values;

/// The values with a placeholder for each image, and the images in order.
pub(super) fn lift(values: &Values) -> (Values, Vec<Image>) {
    let mut images = Vec::new();
    let lifted = values
        .iter()
        .map(|(name, value)| (name.clone(), lifted(value, &mut images)))
        .collect();
    (lifted, images)
}

fn lifted(value: &Value, images: &mut Vec<Image>) -> Value {
    match value {
        Value::Object(fields) => match image(fields) {
            Some(image) => {
                images.push(image);
                Value::String(format!("[image {}]", images.len()))
            }
            None => fields
                .iter()
                .map(|(name, value)| (name.clone(), lifted(value, images)))
                .collect::<Values>()
                .into(),
        },
        Value::Array(items) => items
            .iter()
            .map(|item| lifted(item, images))
            .collect::<Vec<_>>()
            .into(),
        other => other.clone(),
    }
}

fn image(fields: &Values) -> Option<Image> {
    if fields.len() != 2 || !fields.contains_key("media_type") {
        return None;
    }
    serde_json::from_value(Value::Object(fields.clone())).ok()
}

/// A text followed by images.
pub(super) fn parts(text: String, images: impl IntoIterator<Item = Image>) -> Vec<Part> {
    let mut parts = vec![Part::Text(text)];
    parts.extend(images.into_iter().map(Part::Image));
    parts
}

/// A user message with a text followed by images.
pub(super) fn message(text: String, images: impl IntoIterator<Item = Image>) -> Message {
    Message::User {
        parts: parts(text, images),
    }
}

/// The images in the results of calls.
pub(super) fn of_results(results: &[ToolResult]) -> impl Iterator<Item = Image> {
    let images = results.iter().flat_map(|result| &result.observation.images);
    images.cloned()
}

/// A user message, with each text passed through `write`.
pub(super) fn said(parts: &[Part], write: impl Fn(&str) -> String) -> Message {
    let parts = parts
        .iter()
        .map(|part| match part {
            Part::Text(text) => Part::Text(write(text)),
            Part::Image(image) => Part::Image(image.clone()),
        })
        .collect();
    Message::User { parts }
}
