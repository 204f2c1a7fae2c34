//! What a line means: a turn, or a command.

use std::path::PathBuf;

/// All commands, for whoever typed one that does not exist.
const COMMANDS: &str = "/help, /undo, /new, /save FILE, /quit";

/// What `/help` shows.
pub(super) const HELP: &str = "\
/undo         forget the last turn, and the one before it if said again
/new          forget all turns
/save FILE    write the conversation to a new file, for `--history FILE`; `/save! FILE` replaces one
/help         show this
/quit         leave, as Ctrl-D does
//text        say /text, which is no command then

Anything else is a turn. Ctrl-C stops a turn that is under way. Forgetting changes only what the
model is told from now on: kept runs stay as they are.
";

/// What somebody said.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Said {
    Nothing,
    /// To the model.
    Turn(String),
    Help,
    Undo,
    New,
    Save {
        file: PathBuf,
        /// Whether it may replace a file.
        replaces: bool,
    },
    Quit,
    /// A command that does not exist, or not like this.
    Wrong(String),
}

impl Said {
    pub(super) fn read(line: &str) -> Self {
        let line = line.trim();
        let Some(command) = line.strip_prefix('/') else {
            return match line {
                "" => Self::Nothing,
                text => Self::Turn(text.to_owned()),
            };
        };
        if command.starts_with('/') {
            return Self::Turn(command.to_owned());
        }
        let (name, rest) = match command.split_once(char::is_whitespace) {
            Some((name, rest)) => (name, rest.trim()),
            None => (command, ""),
        };
        match (name, rest) {
            ("help", "") => Self::Help,
            ("undo", "") => Self::Undo,
            ("new", "") => Self::New,
            ("quit", "") => Self::Quit,
            ("save" | "save!", "") => Self::Wrong(format!("name a file: `/{name} FILE`")),
            ("save" | "save!", file) => Self::Save {
                file: expanded(file),
                replaces: name == "save!",
            },
            ("help" | "undo" | "new" | "quit", _) => Self::Wrong(format!(
                "`/{name}` stands alone: leave out what is behind it"
            )),
            _ => Self::Wrong(format!(
                "there is no command `/{name}`, only {COMMANDS}; `/{line}` says it to the model"
            )),
        }
    }
}

/// A path as a shell would read it: `~/` is the home folder.
fn expanded(path: &str) -> PathBuf {
    match (path.strip_prefix("~/"), std::env::home_dir()) {
        (Some(inside), Some(home)) => home.join(inside),
        _ => path.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_and_turns_are_told_apart() {
        let turn = |text: &str| Said::Turn(text.to_owned());
        let save = |file: &str, replaces| Said::Save {
            file: file.into(),
            replaces,
        };
        for (line, expected) in [
            ("\n", Said::Nothing),
            ("  hello \r\n", turn("hello")),
            ("a /quit", turn("a /quit")),
            ("//quit", turn("/quit")),
            ("///x", turn("//x")),
            ("/help", Said::Help),
            (" /undo ", Said::Undo),
            ("/new", Said::New),
            ("/quit\n", Said::Quit),
            ("/save my notes.json", save("my notes.json", false)),
            ("/save! a", save("a", true)),
        ] {
            assert_eq!(Said::read(line), expected, "{line:?}");
        }
    }

    #[test]
    fn a_wrong_command_says_what_there_is() {
        let problem = |line| match Said::read(line) {
            Said::Wrong(problem) => problem,
            other => panic!("{line}: {other:?}"),
        };
        assert_eq!(
            problem("/etc/hosts, what is it?"),
            "there is no command `/etc/hosts,`, only /help, /undo, /new, /save FILE, /quit; \
             `//etc/hosts, what is it?` says it to the model"
        );
        assert!(problem("/").contains("there is no command `/`"));
        assert!(problem("/undo it").contains("stands alone"));
        assert!(problem("/save").contains("`/save FILE`"));
    }
}
