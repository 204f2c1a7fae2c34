//! Files that a line adds with `@`.

use std::io::Read as _;

use serde_json::Value;

use crate::completion::expanded;
use crate::run::picture;

/// The maximum size of a file in bytes.
const MAX_BYTES: u64 = 1024 * 1024;
/// The most bytes of an image.
const MAX_IMAGE_BYTES: u64 = 20 * 1024 * 1024;
/// What may follow the name of a file in a sentence.
const PUNCTUATION: [char; 9] = ['.', ',', ';', ':', '!', '?', ')', '"', '\''];

/// A line with the contents of its files.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Message {
    /// The typed text, followed by the contents.
    pub(super) text: String,
    /// The names of the files, with their lengths in characters.
    pub(super) files: Vec<(String, usize)>,
    /// The images that it names, by file.
    pub(super) images: Vec<(String, Value)>,
}

/// What is in a file.
enum Content {
    Text(String),
    Image(Value),
}

/// Reads the files in a line. `@@` stands for `@`.
pub(super) fn read(line: &str) -> Result<Message, String> {
    let (mut typed, mut contents) = (String::new(), String::new());
    let (mut files, mut images) = (Vec::new(), Vec::new());
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
                    match file(word)? {
                        (name, Content::Text(content)) => {
                            contents.push_str(&format!("\n\nContent of {name}:\n{content}"));
                            files.push((name, content.chars().count()));
                        }
                        (name, Content::Image(image)) => images.push((name, image)),
                    }
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
    Ok(Message {
        text,
        files,
        images,
    })
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

/// The name and the content of a file that a word names.
fn file(word: &str) -> Result<(String, Content), String> {
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
        .and_then(|file| file.take(MAX_IMAGE_BYTES + 1).read_to_end(&mut bytes))
        .map_err(unreadable)?;
    let content = match picture::of_bytes(&bytes) {
        Ok(image) if bytes.len() as u64 <= MAX_IMAGE_BYTES => Content::Image(image),
        Ok(_) => return Err(cannot("is larger than 20 MiB")),
        Err(_) if bytes.len() as u64 > MAX_BYTES => return Err(cannot("is larger than 1 MiB")),
        Err(_) => {
            let text = String::from_utf8(bytes).map_err(|_| cannot("is not UTF-8 text"))?;
            Content::Text(text.trim_end().to_owned())
        }
    };
    Ok((name.to_owned(), content))
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
        std::fs::write(path("cat.gif"), b"GIF89a...").unwrap();
        let (a, b) = (path("a.txt"), path("b c.txt"));
        let message = read(&format!("see @{a}, and @{}?", b.replace(' ', "\\ "))).unwrap();
        assert_eq!(message.files, [(a.clone(), 5), (b.clone(), 4)]);
        let contents = format!("\n\nContent of {a}:\nalpha\n\nContent of {b}:\nbeta");
        assert!(message.text.ends_with(&contents), "{}", message.text);
        assert!(message.text.starts_with(&format!("see @{a}, and @")));
        let cat = path("cat.gif");
        let message = read(&format!("what is @{cat}?")).unwrap();
        assert_eq!(message.text, format!("what is @{cat}?"));
        assert_eq!(message.images[0].0, cat);
        assert_eq!(message.images[0].1["media_type"], "image/gif");
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
