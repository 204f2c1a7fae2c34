//! Tab completion: commands at the start of a line, and file paths after `@`.

use std::borrow::Cow;
use std::path::PathBuf;

use rustyline::completion::{Completer, Pair};
use rustyline::{Context, Helper};

/// Completes a turn while it is typed.
#[derive(Debug)]
pub(crate) struct Completion {
    commands: &'static [&'static str],
    /// Whether completion is on: it is off for answers to questions.
    pub(crate) is_on: bool,
}

impl Completion {
    /// Completes these commands, which include the slash. A trailing space means that a file follows.
    pub(crate) fn of(commands: &'static [&'static str]) -> Self {
        Self {
            commands,
            is_on: true,
        }
    }

    /// The start of the completed part of a line, and its candidates.
    fn candidates(&self, line: &str) -> (usize, Vec<Pair>) {
        if !self.is_on {
            return (0, Vec::new());
        }
        let takes_file = self.commands.iter().filter(|one| one.ends_with(' '));
        for command in takes_file {
            if let Some(path) = line.strip_prefix(command) {
                return (command.len(), files(path, false));
            }
        }
        if line.starts_with('/') && !line.contains(char::is_whitespace) {
            let fitting = self.commands.iter().filter(|one| one.starts_with(line));
            let pairs = fitting.map(|command| Pair {
                display: command.trim_end().to_owned(),
                replacement: (*command).to_owned(),
            });
            return (0, pairs.collect());
        }
        let start = start_of_word(line);
        match line[start..].strip_prefix('@') {
            Some(path) if !path.starts_with('@') => (start + 1, files(path, true)),
            _ => (0, Vec::new()),
        }
    }
}

/// The start of the last word in a line. A space after a backslash is part of the word.
fn start_of_word(line: &str) -> usize {
    let blanks = line.char_indices().rev();
    let mut blanks = blanks.filter(|(_, character)| character.is_whitespace());
    let blank = blanks.find(|(at, _)| !line[..*at].ends_with('\\'));
    blank.map_or(0, |(at, character)| at + character.len_utf8())
}

/// The files whose path starts with `typed`.
fn files(typed: &str, is_escaped: bool) -> Vec<Pair> {
    let path = match is_escaped {
        true => Cow::Owned(typed.replace("\\ ", " ")),
        false => Cow::Borrowed(typed),
    };
    let (folder, head) = match path.rfind('/') {
        Some(slash) => path.split_at(slash + 1),
        None => ("", &*path),
    };
    let place = match folder {
        "" => PathBuf::from("."),
        folder => expanded(folder),
    };
    let entries = std::fs::read_dir(place).into_iter().flatten().flatten();
    let named = entries.filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        let is_meant = name.starts_with(head) && (head.starts_with('.') || !name.starts_with('.'));
        // A name with a line break would end the line.
        let is_meant = is_meant && !name.chars().any(char::is_control);
        let slash = if entry.path().is_dir() { "/" } else { "" };
        is_meant.then(|| format!("{name}{slash}"))
    });
    let mut names: Vec<String> = named.collect();
    names.sort();
    let pairs = names.into_iter().map(|name| {
        let whole = format!("{folder}{name}");
        Pair {
            display: name,
            replacement: match is_escaped {
                true => whole.replace(' ', "\\ "),
                false => whole,
            },
        }
    });
    pairs.collect()
}

/// Expands `~/` to the home directory, as a shell does.
pub(crate) fn expanded(path: &str) -> PathBuf {
    match (path.strip_prefix("~/"), std::env::home_dir()) {
        (Some(inside), Some(home)) => home.join(inside),
        _ => path.into(),
    }
}

impl Completer for Completion {
    type Candidate = Pair;

    fn complete(
        &self,
        line: &str,
        pos: usize,
        _: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<Pair>)> {
        Ok(self.candidates(&line[..pos]))
    }
}

impl rustyline::hint::Hinter for Completion {
    type Hint = String;
}

impl rustyline::highlight::Highlighter for Completion {}

impl rustyline::validate::Validator for Completion {}

impl Helper for Completion {}

#[cfg(test)]
mod tests {
    use super::*;

    fn completed(line: &str) -> Vec<String> {
        let completion = Completion::of(&["/save ", "/show", "/undo"]);
        let (start, pairs) = completion.candidates(line);
        let whole = pairs.iter();
        let whole = whole.map(|pair| format!("{}{}", &line[..start], pair.replacement));
        whole.collect()
    }

    #[test]
    fn commands_and_files_are_completed() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["notes.txt", "my notes.txt", ".hidden"] {
            std::fs::write(folder.path().join(name), "x").unwrap();
        }
        std::fs::create_dir(folder.path().join("nested")).unwrap();
        let at = |rest: &str| format!("{}/{rest}", folder.path().display());
        assert_eq!(completed("/s"), ["/save ", "/show"]);
        assert_eq!(completed("/x"), Vec::<String>::new());
        assert_eq!(completed("say /s"), Vec::<String>::new());
        let line = format!("read @{}", at("n"));
        let all = ["nested/", "notes.txt"].map(|name| format!("read @{}", at(name)));
        assert_eq!(completed(&line), all);
        let line = format!("read @{}", at("my\\ n"));
        assert_eq!(
            completed(&line),
            [format!("read @{}", at("my\\ notes.txt"))]
        );
        assert_eq!(completed(&format!("@@{}", at("n"))), Vec::<String>::new());
        let line = format!("/save {}", at("my n"));
        assert_eq!(completed(&line), [format!("/save {}", at("my notes.txt"))]);
        let line = format!("@{}", at("."));
        assert_eq!(completed(&line), [format!("@{}", at(".hidden"))]);
    }

    #[test]
    fn an_answer_is_not_completed() {
        let mut completion = Completion::of(&["/undo"]);
        completion.is_on = false;
        assert!(completion.candidates("/u").1.is_empty());
    }
}
