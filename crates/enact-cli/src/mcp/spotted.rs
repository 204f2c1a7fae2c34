//! Finds secrets in a text by the names before them.

use std::ops::Range;

/// The endings of names of secrets, in lower case and without separators.
const ENDINGS: [&str; 21] = [
    "accesskeyid",
    "apikey",
    "apikeys",
    "authorization",
    "bearer",
    "cookie",
    "credential",
    "credentials",
    "creds",
    "jwt",
    "key",
    "passcode",
    "passphrase",
    "passwd",
    "password",
    "passwords",
    "secret",
    "secrets",
    "sessionid",
    "sessiontoken",
    "token",
];
/// Names of secrets that are too short to be used as endings.
const WHOLE: [&str; 6] = ["auth", "pass", "pat", "pw", "pwd", "sid"];
/// How credentials start in a header.
const SCHEMES: [&str; 5] = ["bearer ", "basic ", "digest ", "token ", "apikey "];

/// Whether a value with this name is a secret: `--api-key`, `GITHUB_TOKEN`, `Authorization`.
pub(super) fn is_secret(name: &str) -> bool {
    let words = || name.split(|c: char| !c.is_alphanumeric());
    let plain: String = words().collect::<String>().to_lowercase();
    let last = words().rfind(|word| !word.is_empty());
    let last = last.unwrap_or_default().to_lowercase();
    ENDINGS.iter().any(|ending| plain.ends_with(ending)) || WHOLE.contains(&&*last)
}

/// Whether the word after this flag is a secret.
pub(super) fn is_secret_flag(word: &str) -> bool {
    word.starts_with('-') && !word.contains('=') && is_secret(word)
}

/// The secrets in an address: the user and password, and named values in the query and fragment.
pub(super) fn of_address(url: &str) -> Vec<Range<usize>> {
    of_text(url, false)
}

/// The secrets in a text, in order. In a script, words end at white
/// space.
pub(super) fn of_text(text: &str, is_script: bool) -> Vec<Range<usize>> {
    let mut found = users(text);
    let mut at = 0;
    while let Some(name) = next_name(text, at) {
        at = name.end;
        let value = if is_secret(&text[name.clone()]) {
            value_of(text, &name, is_script)
        } else {
            None
        };
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            at = value.end;
            found.push(value);
        }
    }
    found.sort_by_key(|part| part.start);
    found.into_iter().fold(Vec::new(), |mut parts, part| {
        match parts.last_mut() {
            Some(last) if part.start < last.end => last.end = last.end.max(part.end),
            _ => parts.push(part),
        }
        parts
    })
}

/// The users and passwords in addresses.
fn users(text: &str) -> Vec<Range<usize>> {
    let hosts = text
        .match_indices("://")
        .map(|(at, scheme)| at + scheme.len());
    let users = hosts.filter_map(|host| {
        let ends = |c: char| c.is_whitespace() || ['/', '?', '#', '"', '\''].contains(&c);
        let rest = &text[host..];
        let rest = &rest[..rest.find(ends).unwrap_or(rest.len())];
        rest.rfind('@').map(|at| host..host + at)
    });
    users.collect()
}

/// The next word that can be a name.
fn next_name(text: &str, from: usize) -> Option<Range<usize>> {
    let is_part = |c: char| c.is_alphanumeric() || ['_', '-', '.'].contains(&c);
    let start = from + text[from..].find(is_part)?;
    let length = text[start..].find(|c| !is_part(c));
    Some(start..length.map_or(text.len(), |length| start + length))
}

/// The value after this name, if there is one.
fn value_of(text: &str, name: &Range<usize>, is_script: bool) -> Option<Range<usize>> {
    let before = &text[..name.start];
    // `${NAME:-…}` is a variable, and `registry/name:tag` an image.
    if before.ends_with("${") {
        return None;
    }
    let after = text[name.end..].trim_start_matches(['\\', '"', '\'']);
    let is_quoted_name = after.len() < text.len() - name.end;
    let separated = after.trim_start();
    let is_flag = text[name.clone()].starts_with('-') && !is_quoted_name;
    let (separator, rest) = match separated.strip_prefix(['=', ':']) {
        Some(rest) => (separated.chars().next(), rest),
        // `--token X` inside a word.
        None if is_flag && separated.len() < after.len() && !separated.starts_with('-') => {
            (None, separated)
        }
        None => return None,
    };
    let is_image_or_port = || {
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let is_port = (1..=5).contains(&digits) && rest[digits..].is_empty();
        before.ends_with('/') || is_port
    };
    if separator == Some(':') && !is_quoted_name && !is_flag && is_image_or_port() {
        return None;
    }
    let rest = rest.trim_start_matches(['=', '>', ':']).trim_start();
    let start = text.len() - rest.len();
    let opened = rest.trim_start_matches('\\');
    if let Some(quote) = opened.chars().next().filter(|c| ['"', '\''].contains(c)) {
        let is_escaped = opened.len() < rest.len();
        let inside = text.len() - opened.len() + 1;
        return Some(inside..inside + quoted(&text[inside..], quote, is_escaped));
    }
    // `"Name: value"`: the value ends at the closing quote.
    let around = before.chars().next_back();
    let around = around.filter(|c| ['"', '\''].contains(c) && !is_quoted_name);
    if let Some(quote) = around.filter(|_| separator.is_some()) {
        return Some(start..start + quoted(rest, quote, false));
    }
    let is_leading = before
        .trim_start_matches('-')
        .chars()
        .all(|c| c.is_alphanumeric() || ['_', '-', '=', ':'].contains(&c));
    let length = match separator {
        None => word(rest),
        Some(_) if is_script => scheme(rest) + word(&rest[scheme(rest)..]),
        Some(_) if is_leading => rest.len(),
        Some(_) => open_value(rest),
    };
    Some(start..start + length)
}

/// The length of a quoted value.
fn quoted(text: &str, quote: char, is_escaped: bool) -> usize {
    let mut is_after_backslash = false;
    for (at, character) in text.char_indices() {
        if character == quote && is_escaped {
            return text[..at].trim_end_matches('\\').len();
        }
        if character == quote && !is_after_backslash {
            return at;
        }
        is_after_backslash = character == '\\' && !is_after_backslash;
    }
    text.len()
}

/// The length of `Bearer ` and similar at the start of a text.
fn scheme(text: &str) -> usize {
    let begins = |scheme: &&&str| {
        let head = text.get(..scheme.len());
        head.is_some_and(|head| head.eq_ignore_ascii_case(scheme))
    };
    SCHEMES.iter().find(begins).map_or(0, |scheme| scheme.len())
}

/// The length of a word in a script.
fn word(text: &str) -> usize {
    let ends = |c: char| c.is_whitespace() || ['"', '\'', ';', '&', '|', ')'].contains(&c);
    text.find(ends).unwrap_or(text.len())
}

/// The length of an unquoted value. An apparent end may be part of it, unless another name
/// follows.
fn open_value(text: &str) -> usize {
    for (at, character) in text.char_indices() {
        let rest = &text[at + character.len_utf8()..];
        let is_end = match character {
            '"' | '\'' | '\n' => true,
            ';' | '&' | '#' | ',' => rest.trim().is_empty() || is_named(rest),
            '}' => {
                let rest = rest.trim_start_matches(['}', ']', ' ']);
                rest.is_empty() || rest.starts_with(',')
            }
            other if other.is_whitespace() => is_named(rest),
            _ => false,
        };
        if is_end {
            return at;
        }
    }
    text.len()
}

/// Whether a text starts with a name and a separator.
fn is_named(text: &str) -> bool {
    let text = text.trim_start().trim_start_matches(['\\', '"', '\'']);
    let Some(name) = next_name(text, 0).filter(|name| name.start == 0) else {
        return false;
    };
    let rest = text[name.end..].trim_start_matches(['\\', '"', '\'']);
    rest.trim_start().starts_with(['=', ':'])
}
