//! Calls and outputs in words.

use enact::Values;
use serde_json::Value;

use super::screen::{Ink, Screen};
use super::{exact, text};

/// The most characters of one argument in a line.
const MAX_ARGUMENT: usize = 60;
/// The most arguments in a line.
const MAX_ARGUMENTS: usize = 8;

/// A call in one line: `read_file(path="notes.txt", max_lines=20)`. Of long arguments it has the
/// beginning and the end, and what cannot be seen is spelled out.
pub(crate) fn call_line(name: &str, args: &Values) -> String {
    let mut shown: Vec<String> = args
        .iter()
        .take(MAX_ARGUMENTS)
        .map(|(name, value)| {
            let value = value.to_string();
            format!(
                "{name}={}",
                text::ends(&exact::spelled_out(&value), MAX_ARGUMENT)
            )
        })
        .collect();
    if args.len() > shown.len() {
        shown.push("…".to_owned());
    }
    exact::spelled_out(&format!("{name}({})", shown.join(", "))).into_owned()
}

/// A value in lines: text as it is, a list of plain things as a list, anything else as JSON.
fn output_lines(value: &Value, width: Option<usize>) -> Vec<String> {
    match value {
        Value::String(string) => text::lines(string, width),
        Value::Array(items) if !items.is_empty() && items.iter().all(is_plain) => items
            .iter()
            .flat_map(|item| {
                let lines = text::lines(&plain(item), width.map(|width| width.saturating_sub(2)));
                lines.into_iter().enumerate().map(|(index, line)| {
                    let mark = if index == 0 { "-" } else { " " };
                    format!("{mark} {line}")
                })
            })
            .collect(),
        Value::Array(_) | Value::Object(_) => {
            let pretty = serde_json::to_string_pretty(value).unwrap_or_else(|_| value.to_string());
            text::lines(&pretty, None)
        }
        other => vec![other.to_string()],
    }
}

/// Shows the outputs by name.
pub(crate) fn show_outputs(screen: &Screen, outputs: &Values) {
    for (name, value) in outputs {
        let lines = output_lines(value, screen.room(2));
        let label = screen.paint(Ink::Good, &format!("{name}:"));
        match lines.as_slice() {
            [] => screen.line(&format!("{label} (empty)")),
            [only] if !only.starts_with("- ") => screen.line(&format!("{label} {only}")),
            several => {
                screen.line(&label);
                for line in several {
                    screen.line(&format!("  {line}"));
                }
            }
        }
    }
}

fn is_plain(value: &Value) -> bool {
    !value.is_array() && !value.is_object()
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn calls_are_one_short_harmless_line() {
        let args = enact::values! { path: "a\u{1b}b", content: ("x".repeat(500)), k: 3 };
        let line = call_line("write_file", &args);
        assert!(
            line.starts_with(r#"write_file(path="a\u001bb", content="xxx"#),
            "{line}"
        );
        assert!(
            line.contains("x…x") && line.ends_with("x\", k=3)"),
            "{line}"
        );
        assert!(line.len() < 160);
        assert_eq!(call_line("now", &Values::new()), "now()");
    }

    #[test]
    fn outputs_are_shown_as_their_type_suggests() {
        assert_eq!(output_lines(&json!("a\nb"), None), ["a", "b"]);
        assert_eq!(output_lines(&json!(42), None), ["42"]);
        assert_eq!(output_lines(&json!(["a", 1]), None), ["- a", "- 1"]);
        assert_eq!(output_lines(&json!([]), None), ["[]"]);
        assert_eq!(
            output_lines(&json!({"a": 1}), None),
            ["{", "  \"a\": 1", "}"]
        );
    }
}
