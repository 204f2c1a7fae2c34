//! Results, a line for each contender and task, and the table of them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::Path;

use anyhow::Context as _;
use serde::{Deserialize, Serialize};

use crate::contender::Answered;
use crate::service::Asked;
use crate::task::Task;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Result {
    pub(crate) model: String,
    pub(crate) max_iterations: u32,
    pub(crate) contender: String,
    pub(crate) task: String,
    pub(crate) kind: String,
    pub(crate) is_right: bool,
    pub(crate) seconds: f64,
    pub(crate) answered: Answered,
    pub(crate) asked: Asked,
}

/// The results of a file, kept as they come, so that a run that was stopped goes on.
pub(crate) struct Results {
    pub(crate) list: Vec<Result>,
    file: File,
}

impl Results {
    /// # Errors
    /// When the file cannot be used, or has results of another model or number of steps, which
    /// cannot be compared.
    pub(crate) fn open(path: &Path, model: &str, max_iterations: u32) -> anyhow::Result<Self> {
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(error).with_context(|| path.display().to_string()),
        };
        let list: Vec<Result> = text
            .lines()
            .map(serde_json::from_str)
            .collect::<std::result::Result<_, _>>()
            .with_context(|| format!("{} is not a file of results", path.display()))?;
        if let Some(other) = list
            .iter()
            .find(|result| result.model != model || result.max_iterations != max_iterations)
        {
            anyhow::bail!(
                "{} has results of the model `{}` with at most {} steps: choose another file by \
                 `--results`",
                path.display(),
                other.model,
                other.max_iterations
            );
        }
        let file = OpenOptions::new().create(true).append(true).open(path)?;
        Ok(Self { list, file })
    }

    pub(crate) fn has(&self, contender: &str, task: &str) -> bool {
        let is_it = |result: &Result| result.contender == contender && result.task == task;
        self.list.iter().any(is_it)
    }

    pub(crate) fn add(&mut self, result: Result) -> anyhow::Result<()> {
        let line = serde_json::to_string(&result)? + "\n";
        self.file.write_all(line.as_bytes())?;
        self.list.push(result);
        Ok(())
    }
}

/// The table, with the command that made it.
pub(crate) fn page(command: &str, table: &str) -> String {
    format!(
        "# Quality\n\n\
         Made on {} by\n\n```sh\n{command}\n```\n\n\
         Steps, calls and tokens are means of a task. What a task is and how answers are checked \
         is told [beside the code](../README.md#quality); every run is a line of \
         [`quality.jsonl`](quality.jsonl).\n\n{table}",
        jiff::Timestamp::now().strftime("%Y-%m-%d"),
    )
}

/// All results in Markdown. Who has done the same tasks can be compared: there is a table for each set
/// of tasks that some contender has done, with everybody who has done those, and one for the tasks on
/// which enact was not tuned.
pub(crate) fn tables(results: &[Result], tasks: &[Task]) -> String {
    let mut done: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for result in results {
        let tasks = done.entry(&result.contender).or_default();
        tasks.insert(&result.task);
    }
    let untuned = tasks.iter().filter(|task| !task.is_tuned);
    let untuned: BTreeSet<&str> = untuned.map(|task| task.id.as_str()).collect();
    let mut sets: Vec<&BTreeSet<&str>> = done.values().collect();
    if done.values().any(|tasks| untuned.is_subset(tasks)) {
        sets.push(&untuned);
    }
    sets.sort_by_key(|tasks| (std::cmp::Reverse(tasks.len()), *tasks));
    sets.dedup();
    let told = sets.iter().map(|&tasks| {
        let is_compared = |result: &&Result| {
            tasks.contains(result.task.as_str())
                && tasks.is_subset(&done[result.contender.as_str()])
        };
        let compared: Vec<&Result> = results.iter().filter(is_compared).collect();
        let noun = if tasks.len() == 1 { "task" } else { "tasks" };
        let kept = match *tasks == untuned {
            true => " on which enact was not tuned",
            false => "",
        };
        let count = tasks.len();
        format!("## {count} {noun}{kept}\n\n{}", table(&compared))
    });
    told.collect::<Vec<_>>().join("\n")
}

/// One row for each contender.
fn table(results: &[&Result]) -> String {
    let mut rows: BTreeMap<&str, Vec<&Result>> = BTreeMap::new();
    for &result in results {
        rows.entry(&result.contender).or_default().push(result);
    }
    let mut out = String::from(
        "| contender | solved | steps | model calls | prompt tokens | completion tokens | how runs ended |\n\
         | --- | ---: | ---: | ---: | ---: | ---: | --- |\n",
    );
    for (contender, results) in rows {
        let count = results.len();
        let solved = results.iter().filter(|result| result.is_right).count();
        let mean = |figure: fn(&Result) -> u64| {
            results.iter().map(|result| figure(result)).sum::<u64>() as f64 / count as f64
        };
        let _ = writeln!(
            out,
            "| {contender} | {solved} of {count} | {:.1} | {:.1} | {:.0} | {:.0} | {} |",
            mean(|result| result.answered.steps),
            mean(|result| result.asked.model_calls),
            mean(|result| result.asked.prompt_tokens),
            mean(|result| result.asked.completion_tokens),
            endings(&results),
        );
    }
    out.push_str("\nSolved, by kind of task:\n\n");
    out.push_str(&by_kind(results));
    out
}

/// Such as `success 38, stalled 2`.
fn endings(results: &[&Result]) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for result in results {
        *counts.entry(&result.answered.termination).or_default() += 1;
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let told: Vec<_> = counts
        .iter()
        .map(|(reason, count)| format!("{reason} {count}"))
        .collect();
    told.join(", ")
}

fn by_kind(results: &[&Result]) -> String {
    let mut kinds: Vec<&str> = Vec::new();
    let mut counts: BTreeMap<&str, BTreeMap<&str, (usize, usize)>> = BTreeMap::new();
    for result in results {
        if !kinds.contains(&result.kind.as_str()) {
            kinds.push(&result.kind);
        }
        let row = counts.entry(&result.contender).or_default();
        let (solved, all) = row.entry(&result.kind).or_default();
        *solved += usize::from(result.is_right);
        *all += 1;
    }
    let mut out = format!("| contender | {} |\n|", kinds.join(" | "));
    out.push_str(&" --- |".repeat(kinds.len() + 1));
    out.push('\n');
    for (contender, row) in counts {
        let cell = |kind: &&str| match row.get(*kind) {
            Some((solved, all)) => format!("{solved} of {all}"),
            None => "–".to_owned(),
        };
        let cells: Vec<_> = kinds.iter().map(cell).collect();
        let _ = writeln!(out, "| {contender} | {} |", cells.join(" | "));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(contender: &str, task: &str, is_right: bool) -> Result {
        serde_json::from_value(serde_json::json!({
            "model": "m", "max_iterations": 8, "contender": contender, "task": task, "kind": "file",
            "is_right": is_right, "seconds": 1.0,
            "answered": {"answer": "a", "steps": 2, "termination": "success", "error": null},
            "asked": {"model_calls": 2, "prompt_tokens": 100, "completion_tokens": 10, "uncounted": 0},
        }))
        .unwrap()
    }

    fn task(id: &str, is_tuned: bool) -> Task {
        serde_json::from_value(serde_json::json!({
            "id": id, "kind": "file", "tuned": is_tuned, "question": "?", "expected": {"number": 1},
        }))
        .unwrap()
    }

    #[test]
    fn contenders_are_compared_by_the_tasks_that_they_have_done() {
        let tasks = [task("file-1", true), task("file-2", false)];
        let mut results = vec![
            result("a", "file-1", true),
            result("a", "file-2", false),
            result("b", "file-1", true),
        ];
        let told = tables(&results, &tasks);
        let (all, rest) = told.split_once("## 1 task\n").unwrap();
        let (common, untuned) = rest
            .split_once("## 1 task on which enact was not tuned\n")
            .unwrap();
        assert!(all.starts_with("## 2 tasks\n"), "{all}");
        assert!(all.contains("| a | 1 of 2 |"), "{all}");
        assert!(!all.contains("| b |"), "{all}");
        assert!(common.contains("| a | 1 of 1 |"), "{common}");
        assert!(common.contains("| b | 1 of 1 |"), "{common}");
        assert!(untuned.contains("| a | 0 of 1 |"), "{untuned}");
        assert!(!untuned.contains("| b |"), "{untuned}");
        results.push(result("b", "file-2", true));
        let told = tables(&results, &tasks);
        assert!(told.contains("| b | 2 of 2 |"), "{told}");
        assert_eq!(told.matches("##").count(), 2, "{told}");
    }
}
