//! Checks thoughts: present, long enough, substantive, and not repeated.

use super::state::RunState;
use crate::adapter::ReadCall;
use crate::adapter::describe::quoted;
use crate::run::ThoughtRules;

/// Words that say nothing about the task.
const EMPTY_WORDS: &[&str] = &[
    "a", "again", "an", "call", "calling", "can", "do", "first", "going", "i", "invoke", "it",
    "let", "ll", "m", "me", "must", "my", "need", "next", "now", "ok", "okay", "please", "run",
    "s", "shall", "should", "so", "step", "the", "then", "this", "to", "tool", "tools", "try",
    "us", "use", "using", "we", "will", "with",
];

/// The problem with the thought before these calls, for the model.
pub(super) fn problem(state: &RunState, thought: &str, calls: &[ReadCall]) -> Option<String> {
    let rules = state.started().rules.thoughts;
    // The same budget as for replies that cannot be read; then a poor thought has to do.
    if state.patience.bad_in_row >= state.started().limits.max_repairs {
        return None;
    }
    let what = describe(rules, thought, calls, last_thought(state))?;
    Some(format!(
        "{what} {} was not executed. Say what you know, what is still missing and why this call \
         comes next; then call again.",
        quoted(calls.iter().map(|call| &call.name))
    ))
}

fn describe(
    rules: ThoughtRules,
    thought: &str,
    calls: &[ReadCall],
    last: Option<&str>,
) -> Option<String> {
    let thought = thought.trim();
    if thought.is_empty() {
        let is_needed = rules.required || rules.min_length > 0 || rules.substantive;
        return is_needed.then(|| "You called a tool without a thought.".to_owned());
    }
    let length = thought.chars().count();
    if length < rules.min_length {
        return Some(format!(
            "Your thought has {length} characters, and needs at least {}.",
            rules.min_length
        ));
    }
    if rules.substantive && is_degenerate(thought, calls) {
        return Some("Your thought says nothing about the task.".to_owned());
    }
    let repeats = rules.new && last.is_some_and(|last| words(last) == words(thought));
    repeats.then(|| "Your thought is the same as the last one.".to_owned())
}

fn last_thought(state: &RunState) -> Option<&str> {
    state.run().steps().last().map(|step| step.thought())
}

fn words(text: &str) -> Vec<String> {
    let lower = text.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric());
    words
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Whether nothing is left of a thought without tool names and empty words.
fn is_degenerate(thought: &str, calls: &[ReadCall]) -> bool {
    let names: Vec<String> = calls.iter().flat_map(|call| words(&call.name)).collect();
    words(thought)
        .iter()
        .all(|word| EMPTY_WORDS.contains(&word.as_str()) || names.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calls(name: &str) -> Vec<ReadCall> {
        vec![ReadCall {
            id: None,
            name: name.to_owned(),
            args: Ok(crate::signature::Values::new()),
        }]
    }

    #[test]
    fn thoughts_without_substance_are_known() {
        for thought in [
            "I will use the tool",
            "Let me call web_search now.",
            "Use the search tool!",
            "OK",
        ] {
            assert!(is_degenerate(thought, &calls("web_search")), "{thought}");
        }
        for thought in [
            "I need the population of Paris.",
            "The file is missing, so I look in the folder.",
            "2 + 2",
        ] {
            assert!(!is_degenerate(thought, &calls("web_search")), "{thought}");
        }
    }

    #[test]
    fn each_rule_has_its_words() {
        let none = ThoughtRules::default();
        let said = |rules, thought: &str, last| describe(rules, thought, &calls("search"), last);
        assert_eq!(said(none, "", None), None);
        assert_eq!(
            said(none, "I will use the tool", Some("I will use the tool")),
            None
        );
        let required = ThoughtRules {
            required: true,
            ..none
        };
        assert!(
            said(required, " ", None)
                .unwrap()
                .contains("without a thought")
        );
        let long = ThoughtRules {
            min_length: 20,
            ..none
        };
        assert!(said(long, "short", None).unwrap().contains("at least 20"));
        assert_eq!(said(long, "long enough to be a thought", None), None);
        let substantive = ThoughtRules {
            substantive: true,
            ..none
        };
        assert!(said(substantive, "I will use the tool", None).is_some());
        let new = ThoughtRules { new: true, ..none };
        assert!(said(new, "Paris is next!", Some("paris is next")).is_some());
        assert_eq!(said(new, "Paris is next", Some("Rome is next")), None);
    }
}
