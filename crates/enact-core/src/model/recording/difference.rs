//! Describes the difference between a request and a recorded one.

use serde_json::Value;

use super::matching::fits;

/// The length of the excerpts around a difference.
const BEFORE: usize = 2;
const AFTER: usize = 60;

/// The first difference, with both values.
pub(super) fn difference(recorded: &Value, request: &Value) -> String {
    let (path, recorded, request) = first(String::new(), Some(recorded), Some(request));
    let path = path.trim_start_matches('.');
    let (recorded, request) = match (recorded, request) {
        (Some(Value::String(recorded)), Some(Value::String(request))) => apart(recorded, request),
        (recorded, request) => (shown(recorded), shown(request)),
    };
    format!("`{path}` differs; recorded: {recorded}; now: {request}")
}

/// The number of messages that match from the start.
pub(super) fn agreement(recorded: &Value, request: &Value) -> usize {
    let (Some(recorded), Some(request)) = (
        recorded["messages"].as_array(),
        request["messages"].as_array(),
    ) else {
        return 0;
    };
    let pairs = recorded.iter().zip(request);
    pairs.take_while(|(a, b)| fits(a, b)).count()
}

type Place<'a> = (String, Option<&'a Value>, Option<&'a Value>);

fn first<'a>(path: String, a: Option<&'a Value>, b: Option<&'a Value>) -> Place<'a> {
    match (a, b) {
        (Some(Value::Object(recorded)), Some(Value::Object(request))) => {
            let names = recorded.keys().chain(request.keys());
            for name in names {
                let (a, b) = (recorded.get(name), request.get(name));
                if !same(a, b) {
                    return first(format!("{path}.{name}"), a, b);
                }
            }
        }
        (Some(Value::Array(recorded)), Some(Value::Array(request))) => {
            for index in 0..recorded.len().max(request.len()) {
                let (a, b) = (recorded.get(index), request.get(index));
                if !same(a, b) {
                    return first(format!("{path}[{index}]"), a, b);
                }
            }
        }
        _ => {}
    }
    (path, a, b)
}

fn same(a: Option<&Value>, b: Option<&Value>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => fits(a, b),
        _ => false,
    }
}

fn shown(value: Option<&Value>) -> String {
    match value {
        Some(value) => clipped(&value.to_string()),
        None => "nothing".to_owned(),
    }
}

/// Excerpts of two texts, from just before their first difference.
fn apart(recorded: &str, request: &str) -> (String, String) {
    let both = recorded.chars().zip(request.chars());
    let same = both.take_while(|(a, b)| a == b).count();
    let from = same.saturating_sub(BEFORE);
    let cut = |text: &str| {
        let rest: String = text.chars().skip(from).collect();
        let mark = if from > 0 { "… " } else { "" };
        format!("{mark}{}", clipped(&rest))
    };
    (cut(recorded), cut(request))
}

fn clipped(text: &str) -> String {
    let text = text.replace('\n', "⏎");
    match text.char_indices().nth(AFTER) {
        Some((at, _)) => format!("{} …", &text[..at]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_first_difference_is_shown_with_its_place() {
        let recorded = json!({"messages": [{"text": "What is 6 * 7?"}], "stop": []});
        let request = json!({"messages": [{"text": "What is 6 * 8?"}], "stop": []});
        assert_eq!(
            difference(&recorded, &request),
            "`messages[0].text` differs; recorded: … * 7?; now: … * 8?"
        );
        let longer = json!({"messages": [{"text": "What is 6 * 7?"}, {"text": "y"}], "stop": []});
        assert_eq!(
            difference(&recorded, &longer),
            "`messages[1]` differs; recorded: nothing; now: {\"text\":\"y\"}"
        );
        assert_eq!(agreement(&recorded, &longer), 1);
        assert_eq!(agreement(&recorded, &request), 0);
    }
}
