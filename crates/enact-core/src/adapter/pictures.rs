//! Pictures among values: lifted out of the text and sent as parts of their own.

use serde_json::Value;

use crate::model::{Image, Message, Part};
use crate::run::ToolResult;
use crate::signature::Values;

/// The values with a placeholder for each picture, and the pictures in order.
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

/// A text followed by pictures.
pub(super) fn parts(text: String, images: impl IntoIterator<Item = Image>) -> Vec<Part> {
    let mut parts = vec![Part::Text(text)];
    parts.extend(images.into_iter().map(Part::Image));
    parts
}

/// A user message of a text followed by pictures.
pub(super) fn message(text: String, images: impl IntoIterator<Item = Image>) -> Message {
    Message::User {
        parts: parts(text, images),
    }
}

/// The pictures that calls gave.
pub(super) fn of_results(results: &[ToolResult]) -> impl Iterator<Item = Image> {
    let images = results.iter().flat_map(|result| &result.observation.images);
    images.cloned()
}

/// What a person said, with each text put through `write`.
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
