//! Normalises text, and shortens values.

use serde_json::Value;

/// The maximum number of characters of a value in a reason.
const SHOWN: usize = 200;

/// The text in lower case, without punctuation, articles and superfluous white space.
pub(super) fn normalised(text: &str) -> String {
    let lower = text.to_lowercase();
    let bare: String = lower.chars().filter(|&c| !is_punctuation(c)).collect();
    let words = bare.split_whitespace();
    let kept: Vec<&str> = words
        .filter(|word| !matches!(*word, "a" | "an" | "the"))
        .collect();
    kept.join(" ")
}

fn is_punctuation(character: char) -> bool {
    character.is_ascii_punctuation()
        || matches!(
            character,
            '\u{2010}'..='\u{2027}' | '\u{3001}'..='\u{3003}' | '«' | '»' | '¿' | '¡' | '·'
        )
}

/// The text in lower case, with single blanks.
pub(super) fn folded(text: &str) -> String {
    let lower = text.to_lowercase();
    lower.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The text itself, or anything else as compact JSON.
pub(super) fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// A value as JSON, truncated if it is long.
pub(super) fn clipped(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_matter_is_left_out() {
        assert_eq!(
            normalised("  The  Eiffel-Tower, \n Paris! "),
            "eiffeltower paris"
        );
        assert_eq!(normalised("An apple a day"), "apple day");
        assert_eq!(normalised("“Ça va…”"), "ça va");
        assert_eq!(normalised("the"), "");
        assert_eq!(folded(" A\n b "), "a b");
    }
}
