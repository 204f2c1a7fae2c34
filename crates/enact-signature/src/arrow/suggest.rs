//! "Did you mean": the nearest of the names that exist.

/// The known name nearest to a wrong one, or nothing when none is near enough to be what was meant.
pub(crate) fn did_you_mean<'a>(
    wrong: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let lower = wrong.to_lowercase();
    let allowed = (lower.chars().count() / 3).clamp(1, 3);
    known
        .into_iter()
        .filter_map(|name| {
            let distance = edits(&lower, &name.to_lowercase());
            // A short name is near to everything: at least one character has to be shared.
            (distance <= allowed && distance < name.chars().count()).then_some((distance, name))
        })
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, name)| name)
}

/// Insertions, deletions, replacements and swaps of neighbours that lead from one to the other.
fn edits(from: &str, to: &str) -> usize {
    let (from, to): (Vec<char>, Vec<char>) = (from.chars().collect(), to.chars().collect());
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=to.len()).collect();
    for i in 1..=from.len() {
        let mut row = vec![i];
        for j in 1..=to.len() {
            let replaced = last[j - 1] + usize::from(from[i - 1] != to[j - 1]);
            let mut best = replaced.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1] {
                best = best.min(before[j - 2] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_found_and_far_ones_are_not() {
        let known = ["str", "int", "list", "Optional", "Literal"];
        assert_eq!(did_you_mean("strr", known), Some("str"));
        assert_eq!(did_you_mean("Itn", known), Some("int"));
        assert_eq!(did_you_mean("optionl", known), Some("Optional"));
        assert_eq!(did_you_mean("literal", known), Some("Literal"));
        assert_eq!(did_you_mean("Report", known), None);
        assert_eq!(did_you_mean("x", ["y"]), None);
        assert_eq!(did_you_mean("", known), None);
    }
}
