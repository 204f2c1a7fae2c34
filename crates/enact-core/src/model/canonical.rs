//! What makes a request this one, as plain JSON.

use serde_json::{Map, Value, json};

use super::{Request, ResponseFormat, ToolChoice};

/// All that a model is asked, in one form: two requests are the same when these are equal.
pub(super) fn canonical(request: &Request) -> Map<String, Value> {
    let choice = match &request.tool_choice {
        ToolChoice::Auto => json!("auto"),
        ToolChoice::Required => json!("required"),
        ToolChoice::None => json!("none"),
        ToolChoice::Named(name) => json!({ "name": name }),
    };
    let format = match &request.response_format {
        ResponseFormat::Text => json!("text"),
        ResponseFormat::JsonObject => json!("json"),
        ResponseFormat::Schema { name, schema } => json!({"name": name, "schema": schema}),
    };
    let messages: Vec<_> = request.prompt.iter().collect();
    let parts = [
        ("messages", json!(messages)),
        ("tools", json!(request.tools.list())),
        ("tool_choice", choice),
        ("response_format", format),
        ("stop", json!(request.stop)),
        ("options", json!(request.options)),
    ];
    let parts = parts
        .into_iter()
        .map(|(name, part)| (name.to_owned(), part));
    parts.collect()
}
