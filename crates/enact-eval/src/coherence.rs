//! Estimates from words whether a thought connects to the calls after it.

use std::collections::BTreeSet;

use enact_core::run::{Call, Step};
use enact_core::tool::ToolSpec;
use serde_json::Value;

/// The minimum number of distinct words in a thought.
const FEWEST_WORDS: usize = 2;
/// The minimum length of a word that is not a number.
const FEWEST_LETTERS: usize = 3;

/// Words that don't count.
const STOP_WORDS: &[&str] = &[
    "about", "all", "also", "and", "any", "are", "but", "can", "could", "did", "does", "for",
    "from", "get", "give", "has", "have", "her", "his", "how", "into", "its", "let", "may", "more",
    "must", "need", "next", "not", "now", "one", "our", "out", "should", "some", "such", "than",
    "that", "the", "their", "them", "then", "there", "these", "they", "this", "tool", "use",
    "using", "was", "what", "when", "where", "which", "who", "will", "with", "would", "you",
    "your",
];

/// The model's thought before it acted: the text of the step, or its reasoning.
pub fn thought(step: &Step) -> &str {
    match step.thought().trim() {
        "" => step.replied.reply.reasoning.trim(),
        thought => thought,
    }
}

/// Whether the thought connects to one of the calls: it has at least two distinct words, and shares a
/// word with the name, the description or the arguments of a called tool, or quotes an argument
/// completely.
pub fn connects(thought: &str, calls: &[&Call], tools: &[ToolSpec]) -> bool {
    let said = words(thought);
    let spoken: BTreeSet<&str> = thought.split_whitespace().collect();
    let is_degenerate = spoken.len() < FEWEST_WORDS && thought.is_ascii();
    if is_degenerate || thought.trim().is_empty() {
        return false;
    }
    calls.iter().any(|call| {
        let mut meant = words(&call.name);
        if let Some(tool) = tools.iter().find(|tool| tool.name == call.name) {
            meant.extend(words(&tool.description));
        }
        let mut arguments = Vec::new();
        for value in call.args.values() {
            leaves(value, &mut arguments);
        }
        meant.extend(arguments.iter().flat_map(|text| words(text)));
        let quotes = |text: &String| text.chars().count() >= 2 && thought.contains(text.as_str());
        !said.is_disjoint(&meant) || arguments.iter().any(quotes)
    })
}

/// The texts and numbers of a value.
fn leaves(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) => found.push(text.trim().to_owned()),
        Value::Number(number) => found.push(number.to_string()),
        Value::Array(items) => items.iter().for_each(|item| leaves(item, found)),
        Value::Object(map) => map.values().for_each(|item| leaves(item, found)),
        Value::Null | Value::Bool(_) => {}
    }
}

/// The significant words, in lower case, without endings.
fn words(text: &str) -> BTreeSet<String> {
    let lower = text.to_lowercase();
    let all = lower.split(|c: char| !c.is_alphanumeric());
    all.filter(|word| !STOP_WORDS.contains(word))
        .filter(|word| {
            let is_number = word.chars().any(|c| c.is_ascii_digit());
            is_number || word.chars().count() >= FEWEST_LETTERS
        })
        .map(stem)
        .collect()
}

/// Reduces `searches`, `searching` and `searched` to `search`.
fn stem(word: &str) -> String {
    let endings = ["ing", "es", "ed", "s", "e"];
    let mut stems = endings
        .iter()
        .filter_map(|ending| word.strip_suffix(ending))
        .filter(|stem| stem.chars().count() >= FEWEST_LETTERS);
    stems.next().unwrap_or(word).to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(thought: &str, name: &str, args: Value) -> bool {
        let call = Call {
            id: "1".to_owned(),
            name: name.to_owned(),
            args: serde_json::from_value(args).unwrap(),
            raw: None,
        };
        let tools = [
            ToolSpec::new(
                "search_files",
                "Finds the lines that hold a text.",
                json!({}),
            ),
            ToolSpec::new(
                "calculator",
                "Evaluates an arithmetic expression.",
                json!({}),
            ),
        ];
        connects(thought, &[&call], &tools)
    }

    #[test]
    fn a_thought_that_names_tool_arguments_or_purpose_connects() {
        for (thought, name, args) in [
            (
                "I will search the notes.",
                "search_files",
                json!({"text": "x"}),
            ),
            (
                "The calculator can do that.",
                "calculator",
                json!({"expression": "1 + 1"}),
            ),
            (
                "17 percent of 2340 it is.",
                "calculator",
                json!({"expression": "0.17 * 2340"}),
            ),
            (
                "Who wrote about Ada?",
                "search_files",
                json!({"text": "Ada Lovelace"}),
            ),
            (
                "First evaluate this.",
                "calculator",
                json!({"expression": "1"}),
            ),
            (
                "Ich suche nach Äpfel hier.",
                "search_files",
                json!({"text": "Äpfel"}),
            ),
            ("我要查找苹果", "search_files", json!({"text": "苹果"})),
            (
                "Look into deep nests.",
                "unknown",
                json!({"a": [{"b": "nest"}]}),
            ),
        ] {
            assert!(check(thought, name, args), "{thought}");
        }
    }

    #[test]
    fn nothing_a_single_word_or_something_else_does_not() {
        for thought in [
            "",
            "   ",
            "calculator",
            "calculator calculator",
            "The weather in Paris is nice.",
            "I will use the tool now.",
            "...",
        ] {
            assert!(
                !check(thought, "calculator", json!({"expression": "1 + 1"})),
                "{thought}"
            );
        }
    }
}
