//! The identity of a request, as plain JSON.

use serde_json::{Map, Value, json};

use super::Request;

/// The canonical form of a request: two requests are identical if these are equal.
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
