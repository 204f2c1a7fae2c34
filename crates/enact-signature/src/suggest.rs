//! Suggestions for misspelt names.

/// The minimum similarity of two names, from 0 to 1; in a short name, one typo lowers it more.
const ALIKE: f64 = 0.75;

/// The names that may be meant by a wrong one, the most similar first.
///
/// ```
/// use enact_signature::did_you_mean;
///
/// assert_eq!(did_you_mean("serach", ["read", "search"]), ["search"]);
/// ```
pub fn did_you_mean<'a>(wrong: &str, known: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let wrong = wrong.to_lowercase();
    let mut near: Vec<(f64, &str)> = known
        .into_iter()
        .filter_map(|name| {
            let lower = name.to_lowercase();
            let alike = strsim::jaro_winkler(&wrong, &lower);
            let is_near = alike > ALIKE || strsim::osa_distance(&wrong, &lower) == 1;
            // A name with one character is similar to everything.
            (is_near && lower.chars().nth(1).is_some()).then_some((alike, name))
        })
        .collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0));
    near.into_iter().map(|(_, name)| name).collect()
}

/// A suggestion for a wrong name: the most similar one, or all of them.
///
/// ```
/// use enact_signature::instead;
///
/// assert_eq!(instead("serach", ["read", "search"]), "did you mean `search`?");
/// assert_eq!(instead("x", ["read", "search"]), "there are `read`, `search`");
/// ```
pub fn instead<'a>(wrong: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.into_iter().collect();
    match did_you_mean(wrong, known.iter().copied())[..] {
        [nearest, ..] => format!("did you mean `{nearest}`?"),
        [] if known.is_empty() => "there is none".to_owned(),
        [] => format!("there are `{}`", known.join("`, `")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_are_found_and_far_ones_are_not() {
        let known = ["str", "int", "list", "Optional", "Literal"];
        let nearest = |wrong| did_you_mean(wrong, known).first().copied();
        assert_eq!(nearest("strr"), Some("str"));
        assert_eq!(nearest("Itn"), Some("int"));
        assert_eq!(nearest("optionl"), Some("Optional"));
        assert_eq!(nearest("literal"), Some("Literal"));
        assert_eq!(nearest("Report"), None);
        assert_eq!(did_you_mean("x", ["y"]), [""; 0]);
        assert_eq!(did_you_mean("kk", ["k"]), [""; 0]);
        assert_eq!(nearest(""), None);
    }
}
