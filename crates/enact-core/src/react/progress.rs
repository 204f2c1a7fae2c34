//! Detects a lack of progress: repeated steps, calls that fail again, calls whose result is
//! known.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use serde_json::Value;

use super::program::Program;
use crate::run::{Call, Notice, Observation, Step, StepCall, canonical_args, canonical_json};
use crate::signature::Values;
use crate::tool::Effect;

/// The similarity from which two texts count as the same.
const ALIKE: f64 = 0.9;
/// Shorter texts are alike only if they are the same.
const SHORTEST_REPEATED: usize = 12;
/// Longer texts are compared by their beginnings.
const COMPARED: usize = 400;
/// Reads that keep failing, whatever is requested, end the task after this many times the steps that
/// cause a warning.
const FAILING_TOO_LONG: u32 = 2;
/// Different requests with the same result are a search. It ends the task after this many times the
/// steps that cause a warning.
const SEARCHED: u32 = 3;

/// What the steps so far show about progress.
#[derive(Debug, Default)]
pub(super) struct Progress {
    last: Vec<Act>,
    /// Consecutive steps that repeated earlier ones. The original step doesn't count.
    repeats: u32,
    /// Consecutive steps with a different request and the same result as the step before.
    same_answers: u32,
    was_warned: bool,
    failed: HashSet<String>,
    /// Consecutive steps in which every call failed.
    failing: u32,
    /// Calls that changed nothing and whose results are still valid, with the records of the results.
    known: HashMap<String, usize>,
}

/// A call and its result.
#[derive(Debug)]
struct Act {
    call: Arc<Call>,
    observation: Arc<Observation>,
    effect: Effect,
}

/// What a step shows.
#[derive(Debug, Default)]
pub(super) struct Finding {
    pub(super) is_stalled: bool,
    pub(super) notices: Vec<(Notice, String)>,
}

impl Progress {
    /// The record that answers a call, if the call doesn't have to run.
    pub(super) fn known(&self, call: &Call) -> Option<usize> {
        if self.known.is_empty() {
            return None;
        }
        self.known.get(&key(call)).copied()
    }

    /// Adds a step whose calls are complete.
    pub(super) fn take(&mut self, step: &Step, threshold: u32, program: &Program) -> Finding {
        let done = program.completion.tool_name();
        self.remember(step, program);
        let mut finding = Finding::default();
        let mut acts = Vec::with_capacity(step.calls.len());
        let mut is_new = false;
        let mut failed = Vec::new();
        for StepCall {
            call,
            done: gave,
            attempts,
            from_record,
            ..
        } in &step.calls
        {
            // A rejected call counts as an unusable reply.
            let Some(gave) = gave else {
                continue;
            };
            let notice = if *from_record {
                Some((Notice::RepeatedCall, not_run_again(&call.name, done)))
            } else if *attempts > 0 && gave.observation.is_error {
                let key = key(call);
                let is_again = self.failed.contains(&key);
                failed.push(key);
                is_again.then(|| (Notice::RepeatedFailure, failed_again(&call.name)))
            } else {
                None
            };
            is_new |= notice.is_none();
            finding.notices.extend(notice);
            let effect = effect(program, &call.name);
            acts.push(Act {
                call: call.clone(),
                observation: gave.observation.clone(),
                effect,
            });
        }
        // Calls of one step don't know each other's results.
        self.failed.extend(failed);
        if acts.is_empty() {
            return finding;
        }
        self.count(acts, is_new);
        if threshold > 0 {
            self.judge(threshold, done, &mut finding);
        }
        finding
    }

    /// Counts what the calls of a step have in common with earlier ones.
    fn count(&mut self, acts: Vec<Act>, is_new: bool) {
        let has_failed = acts.iter().all(|act| act.observation.is_error);
        self.failing = if has_failed {
            self.failing.saturating_add(1)
        } else {
            0
        };
        let compared = || acts.iter().zip(&self.last);
        let is_paired = acts.len() == self.last.len();
        let is_same = is_paired && compared().all(|(new, old)| new.repeats(old));
        let is_same_answer = is_paired && compared().all(|(new, old)| new.is_answered_as(old));
        if is_same || !is_new {
            self.repeats = self.repeats.saturating_add(1);
        } else {
            self.repeats = 0;
            self.was_warned = false;
        }
        self.same_answers = if is_same_answer {
            self.same_answers.saturating_add(1)
        } else {
            0
        };
        self.last = acts;
    }

    /// The conclusion from the counts.
    fn judge(&mut self, threshold: u32, done: &str, finding: &mut Finding) {
        if self.repeats >= threshold {
            finding.is_stalled = self.was_warned;
            if !self.was_warned {
                self.was_warned = true;
                // This says more than that a call was repeated.
                finding.notices = vec![(Notice::Stall, nothing_new(self.repeats, done))];
            }
            return;
        }
        let only_reads = self.last.iter().all(|act| act.effect == Effect::ReadOnly);
        let end = threshold.saturating_mul(FAILING_TOO_LONG);
        if only_reads && self.failing >= end {
            finding.is_stalled = true;
        } else if only_reads && self.failing + 1 == end {
            finding.notices = vec![(Notice::Stall, nothing_new(self.failing, done))];
        } else if self.failing > 0
            && self.failing.is_multiple_of(threshold)
            && let Some(last) = self.last.last()
        {
            let text = failed_in_row(&last.call.name, self.failing);
            finding.notices = vec![(Notice::RepeatedFailure, text)];
        } else if self.failing == 0 && self.same_answers >= threshold.saturating_mul(SEARCHED) {
            finding.is_stalled = true;
        } else if self.failing == 0
            && self.same_answers > 0
            && self.same_answers.is_multiple_of(threshold)
        {
            finding.notices = vec![(Notice::SameAnswer, same_answer(self.same_answers + 1, done))];
        }
    }

    /// All known results become invalid.
    pub(super) fn forget(&mut self) {
        self.known.clear();
    }

    /// Results are valid until something may have changed.
    fn remember(&mut self, step: &Step, program: &Program) {
        let ran = || step.calls.iter().filter(|call| call.attempts > 0);
        if ran().any(|ran| effect(program, &ran.call.name) != Effect::ReadOnly) {
            self.known.clear();
            return;
        }
        for ran in ran() {
            if ran.done.is_some() && !ran.is_error() {
                self.known.insert(key(&ran.call), ran.record);
            }
        }
    }
}

/// What a tool can change.
fn effect(program: &Program, tool: &str) -> Effect {
    match program.tool(tool) {
        // Storing another note is not a search.
        Some((spec, _)) if !spec.keeps_notes => spec.effect,
        _ => Effect::Effectful,
    }
}

// Short and definite: given reasons and a choice, a small model repeats what it did.
fn failed_again(tool: &str) -> String {
    format!("`{tool}` failed again: it cannot help here. Use another tool.")
}

fn failed_in_row(tool: &str, steps: u32) -> String {
    format!("The last {steps} steps failed: `{tool}` cannot help here. Use another tool.")
}

fn nothing_new(steps: u32, done: &str) -> String {
    format!(
        "The last {steps} steps brought nothing new, and one more of the same ends the task. Call \
         `{done}` now, with the best answer you have."
    )
}

fn same_answer(steps: u32, done: &str) -> String {
    format!(
        "The last {steps} steps gave the same result. Try something quite different, or call \
         `{done}` with the best answer you have."
    )
}

/// The way out comes last, because a small model follows what it reads last.
fn not_run_again(tool: &str, done: &str) -> String {
    format!(
        "You made the same call before, and `{tool}` was not run again. If the results above \
         answer the task, call `{done}` now."
    )
}

fn key(call: &Call) -> String {
    format!("{} {}", call.name, canonical_args(&call.args))
}

impl Act {
    /// Whether this repeats an earlier call. An identical call with a different result is progress: waiting
    /// for a job, the next result of a search. So is success after a failure.
    fn repeats(&self, earlier: &Act) -> bool {
        let is_mended = earlier.observation.is_error && !self.observation.is_error;
        let is_exact = canonical_args(&self.call.args) == canonical_args(&earlier.call.args);
        self.is_same_call(earlier) && !is_mended && (!is_exact || self.is_same_outcome(earlier))
    }

    /// Whether a different request had the same result. A call that changes the world makes progress,
    /// whatever its result.
    fn is_answered_as(&self, earlier: &Act) -> bool {
        self.effect == Effect::ReadOnly
            && earlier.effect == Effect::ReadOnly
            && self.is_same_outcome(earlier)
    }

    fn is_same_outcome(&self, earlier: &Act) -> bool {
        let (new, old) = (&self.observation, &earlier.observation);
        new.is_error == old.is_error && new.value == old.value && new.images == old.images
    }

    fn is_same_call(&self, earlier: &Act) -> bool {
        let (args, before) = (&self.call.args, &earlier.call.args);
        self.call.name == earlier.call.name
            && match self.effect {
                Effect::ReadOnly => are_args_alike(args, before),
                _ => canonical_args(args) == canonical_args(before),
            }
    }
}

/// Whether two arguments are the same except for the wording of texts.
fn is_alike(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::String(a), Value::String(b)) => are_texts_alike(a, b),
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_alike(a, b))
        }
        (Value::Object(a), Value::Object(b)) => are_args_alike(a, b),
        (a, b) => canonical_json(a) == canonical_json(b),
    }
}

fn are_args_alike(a: &Values, b: &Values) -> bool {
    a.len() == b.len()
        && a.iter()
            .all(|(key, a)| b.get(key).is_some_and(|b| is_alike(a, b)))
}

fn are_texts_alike(a: &str, b: &str) -> bool {
    // Page 2 is not page 1.
    let digits = |text| str::chars(text).filter(char::is_ascii_digit);
    if !digits(a).eq(digits(b)) {
        return false;
    }
    let (a, b) = (words(a), words(b));
    a == b
        || (a.len() >= SHORTEST_REPEATED
            && may_be_alike(&a, &b)
            && strsim::normalized_levenshtein(&a, &b) >= ALIKE)
}

/// Whether a text says what an earlier one said, perhaps with more or less around it.
pub(super) fn says_again(text: &str, before: &str) -> bool {
    let (now, then) = (words(text), words(before));
    let (short, long) = match now.len() < then.len() {
        true => (&now, &then),
        false => (&then, &now),
    };
    let is_within = short.len() >= SHORTEST_REPEATED && long.contains(short);
    is_within || are_texts_alike(text, before)
}

/// The beginning of a text in lower case, with one space between words and nothing else.
fn words(text: &str) -> String {
    let lower = text.to_lowercase();
    let mut words = String::with_capacity(lower.len());
    for word in lower.split(|c: char| !c.is_alphanumeric()) {
        if !words.is_empty() && !word.is_empty() {
            words.push(' ');
        }
        words.push_str(word);
    }
    match words.char_indices().nth(COMPARED) {
        Some((end, _)) => words[..end].to_owned(),
        None => words,
    }
}

/// Whether two texts share enough letters to be similar. Counting letters is cheap, comparing them in
/// order is not, and resuming a long run compares all its steps.
fn may_be_alike(a: &str, b: &str) -> bool {
    let mut surplus = [0_i32; 64];
    let mut count = |text: &str, one: i32| -> i32 {
        let letters = text.chars();
        letters
            .map(|letter| {
                surplus[letter as usize % 64] += one;
                1
            })
            .sum()
    };
    let longest = count(a, 1).max(count(b, -1));
    // Each edit removes at most one superfluous and one missing letter.
    let excess: i32 = surplus.iter().filter(|count| **count > 0).sum();
    let lack: i32 = -surplus.iter().filter(|count| **count < 0).sum::<i32>();
    f64::from(excess.max(lack)) <= (1.0 - ALIKE) * f64::from(longest) + 1.0
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn texts_are_alike_up_to_their_wording() {
        for (a, b) in [
            ("Population of France", "population of france?"),
            ("weather in  Paris, today", "Weather in Paris today"),
            ("the capital of Australia", "the capital of Austalia"),
        ] {
            assert!(is_alike(&json!({"q": a}), &json!({"q": b})), "{a} / {b}");
        }
        for (a, b) in [
            ("page/1/of/the/catalogue", "page/2/of/the/catalogue"),
            ("Paris", "Peris"),
            ("capital of France", "capital of Greece"),
        ] {
            assert!(!is_alike(&json!({"q": a}), &json!({"q": b})), "{a} / {b}");
        }
        assert!(!are_texts_alike(
            "rain in Paris and Rome",
            "snow at Oslo or Bergen"
        ));
        assert!(!is_alike(&json!({"n": 1}), &json!({"n": 2})));
        assert!(!is_alike(&json!({"q": "x"}), &json!({"q": "x", "n": 2})));
        assert!(is_alike(&json!({"a": 1, "b": 2}), &json!({"b": 2, "a": 1})));
    }

    proptest! {
        #[test]
        fn a_quick_look_overlooks_nothing(a in "[a-e ]{12,60}", b in "[a-e ]{12,60}", cut in 0_usize..60) {
            let near = a[..cut.min(a.len())].to_owned() + &a[(cut + 1).min(a.len())..];
            for other in [&b, &near] {
                if strsim::normalized_levenshtein(&a, other) >= ALIKE {
                    prop_assert!(may_be_alike(&a, other), "{a} / {other}");
                }
            }
        }
    }
}
