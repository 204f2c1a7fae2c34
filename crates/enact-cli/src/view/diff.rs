//! The change that a call makes to a file, line by line.

use std::time::Duration;

use enact::tool::builtin::FileChange;
use similar::{ChangeTag, TextDiff};

use super::exact::{self, Extent, Line, Shown, bounded, broken};
use super::screen::{Ink, Screen, Stream};
use super::text::counted;

/// The number of context lines around a change.
const CONTEXT: usize = 3;
/// How long to search for the shortest diff.
const PATIENCE: Duration = Duration::from_millis(500);

/// The diff of a change, and its size in words. `None` for a new file: its content is shown
/// instead.
pub(super) fn diff(
    screen: &Screen,
    change: &FileChange,
    width: Option<usize>,
    extent: Extent,
) -> Option<(Shown, String)> {
    let before = change.before.as_deref()?;
    let diff = TextDiff::configure()
        .timeout(PATIENCE)
        .diff_lines(before, &change.after);
    let (mut rows, mut added, mut removed) = (Vec::new(), 0, 0);
    let mut add = |text: &str, ink| {
        rows.extend(broken(Line { text, ink }, width, extent));
    };
    for hunk in diff.unified_diff().context_radius(CONTEXT).iter_hunks() {
        add(&hunk.header().to_string(), Some(Ink::Quiet));
        for line in hunk.iter_changes() {
            let (mark, ink) = match line.tag() {
                ChangeTag::Equal => (' ', None),
                ChangeTag::Delete => ('-', Some(Ink::Bad)),
                ChangeTag::Insert => ('+', Some(Ink::Good)),
            };
            match line.tag() {
                ChangeTag::Equal => {}
                ChangeTag::Delete => removed += 1,
                ChangeTag::Insert => added += 1,
            }
            let text = line.value();
            let text = text.strip_suffix('\n').unwrap_or(text);
            add(&format!("{mark}{text}"), ink);
            if line.missing_newline() {
                add("\\ no line break at the end", Some(Ink::Quiet));
            }
        }
    }
    let size = match added + removed {
        0 => "nothing changes".to_owned(),
        _ => format!("{} added, {removed} removed", counted(added, "line")),
    };
    Some((bounded(screen, rows, extent), size))
}

/// The diff of a change as text, if there is a file yet.
pub(crate) fn plain_diff(change: &FileChange) -> Option<String> {
    let screen = Screen::new(Stream::Nowhere);
    let (shown, size) = diff(&screen, change, None, Extent::Ends)?;
    let mut lines = vec![format!("{} ({size})", exact::spelled_out(&change.path))];
    lines.extend(shown.rows.into_iter().map(|(row, _)| row));
    Some(lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use enact::tool::builtin::Files;

    use super::*;

    fn shown(before: &str, after: &str) -> (Vec<String>, String, bool) {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a"), before).unwrap();
        let files = Files::open(folder.path()).unwrap();
        let args = enact::values! { path: "a", content: after };
        let change = files.change("write_file", &args).unwrap().unwrap();
        let screen = Screen::new(Stream::Nowhere);
        let (shown, size) = diff(&screen, &change, Some(60), Extent::Ends).unwrap();
        let rows = shown.rows.into_iter().map(|(row, _)| row).collect();
        (rows, size, shown.is_cut)
    }

    #[test]
    fn only_what_changes_is_shown_with_its_context() {
        let before: String = (1..=20).map(|n| format!("line {n}\n")).collect();
        let after = before.replace("line 10\n", "line ten\n");
        let (rows, size, is_cut) = shown(&before, &after);
        assert_eq!(
            rows,
            [
                "@@ -7,7 +7,7 @@",
                " line 7",
                " line 8",
                " line 9",
                "-line 10",
                "+line ten",
                " line 11",
                " line 12",
                " line 13",
            ]
        );
        assert_eq!((size.as_str(), is_cut), ("1 line added, 1 removed", false));
        assert_eq!(shown("a\n", "a\n").1, "nothing changes");
    }

    #[test]
    fn truth_changes_that_cannot_be_seen_are_spelled_out() {
        let (rows, ..) = shown("a\nb\n", "a\u{200b}\nb\r\n");
        assert_eq!(rows[1..], ["-a", "-b", "+a\\u{200b}", "+b\\u{d}"]);
        let (rows, ..) = shown("a\n", "a");
        assert_eq!(rows[1..], ["-a", "+a", "\\ no line break at the end"]);
    }

    #[test]
    fn truth_the_end_of_a_long_diff_is_shown() {
        let after: String = (0..500).map(|n| format!("{n}\n")).collect();
        let (rows, size, is_cut) = shown("", &format!("{after}rm -rf /\n"));
        assert_eq!(rows.last().unwrap(), "+rm -rf /");
        assert!(rows.iter().any(|row| row.contains("characters left out")));
        assert_eq!(
            (size.as_str(), is_cut),
            ("501 lines added, 0 removed", true)
        );
    }
}
