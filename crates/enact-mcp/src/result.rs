//! Converts the result of a call to a value with its type.

use enact_core::model::Image;
use enact_core::{ToolError, ToolOutput};
use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};
use serde_json::{Value, json};

/// The result in enact's form: structured content is the value; otherwise a single text is a string,
/// and several parts are a list; images stay images.
pub(crate) fn read(result: CallToolResult) -> Result<ToolOutput, ToolError> {
    let mut parts = Vec::new();
    let mut images = Vec::new();
    for block in result.content {
        match block {
            ContentBlock::Image(image) => {
                images.push(Image::from_base64(image.data, image.mime_type));
            }
            ContentBlock::Text(text) => parts.push(Value::String(text.text)),
            ContentBlock::Audio(audio) => parts.push(left_out("audio", &audio.mime_type)),
            ContentBlock::Resource(resource) => {
                embedded(resource.resource, &mut parts, &mut images)
            }
            link @ ContentBlock::ResourceLink(_) => parts.push(plain(&link)),
            _ => parts.push(json!(
                "a part of a sort that is not known here was left out"
            )),
        }
    }
    let value = match (result.structured_content, parts.len()) {
        (Some(value), _) => value,
        (None, 0) if images.is_empty() => Value::Null,
        (None, 0) => json!(match images.len() {
            1 => "1 picture".to_owned(),
            count => format!("{count} pictures"),
        }),
        (None, 1) => parts.remove(0),
        (None, _) => Value::Array(parts),
    };
    if result.is_error == Some(true) {
        return Err(ToolError::new(match value {
            Value::String(text) if !text.trim().is_empty() => text,
            Value::Null | Value::String(_) => "it failed, without saying why".to_owned(),
            Value::Array(parts) => spoken(&parts),
            other => other.to_string(),
        }));
    }
    let mut output = ToolOutput::value(value);
    output.images = images;
    Ok(output)
}

fn spoken(parts: &[Value]) -> String {
    let texts = parts.iter().map(|part| match part {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    });
    texts.collect::<Vec<_>>().join("\n")
}

fn embedded(contents: ResourceContents, parts: &mut Vec<Value>, images: &mut Vec<Image>) {
    match contents {
        ResourceContents::BlobResourceContents {
            blob,
            mime_type: Some(mime_type),
            ..
        } if mime_type.starts_with("image/") => {
            images.push(Image::from_base64(blob, mime_type));
        }
        ResourceContents::BlobResourceContents { uri, mime_type, .. } => {
            let mut part = left_out("bytes", mime_type.as_deref().unwrap_or("unknown"));
            part["uri"] = json!(uri);
            parts.push(part);
        }
        text => parts.push(plain(&text)),
    }
}

fn plain(part: &impl serde::Serialize) -> Value {
    // JSON content serialises again.
    serde_json::to_value(part).unwrap_or_default()
}

/// Content that models can't read is replaced by a note.
fn left_out(what: &str, mime_type: &str) -> Value {
    json!({"type": what, "mimeType": mime_type, "note": "left out: not readable as text"})
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(result: Value) -> Result<ToolOutput, ToolError> {
        read(serde_json::from_value(result).unwrap())
    }

    #[test]
    fn text_is_a_string_and_several_parts_are_a_list() {
        let text = |text: &str| json!({"type": "text", "text": text});
        assert_eq!(of(json!({"content": []})).unwrap().value, json!(null));
        assert_eq!(
            of(json!({"content": [text("a")]})).unwrap().value,
            json!("a")
        );
        let two = of(json!({"content": [text("a"), text("b")]})).unwrap();
        assert_eq!(two.value, json!(["a", "b"]));
    }

    #[test]
    fn what_is_structured_is_the_value_null_included() {
        let text = json!({"type": "text", "text": "{}"});
        let given = of(json!({"content": [text], "structuredContent": {"sum": 3}})).unwrap();
        assert_eq!(given.value, json!({"sum": 3}));
        let null = of(json!({"content": [text], "structuredContent": null})).unwrap();
        assert_eq!(null.value, json!(null));
    }

    #[test]
    fn pictures_are_pictures_wherever_they_come_from() {
        let output = of(json!({"content": [
            {"type": "image", "data": "AAAA", "mimeType": "image/png"},
            {"type": "resource", "resource":
                {"uri": "x:y", "mimeType": "image/gif", "blob": "BBBB"}},
        ]}))
        .unwrap();
        assert_eq!(output.value, json!("2 pictures"));
        let pictures = [
            Image::from_base64("AAAA", "image/png"),
            Image::from_base64("BBBB", "image/gif"),
        ];
        assert_eq!(output.images, pictures);
    }

    #[test]
    fn links_and_resources_are_json_and_sounds_are_said_to_be_left_out() {
        let link = json!({"type": "resource_link", "uri": "file:///a", "name": "a"});
        assert_eq!(of(json!({"content": [link]})).unwrap().value, link);
        let resource = json!({"uri": "x:y", "text": "hello"});
        let embedded = json!({"content": [{"type": "resource", "resource": resource}]});
        assert_eq!(of(embedded).unwrap().value, resource);
        let sound = json!({"content": [{"type": "audio", "data": "AA", "mimeType": "audio/wav"}]});
        let note = "left out: not readable as text";
        assert_eq!(
            of(sound).unwrap().value,
            json!({"type": "audio", "mimeType": "audio/wav", "note": note})
        );
    }

    #[test]
    fn a_failure_is_told_in_its_words() {
        let text = |text: &str| json!({"type": "text", "text": text});
        for (content, expected) in [
            (json!([text("no such file")]), "no such file"),
            (json!([text("a"), text("b")]), "a\nb"),
            (json!([]), "it failed, without saying why"),
        ] {
            let error = of(json!({"content": content, "isError": true})).unwrap_err();
            assert_eq!(error.to_string(), expected);
        }
    }
}
