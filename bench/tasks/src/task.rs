//! The tasks, and whether an answer is right.

use anyhow::Context as _;
use serde::{Deserialize, Serialize};

/// What every contender is told beside the question.
pub(crate) const INSTRUCTIONS: &str = "Answer the question with the help of the tools. The answer is the \
    value alone, without a unit or an explanation. If the tools do not know it, the answer is \
    `unknown`.";

/// The longest reply, so that a model that does not stop writing does not stop the others.
pub(crate) const MAX_TOKENS: u32 = 400;

const TASKS: &str = include_str!("../tasks.jsonl");
/// How far a number may be from the right one, as a share of it.
const TOLERANCE: f64 = 0.001;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Task {
    pub(crate) id: String,
    pub(crate) kind: String,
    /// Whether enact's words to a model were tried on conversations about it.
    #[serde(default, rename = "tuned")]
    pub(crate) is_tuned: bool,
    pub(crate) question: String,
    pub(crate) expected: Expected,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Expected {
    Number(f64),
    Text(String),
}

/// All tasks, or those whose id begins with one of the names.
pub(crate) fn read(names: &[String]) -> anyhow::Result<Vec<Task>> {
    let mut tasks = Vec::new();
    for line in TASKS.lines() {
        let task: Task = serde_json::from_str(line).with_context(|| line.to_owned())?;
        if names.is_empty() || names.iter().any(|name| task.id.starts_with(name)) {
            tasks.push(task);
        }
    }
    anyhow::ensure!(
        !tasks.is_empty(),
        "no task is called {}",
        names.join(" or ")
    );
    Ok(tasks)
}

impl Expected {
    /// Whether an answer is right: it has the number, or the words, and no other number.
    pub(crate) fn is_met_by(&self, answer: &str) -> bool {
        match self {
            Self::Number(expected) => {
                let near = |found: &f64| (found - expected).abs() <= expected.abs() * TOLERANCE;
                let found = numbers(answer);
                !found.is_empty() && found.iter().all(near)
            }
            Self::Text(expected) => {
                let answer = answer.to_lowercase();
                let expected = expected.to_lowercase();
                let is_edge = |c: Option<char>| !c.is_some_and(char::is_alphanumeric);
                answer.match_indices(&expected).any(|(at, found)| {
                    is_edge(answer[..at].chars().next_back())
                        && is_edge(answer[at + found.len()..].chars().next())
                })
            }
        }
    }
}

/// The numbers in a text: `1,234.5` and `1234.5` are the same one.
fn numbers(text: &str) -> Vec<f64> {
    let text = text.replace(',', "");
    text.split(|c: char| !c.is_ascii_digit() && c != '.' && c != '-')
        .filter_map(|word| word.trim_end_matches('.').parse().ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_at_least_forty_tasks_with_names_of_their_own() {
        let tasks = read(&[]).unwrap();
        let names: std::collections::HashSet<_> = tasks.iter().map(|task| &task.id).collect();
        assert!(tasks.len() >= 40, "{}", tasks.len());
        assert_eq!(names.len(), tasks.len());
    }

    #[test]
    fn an_answer_is_right_by_its_value() {
        let number = Expected::Number(6576.0);
        assert!(number.is_met_by("6576"));
        assert!(number.is_met_by("The product is 6,576."));
        assert!(!number.is_met_by("6600 or 6576"));
        assert!(!number.is_met_by("about 6000"));
        assert!(!number.is_met_by(""));
        let text = Expected::Text("Meyer".into());
        assert!(text.is_met_by("It is meyer."));
        assert!(!text.is_met_by("Obermeyer"));
        assert!(!text.is_met_by("unknown"));
    }
}
