//! Escapes lines of data that look like structure with a backslash.

/// Adds a backslash to every line that is structure after whitespace and backslashes.
pub(super) fn escape(text: &str, is_structure: impl Fn(&str) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    for (indent, slashes, rest) in pieces(text) {
        out.push_str(indent);
        if is_structure(rest) {
            out.push('\\');
        }
        out.push_str(slashes);
        out.push_str(rest);
    }
    out
}

/// Reverses [`escape`].
pub(super) fn unescape(text: &str, is_structure: impl Fn(&str) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    for (indent, slashes, rest) in pieces(text) {
        out.push_str(indent);
        match slashes.strip_prefix('\\') {
            Some(fewer) if is_structure(rest) => out.push_str(fewer),
            _ => out.push_str(slashes),
        }
        out.push_str(rest);
    }
    out
}

/// The lines with their ends. A lone carriage return also ends a line, since readers may show it so.
pub(super) fn each(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive(['\n', '\r'])
}

/// Each line as its indentation, its leading backslashes, and the rest.
fn pieces(text: &str) -> impl Iterator<Item = (&str, &str, &str)> {
    each(text).map(split)
}

/// A line as its indentation, its leading backslashes, and the rest.
pub(super) fn split(line: &str) -> (&str, &str, &str) {
    let body = line.trim_start();
    let rest = body.trim_start_matches('\\');
    (
        &line[..line.len() - body.len()],
        &body[..body.len() - rest.len()],
        rest,
    )
}

/// Indents every line after the first, so that none starts at the margin.
pub(super) fn indent(text: &str, by: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (index, line) in each(text).enumerate() {
        if index > 0 {
            out.push_str(by);
        }
        out.push_str(line);
    }
    if text.ends_with(['\n', '\r']) {
        out.push_str(by);
    }
    out
}
