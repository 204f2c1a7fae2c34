//! What makes a request this one, as plain JSON.

use serde_json::{Map, Value, json};

use super::Request;

/// All that a model is asked, in one form: two requests are the same when these are equal.
pub(super) fn canonical(request: &Request) -> Map<String, Value> {
    let messages: Vec<_> = request.prompt.iter().collect();
    let parts = [
        ("messages", json!(messages)),
        ("tools", json!(request.tools.list())),
        ("tool_choice", json!(request.tool_choice)),
        ("response_format", json!(request.response_format)),
        ("stop", json!(request.stop)),
        ("options", json!(request.options)),
    ];
    let parts = parts
        .into_iter()
        .map(|(name, part)| (name.to_owned(), part));
    parts.collect()
}
