//! Thinking that a model wrote in its text, between tags.

const NAMES: [&str; 2] = ["think", "thinking"];

/// A reply's text without its thinking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Spoken<'a> {
    /// The remaining text.
    pub(super) text: &'a str,
    /// Whether thinking was removed.
    pub(super) dropped: bool,
    /// Whether it is thinking itself, which has no end.
    pub(super) is_open: bool,
}

/// Drops thinking at the start: `<think>…</think>`, and what precedes a closing tag at the start of a
/// line, since some servers swallow the opening one. Thinking that is never closed is kept: it may
/// hold what was asked for, but is never that itself.
pub(super) fn spoken(reply: &str) -> Spoken<'_> {
    let mut rest = reply;
    let mut dropped = false;
    loop {
        let inside = after_opening(rest.trim_start());
        rest = match inside.map_or_else(|| after_closing_line(rest), after_closing) {
            Some(after) => after,
            None => {
                let dropped = dropped || inside.is_some();
                let text = inside.unwrap_or(rest);
                return Spoken {
                    text,
                    dropped,
                    is_open: inside.is_some(),
                };
            }
        };
        dropped = true;
    }
}

/// Whether a line with this start could be mistaken for a thinking tag.
pub(super) fn is_tag(line: &str) -> bool {
    tag(line, "<").is_some() || tag(line, "</").is_some()
}

/// Whether a line with this start could become a thinking tag.
pub(super) fn may_be_tag(start: &str) -> bool {
    let start = start.to_ascii_lowercase();
    let tags = ["<think>", "<thinking>", "</think>", "</thinking>"];
    tags.iter()
        .any(|tag| tag.len() > start.len() && tag.starts_with(&start))
}

/// The text after the opening tag at the start.
pub(super) fn after_opening(text: &str) -> Option<&str> {
    tag(text, "<")
}

/// The text after the first closing tag.
pub(super) fn after_closing(text: &str) -> Option<&str> {
    let mut tags = text.match_indices("</");
    tags.find_map(|(at, _)| tag(&text[at..], "</"))
}

/// The text after the tag at the start.
fn tag<'a>(text: &'a str, opening: &str) -> Option<&'a str> {
    let rest = text.strip_prefix(opening)?;
    NAMES.iter().find_map(|name| {
        let head = rest.get(..name.len())?;
        head.eq_ignore_ascii_case(name)
            .then(|| rest[name.len()..].strip_prefix('>'))?
    })
}

/// The text after the first closing tag at the start of a line.
fn after_closing_line(text: &str) -> Option<&str> {
    // Line by line, and never past the tag: a reply may consist of tags.
    let mut rest = text;
    loop {
        let is_indent = |c: char| c.is_whitespace() && !matches!(c, '\n' | '\r');
        if let Some(after) = tag(rest.trim_start_matches(is_indent), "</") {
            return Some(after);
        }
        rest = &rest[rest.find(['\n', '\r'])? + 1..];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_counts_as_thinking() {
        for (reply, text) in [
            ("plain", "plain"),
            ("<think>a</think>b", "b"),
            (" <Thinking>a\n</thinking>\n<think>c</think>b", "b"),
            ("a\nstill\n</think>\n\nb", "\n\nb"),
            ("<think>never closed", "never closed"),
            ("an inline </think> stays", "an inline </think> stays"),
            ("<thinker>b", "<thinker>b"),
        ] {
            assert_eq!(spoken(reply).text, text, "{reply}");
        }
    }
}
