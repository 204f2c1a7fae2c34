//! The text of an HTML page, without markup, as a reader would see it. Not a browser, but sufficient for
//! reading articles with any markup.

/// Elements whose content is not for readers.
const HIDDEN: [&str; 5] = ["script", "style", "noscript", "template", "svg"];
/// Elements that start a line.
const BLOCKS: [&str; 26] = [
    "address",
    "article",
    "aside",
    "blockquote",
    "br",
    "dd",
    "div",
    "dl",
    "dt",
    "footer",
    "form",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "header",
    "hr",
    "li",
    "ol",
    "p",
    "pre",
    "table",
    "tr",
    "ul",
];

/// The maximum number of characters between `&` and `;`: those of `#x10FFFF`. Without a limit, each `&`
/// would be searched to the end of the page.
const LONGEST_REFERENCE: usize = 8;

/// The text of a page, in linear time.
pub(super) fn text(html: &str) -> String {
    let mut lines = Lines::default();
    let mut rest = html;
    while let Some(at) = rest.find('<') {
        lines.push(&rest[..at]);
        rest = &rest[at..];
        if let Some(comment) = rest.strip_prefix("<!--") {
            rest = after(comment, "-->");
            continue;
        }
        let inside = &rest[1..];
        // A `<` that doesn't start a tag is a character.
        if !inside.starts_with(|c: char| c.is_ascii_alphabetic() || "/!?".contains(c)) {
            lines.push("<");
            rest = inside;
            continue;
        }
        let name: String = inside
            .trim_start_matches('/')
            .chars()
            .take_while(char::is_ascii_alphanumeric)
            .collect::<String>()
            .to_ascii_lowercase();
        rest = after(inside, ">");
        if HIDDEN.contains(&name.as_str()) && !inside.starts_with('/') {
            rest = after_end_of(rest, &name);
        } else if BLOCKS.contains(&name.as_str()) {
            lines.begin();
        } else if matches!(name.as_str(), "td" | "th" | "title") {
            lines.space();
        }
    }
    lines.push(rest);
    lines.into_text()
}

fn after<'a>(text: &'a str, mark: &str) -> &'a str {
    text.find(mark).map_or("", |at| &text[at + mark.len()..])
}

/// The text after the closing tag with this name, ignoring case.
fn after_end_of<'a>(text: &'a str, name: &str) -> &'a str {
    let mut rest = text;
    while let Some(at) = rest.find("</") {
        rest = &rest[at + 2..];
        let is_it = rest
            .get(..name.len())
            .is_some_and(|tag| tag.eq_ignore_ascii_case(name));
        if is_it {
            return after(rest, ">");
        }
    }
    ""
}

/// Lines with single spaces, without empty lines.
#[derive(Default)]
struct Lines {
    whole: Vec<String>,
    line: String,
    has_space: bool,
}

impl Lines {
    fn push(&mut self, html: &str) {
        for c in decoded(html).chars() {
            if c.is_whitespace() {
                self.has_space = true;
                continue;
            }
            if self.has_space && !self.line.is_empty() {
                self.line.push(' ');
            }
            self.has_space = false;
            self.line.push(c);
        }
    }

    fn space(&mut self) {
        self.has_space = true;
    }

    fn begin(&mut self) {
        self.has_space = false;
        if !self.line.is_empty() {
            self.whole.push(std::mem::take(&mut self.line));
        }
    }

    fn into_text(mut self) -> String {
        self.begin();
        self.whole.join("\n")
    }
}

/// Replaces common character references.
fn decoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('&') {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let mut near = rest.bytes().take(LONGEST_REFERENCE + 1);
        let found = near.position(|byte| byte == b';');
        let Some((end, c)) = found.and_then(|end| Some((end, reference(&rest[..end])?))) else {
            out.push('&');
            continue;
        };
        out.push(c);
        rest = &rest[end + 1..];
    }
    out.push_str(rest);
    out
}

/// Removes an incomplete character reference at the end of a truncated page.
pub(super) fn without_half_reference(html: &str) -> &str {
    let mut last = html.bytes().rev().take(LONGEST_REFERENCE + 1);
    match last.position(|byte| matches!(byte, b'&' | b';')) {
        Some(back) if html.as_bytes()[html.len() - 1 - back] == b'&' => {
            &html[..html.len() - 1 - back]
        }
        _ => html,
    }
}

fn reference(name: &str) -> Option<char> {
    if let Some(number) = name.strip_prefix('#') {
        let number = match number.strip_prefix(['x', 'X']) {
            Some(hex) => u32::from_str_radix(hex, 16).ok()?,
            None => number.parse().ok()?,
        };
        return char::from_u32(number);
    }
    Some(match name {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        "nbsp" => ' ',
        "mdash" => '—',
        "ndash" => '–',
        "hellip" => '…',
        "copy" => '©',
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_read_as_its_lines() {
        let page = "<!DOCTYPE html><html><head><title>A &amp; B</title>\
            <style>p { color: red }</style><SCRIPT>if (a < b) evil('</p>')</SCRIPT></head>\
            <body><!-- <p>hidden</p> --><h1>Hello,\n  world</h1><p>1 < 2 &#8364;&nbsp;&unknown; \
            <b>bold</b>text<br>next</p><table><tr><td>a<td>b</tr></table></body></html>";
        let expected = "A & B\nHello, world\n1 < 2 € &unknown; boldtext\nnext\na b";
        assert_eq!(text(page), expected);
    }

    #[test]
    fn truth_twice_the_page_takes_about_twice_the_time() {
        let least = |page: &str| {
            let once = || {
                let began = std::time::Instant::now();
                std::hint::black_box(text(page));
                began.elapsed()
            };
            std::iter::repeat_with(once).take(5).min().unwrap()
        };
        for piece in [
            "&",
            "&#",
            "&a;",
            "<",
            "</",
            "<!--",
            "<!-- -->",
            "<p>",
            "<div><b>",
            "<script>",
            "<svg></svg>",
            "<svg></p>",
            "<a href='",
            "</////",
            "&amp;",
            " ",
            "é&",
        ] {
            let short = piece.repeat(250_000 / piece.len());
            let long = piece.repeat(500_000 / piece.len());
            // Times this short are mostly noise, and the machine may be busy with something else.
            let noise = std::time::Duration::from_millis(250);
            let is_linear = || least(&long) < (least(&short) * 3).max(noise);
            let mut tries = std::iter::repeat_with(is_linear).take(5);
            assert!(tries.any(|is_linear| is_linear), "{piece}");
        }
    }

    #[test]
    fn broken_markup_ends() {
        for broken in [
            "<",
            "<p",
            "<!--",
            "<script>",
            "</",
            "a<b>c&",
            "&#xfffffff;",
            "<script></scr",
        ] {
            text(broken);
        }
        assert_eq!(text("a & b < c"), "a & b < c");
    }
}
