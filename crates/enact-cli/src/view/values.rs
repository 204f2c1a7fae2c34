//! Shows calls and outputs.

use enact::Values;
use serde_json::Value;

use super::screen::{Ink, Screen};
use super::{exact, markdown, text};

/// The maximum number of characters of an argument in a line.
const MAX_ARGUMENT: usize = 60;
/// The maximum number of arguments in a line.
const MAX_ARGUMENTS: usize = 8;

/// A call in one line: `read_file(path="notes.txt", max_lines=20)`. Long arguments are truncated in the
/// middle, and invisible characters are escaped.
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

/// A value in lines: text is rendered on a terminal, a list of scalars is shown as a list, anything
/// else as JSON.
fn output_lines(value: &Value, screen: &Screen, indent: usize) -> Vec<String> {
    let width = screen.room(indent);
    match value {
        Value::String(string) => match width.filter(|_| screen.has_colour()) {
            Some(width) => markdown::lines(screen, string, width),
            None => text::lines(string, width),
        },
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

/// The format of outputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// Each with its name.
    Named,
    /// A single text alone, several outputs with their names.
    Bare,
}

/// Where outputs go, and in which format.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Outputs<'a> {
    pub(crate) screen: &'a Screen,
    pub(crate) form: Form,
}

impl<'a> Outputs<'a> {
    /// With names, below the steps.
    pub(crate) fn below(screen: &'a Screen) -> Self {
        Self {
            screen,
            form: Form::Named,
        }
    }

    /// Prints the outputs.
    pub(crate) fn show(self, outputs: &Values) {
        let only = match (self.form, outputs.len()) {
            (Form::Bare, 1) => outputs.values().next().and_then(Value::as_str),
            _ => None,
        };
        match only {
            Some(text) if self.screen.is_terminal() => {
                for line in output_lines(&text.into(), self.screen, 0) {
                    self.screen.line(&line);
                }
            }
            // A program gets the text unchanged.
            Some(text) => self.screen.line(text.trim_end_matches('\n')),
            None => show_named(self.screen, outputs),
        }
    }
}

fn show_named(screen: &Screen, outputs: &Values) {
    for (name, value) in outputs {
        let lines = output_lines(value, screen, 2);
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

    use super::super::screen::Stream;
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
        let screen = Screen::new(Stream::Nowhere);
        let lines = |value: Value| output_lines(&value, &screen, 2);
        assert_eq!(lines(json!("a\nb")), ["a", "b"]);
        assert_eq!(lines(json!(42)), ["42"]);
        assert_eq!(lines(json!(["a", 1])), ["- a", "- 1"]);
        assert_eq!(lines(json!([])), ["[]"]);
        assert_eq!(lines(json!({"a": 1})), ["{", "  \"a\": 1", "}"]);
    }
}
