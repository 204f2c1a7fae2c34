//! Files that a line adds with `@`.

use std::io::Read as _;

use crate::completion::expanded;

/// The maximum size of a file in bytes.
const MAX_BYTES: u64 = 1024 * 1024;
/// Characters that can follow a file name in a sentence.
const PUNCTUATION: [char; 9] = ['.', ',', ';', ':', '!', '?', ')', '"', '\''];

/// A line with the contents of its files.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Message {
    /// The typed text, followed by the contents.
    pub(super) text: String,
    /// The names of the files, with their lengths in characters.
    pub(super) files: Vec<(String, usize)>,
}

/// Reads the files in a line. `@@` stands for `@`.
pub(super) fn read(line: &str) -> Result<Message, String> {
    let (mut typed, mut contents) = (String::new(), String::new());
    let mut files = Vec::new();
    let mut rest = line;
    let mut is_start = true;
    while let Some(character) = rest.chars().next() {
        if is_start && character == '@' {
            let word = word(&rest[1..]);
            if rest.starts_with("@@") {
                typed.push_str(word);
            } else {
                typed.push('@');
                typed.push_str(word);
                if !word.is_empty() {
                    let (name, content) = file(word)?;
                    contents.push_str(&format!("\n\nContent of {name}:\n{content}"));
                    files.push((name, content.chars().count()));
                }
            }
            rest = &rest[1 + word.len()..];
            is_start = false;
        } else {
            typed.push(character);
            is_start = character.is_whitespace();
            rest = &rest[character.len_utf8()..];
        }
    }
    let text = typed + &contents;
    Ok(Message { text, files })
}

/// The first word. A space after a backslash is part of it.
fn word(text: &str) -> &str {
    let mut before = ' ';
    let end = text.find(|character: char| {
        let last = std::mem::replace(&mut before, character);
        character.is_whitespace() && last != '\\'
    });
    &text[..end.unwrap_or(text.len())]
}

/// The name and content of the file for a word.
fn file(word: &str) -> Result<(String, String), String> {
    let whole = word.replace("\\ ", " ");
    let bare = whole.trim_end_matches(PUNCTUATION);
    let exists = |name: &str| !name.is_empty() && expanded(name).exists();
    let name = match exists(&whole) {
        true => whole.as_str(),
        false if exists(bare) => bare,
        false => {
            return Err(format!(
                "file `{whole}` not found: nothing was sent; `@@{word}` sends `@{word}` to the \
                 model"
            ));
        }
    };
    let path = expanded(name);
    let cannot = |problem: &str| format!("`{name}` {problem}: nothing was sent");
    let unreadable = |error: std::io::Error| cannot(&format!("cannot be read ({error})"));
    if !path.is_file() {
        return Err(cannot("is not a file"));
    }
    let mut bytes = Vec::new();
    std::fs::File::open(&path)
        .and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut bytes))
        .map_err(unreadable)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(cannot("is larger than 1 MiB"));
    }
    let text = String::from_utf8(bytes).map_err(|_| cannot("is not UTF-8 text"))?;
    Ok((name.to_owned(), text.trim_end().to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_are_named_are_added() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name).display().to_string();
        std::fs::write(path("a.txt"), "alpha\n").unwrap();
        std::fs::write(path("b c.txt"), "beta").unwrap();
        std::fs::write(path("picture"), [0xff, 0xd8]).unwrap();
        let (a, b) = (path("a.txt"), path("b c.txt"));
        let message = read(&format!("see @{a}, and @{}?", b.replace(' ', "\\ "))).unwrap();
        assert_eq!(message.files, [(a.clone(), 5), (b.clone(), 4)]);
        let contents = format!("\n\nContent of {a}:\nalpha\n\nContent of {b}:\nbeta");
        assert!(message.text.ends_with(&contents), "{}", message.text);
        assert!(message.text.starts_with(&format!("see @{a}, and @")));
        for wrong in ["nowhere.txt", "picture"] {
            let problem = read(&format!("see @{}", path(wrong))).unwrap_err();
            assert!(problem.contains("nothing was sent"), "{problem}");
        }
        let problem = read(&format!("@{}", folder.path().display())).unwrap_err();
        assert!(problem.contains("is not a file"), "{problem}");
    }

    #[test]
    fn other_signs_are_text() {
        for (line, text) in [
            ("me@example.org", "me@example.org"),
            ("@@alice, hi", "@alice, hi"),
            ("5 @ 3", "5 @ 3"),
            ("@", "@"),
            ("", ""),
        ] {
            let message = read(line).unwrap();
            assert_eq!((message.text.as_str(), message.files.len()), (text, 0));
        }
    }
}
