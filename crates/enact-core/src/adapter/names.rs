//! Resolves inexact tool names.

/// The tool that a name refers to: the one with this name, else the only one that differs in case and
/// punctuation, else the only one after a namespace, as in `functions.search`.
pub(crate) fn meant<'a>(
    written: &str,
    names: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let names: Vec<&str> = names.into_iter().collect();
    // Most names are exact, and tool names are unique.
    if let Some(name) = names.iter().find(|name| **name == written) {
        return Some(*name);
    }
    let readings: [fn(&str) -> String; 2] = [bare, |name| bare(last(name))];
    for reading in readings {
        let wanted = reading(written);
        let mut alike = names.iter().filter(|name| reading(name) == wanted);
        if let Some(name) = alike.next().filter(|_| !wanted.is_empty()) {
            return alike.next().is_none().then_some(*name);
        }
    }
    None
}

/// Whether models use a name for the call that ends a task, whatever it is called here.
pub(crate) fn ends_task(written: &str) -> bool {
    matches!(&*bare(written), "finish" | "submit" | "finalanswer")
}

/// A name without parts that models add or omit.
fn bare(name: &str) -> String {
    let characters = name.chars().filter(|c| c.is_alphanumeric());
    characters.flat_map(char::to_lowercase).collect()
}

/// The name after the namespace. Text has none.
fn last(name: &str) -> &str {
    match name.trim() {
        name if name.contains(char::is_whitespace) => name,
        name => name.rsplit(['.', ':', '/']).next().unwrap_or(name),
    }
}

#[cfg(test)]
mod tests {
    use super::meant;

    #[test]
    fn a_name_means_the_only_tool_that_it_can_mean() {
        let names = ["read_file", "Search", "search", "web.fetch"];
        for (written, expected) in [
            ("read_file", Some("read_file")),
            (" `ReadFile()` ", Some("read_file")),
            ("READ-FILE", Some("read_file")),
            ("functions.read_file", Some("read_file")),
            ("server:read_file", Some("read_file")),
            ("fetch", Some("web.fetch")),
            ("search", Some("search")),
            ("SEARCH", None),
            ("I shall use functions.read_file", None),
            ("read", None),
            ("", None),
            ("...", None),
        ] {
            assert_eq!(meant(written, names), expected, "{written}");
        }
    }
}
