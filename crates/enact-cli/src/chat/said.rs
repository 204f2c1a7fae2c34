//! Parses a line into a turn or a command.

use std::path::PathBuf;

use crate::completion::expanded;

/// All commands, for the message about an unknown one.
const LISTED: &str = "/help, /model, /tools, /cost, /show, /retry, /undo, /new, /save FILE, /quit";

/// Completions for Tab. A trailing space means that a file follows.
pub(super) const COMMANDS: [&str; 11] = [
    "/cost", "/help", "/model", "/new", "/quit", "/retry", "/save ", "/save! ", "/show", "/tools",
    "/undo",
];

/// What `/help` shows.
pub(super) const HELP: &str = "\
/model [NAME]  show the model, or change it from now on
/tools         list the tools
/cost          show what the turns took
/show          show the last turn step by step, with times and tokens
/retry         forget the last turn and ask it again
/undo          forget the last turn; again, the one before it
/new           forget all turns
/save FILE     write the conversation to a new file, for `--history FILE`
/save! FILE    the same, but replace an existing file
/help          show this
/quit          quit, like Ctrl-D
//text         send /text to the model
@FILE          add the content of a file to a turn; `@@` stands for `@`

Anything else is a turn. Tab completes commands and files; Ctrl-C stops a turn.
Forgetting changes only what the model sees from now on, not the stored runs.
";

/// A parsed line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Said {
    Nothing,
    /// A message for the model.
    Turn(String),
    Help,
    /// Shows the model, or changes it.
    Model(Option<String>),
    Tools,
    Cost,
    Show,
    Retry,
    Undo,
    New,
    Save {
        file: PathBuf,
        /// Whether an existing file can be replaced.
        replaces: bool,
    },
    Quit,
    /// An unknown command, or wrong arguments.
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
            ("model", "") => Self::Model(None),
            ("model", name) => Self::Model(Some(name.to_owned())),
            ("tools", "") => Self::Tools,
            ("cost", "") => Self::Cost,
            ("show", "") => Self::Show,
            ("retry", "") => Self::Retry,
            ("undo", "") => Self::Undo,
            ("new", "") => Self::New,
            ("quit", "") => Self::Quit,
            ("save" | "save!", "") => Self::Wrong(format!("name a file: `/{name} FILE`")),
            ("save" | "save!", file) => Self::Save {
                file: expanded(file),
                replaces: name == "save!",
            },
            ("help" | "tools" | "cost" | "show" | "retry" | "undo" | "new" | "quit", _) => {
                Self::Wrong(format!(
                    "`/{name}` takes no arguments: leave out what follows it"
                ))
            }
            _ => Self::Wrong(format!(
                "unknown command `/{name}`, use one of {LISTED}; `/{line}` sends it to the model"
            )),
        }
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
            ("/model", Said::Model(None)),
            ("/model  a::b ", Said::Model(Some("a::b".to_owned()))),
            ("/retry", Said::Retry),
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
            "unknown command `/etc/hosts,`, use one of /help, /model, /tools, /cost, /show, \
             /retry, /undo, /new, /save FILE, /quit; `//etc/hosts, what is it?` sends it to the model"
        );
        assert!(problem("/").contains("unknown command `/`"));
        assert!(problem("/undo it").contains("takes no arguments"));
        assert!(problem("/save").contains("`/save FILE`"));
    }
}
