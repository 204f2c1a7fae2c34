//! `enact completions` and `enact man`, generated from the command line definition.

use std::io::Write as _;

use crate::args::{CompletionsArgs, ManArgs, command};
use crate::exit::{Exit, Failure};

const NAME: &str = "enact";

/// Prints the completion script of a shell.
pub(crate) fn completions(args: &CompletionsArgs) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command(), NAME, &mut script);
    print(&script);
    Ok(Exit::Success)
}

/// Prints the manual page of the command, or writes those of all commands.
pub(crate) fn pages(args: &ManArgs) -> Result<Exit, Failure> {
    let failed = |error: std::io::Error| Failure::failed("man", error.to_string());
    match &args.dir {
        None => {
            let mut page = Vec::new();
            clap_mangen::Man::new(command())
                .render(&mut page)
                .map_err(failed)?;
            print(&page);
        }
        Some(folder) => {
            let written = std::fs::create_dir_all(folder)
                .and_then(|()| clap_mangen::generate_to(command(), folder));
            written.map_err(|error| {
                let folder = folder.display();
                let message = format!("the pages cannot be written to `{folder}`: {error}");
                Failure::usage("man", message)
            })?;
        }
    }
    Ok(Exit::Success)
}

fn print(text: &[u8]) {
    // A closed pipe is not an error.
    let _ = std::io::stdout().lock().write_all(text);
}
