//! The headings of `--help`, and the flags under them.

use clap::{Command, CommandFactory as _, FromArgMatches as _};

use super::Cli;

/// The commands that have enough flags to need headings.
const COMMANDS: [&str; 6] = ["run", "chat", "eval", "mcp", "tools", "resume"];

/// The flags under each heading. Others stand where their group puts them.
const HEADINGS: [(&str, &[&str]); 9] = [
    (
        "Agent",
        &[
            "agent",
            "signature",
            "instructions",
            "completion",
            "history",
            "continue",
            "name",
            "description",
        ],
    ),
    (
        "Model",
        &[
            "model",
            "base-url",
            "adapter",
            "probe",
            "no-probe",
            "temperature",
            "max-tokens",
            "seed",
            "reasoning-effort",
            "requests-per-minute",
            "concurrent-requests",
            "cache",
            "prices",
        ],
    ),
    (
        "Tools",
        &[
            "tools",
            "files",
            "allow-host",
            "allow-private",
            "http-timeout",
            "http-max-bytes",
            "shell-folder",
            "shell-env",
            "shell-timeout",
            "shell-max-output",
        ],
    ),
    ("Approval", &["allow", "ask", "answer-within"]),
    (
        "Answers",
        &[
            "approve", "always", "reject", "message", "edit", "feedback", "answer",
        ],
    ),
    (
        "Evaluation",
        &[
            "inputs",
            "outputs",
            "metric",
            "judge",
            "concurrency",
            "results",
            "fresh",
            "min-accuracy",
        ],
    ),
    ("Output", &["json", "html", "quiet", "plain"]),
    (
        "Runs and recordings",
        &[
            "store",
            "trust",
            "despite-damage",
            "record",
            "replay",
            "replay-loosely",
        ],
    ),
    ("MCP servers", &["mcp", "mcp-url"]),
];

/// The command line, with headings.
pub(crate) fn command() -> Command {
    COMMANDS.iter().fold(Cli::command(), |cli, name| {
        cli.mut_subcommand(name, |command| {
            command.mut_args(|arg| {
                let heading = arg.get_long().and_then(heading);
                match heading {
                    Some(heading) => arg.help_heading(heading),
                    None => arg,
                }
            })
        })
    })
}

/// What was typed. Ends the process if it can't be read, or if help was asked for.
pub(crate) fn parse() -> Cli {
    let matches = command().get_matches();
    Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
}

fn heading(flag: &str) -> Option<&'static str> {
    let found = HEADINGS.iter().find(|(_, flags)| flags.contains(&flag));
    found.map(|(heading, _)| *heading)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The headings of a command and their flags, in the order of its help.
    fn listed(name: &str) -> Vec<(String, Vec<String>)> {
        let mut cli = command();
        cli.build();
        let command = cli.find_subcommand(name).unwrap();
        let mut listed: Vec<(String, Vec<String>)> = Vec::new();
        for arg in command.get_arguments() {
            let Some(flag) = arg.get_long().filter(|flag| *flag != "help") else {
                continue;
            };
            let heading = arg.get_help_heading();
            let heading = heading.unwrap_or_else(|| panic!("{name}: --{flag} has no heading"));
            match listed.iter_mut().find(|(known, _)| known == heading) {
                Some((_, flags)) => flags.push(flag.to_owned()),
                None => listed.push((heading.to_owned(), vec![flag.to_owned()])),
            }
        }
        listed
    }

    #[test]
    fn every_flag_stands_under_a_heading() {
        for name in COMMANDS {
            assert!(!listed(name).is_empty(), "{name}");
        }
        for (_, flags) in HEADINGS {
            for flag in flags {
                let is_used = COMMANDS.iter().any(|name| {
                    let listed = listed(name);
                    listed
                        .iter()
                        .any(|(_, flags)| flags.iter().any(|one| one == flag))
                });
                assert!(is_used, "no command has --{flag}");
            }
        }
    }

    #[test]
    fn flags_stand_where_people_look_for_them() {
        let run = listed("run");
        let headings: Vec<&str> = run.iter().map(|(heading, _)| heading.as_str()).collect();
        let expected = [
            "Output",
            "Agent",
            "Model",
            "Tools",
            "Approval",
            "Runs and recordings",
            "Reasoning",
            "Hooks",
            "Limits",
            "MCP servers",
        ];
        assert_eq!(headings, expected);
        for (flag, expected) in [
            ("json", "Output"),
            ("prices", "Model"),
            ("allow", "Approval"),
            ("thought-prompt", "Reasoning"),
            ("cost-budget", "Limits"),
            ("mcp-start-timeout", "MCP servers"),
        ] {
            let (heading, _) = run
                .iter()
                .find(|(_, flags)| flags.iter().any(|one| one == flag))
                .unwrap();
            assert_eq!(heading, expected, "--{flag}");
        }
    }
}
