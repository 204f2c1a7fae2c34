//! Removes the parts of a schema that only cost tokens.

use serde_json::Value;

use super::visit_schemas;

/// Removes parts of a schema that are useless to a model: `$schema`, the titles of types, and number
/// formats unknown to JSON Schema (`int64`, `double`).
///
/// Read a [`Type`](crate::Type) from a schema before trimming it: titles name types, and formats
/// distinguish the range of an integer type from an explicit range.
pub fn trim_schema(schema: &mut Value) {
    visit_schemas(schema, &mut |object| {
        object.shift_remove("$schema");
        if object.get("title").is_some_and(Value::is_string) {
            object.shift_remove("title");
        }
        let format = object.get("format").and_then(Value::as_str);
        if format.is_some_and(is_number_format) {
            object.shift_remove("format");
        }
    });
}

fn is_number_format(format: &str) -> bool {
    let width = format
        .strip_prefix("uint")
        .or_else(|| format.strip_prefix("int"));
    matches!(format, "float" | "double")
        || width.is_some_and(|width| width.bytes().all(|byte| byte.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn noise_goes_and_meaning_stays() {
        let mut schema = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": "Report",
            "type": "object",
            "properties": {
                "title": {"type": "string", "format": "date-time", "title": "Title"},
                "count": {"type": "integer", "format": "uint8", "minimum": 0, "maximum": 255},
                "ratio": {"type": "array", "items": {"type": "number", "format": "double"}},
                "kind": {"const": {"title": "kept"}, "default": {"format": "int64"}},
            },
            "$defs": {"title": {"title": "Other", "type": "integer", "format": "int"}},
        });
        trim_schema(&mut schema);
        assert_eq!(
            schema,
            json!({
                "type": "object",
                "properties": {
                    "title": {"type": "string", "format": "date-time"},
                    "count": {"type": "integer", "minimum": 0, "maximum": 255},
                    "ratio": {"type": "array", "items": {"type": "number"}},
                    "kind": {"const": {"title": "kept"}, "default": {"format": "int64"}},
                },
                "$defs": {"title": {"type": "integer"}},
            })
        );
    }
}
