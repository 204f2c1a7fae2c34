//! Matches requests with recorded ones.

use serde_json::Value;

use crate::model::REDACTED;

/// Whether a request matches a recorded one. A redacted secret matches any text.
pub(super) fn fits(recorded: &Value, request: &Value) -> bool {
    match (recorded, request) {
        (Value::String(recorded), Value::String(request)) => text_fits(recorded, request),
        (Value::Array(recorded), Value::Array(request)) => {
            recorded.len() == request.len() && recorded.iter().zip(request).all(|(a, b)| fits(a, b))
        }
        (Value::Object(recorded), Value::Object(request)) => {
            let mut fields = recorded.iter();
            recorded.len() == request.len()
                && fields.all(|(name, value)| {
                    let other = request.get(name);
                    other.is_some_and(|other| fits(value, other))
                })
        }
        (recorded, request) => recorded == request,
    }
}

fn text_fits(recorded: &str, request: &str) -> bool {
    let mut parts = recorded.split(REDACTED);
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = request.strip_prefix(first) else {
        return false;
    };
    let parts: Vec<&str> = parts.collect();
    let Some((last, between)) = parts.split_last() else {
        return rest.is_empty();
    };
    for part in between {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn anything_fits_where_a_secret_was_and_nothing_else() {
        for (recorded, request, is_same) in [
            ("a", "a", true),
            ("a", "ab", false),
            ("key [redacted].", "key 123.", true),
            ("key [redacted].", "key [redacted].", true),
            ("key [redacted].", "key 123", false),
            ("[redacted] and [redacted]!", "x and y!", true),
            ("[redacted] and [redacted]!", "x or y!", false),
        ] {
            assert_eq!(
                text_fits(recorded, request),
                is_same,
                "{recorded}, {request}"
            );
        }
        let recorded = json!({"messages": [{"text": "[redacted]"}], "stop": []});
        assert!(fits(
            &recorded,
            &json!({"stop": [], "messages": [{"text": "k"}]})
        ));
        assert!(!fits(
            &recorded,
            &json!({"stop": ["x"], "messages": [{"text": "k"}]})
        ));
        assert!(!fits(&recorded, &json!({"messages": [{"text": "k"}]})));
    }
}
