//! `enact check`.

use crate::args::CheckArgs;
use crate::exit::{Exit, Failure};
use crate::view::{Screen, Stream, text};

use super::{FILE, read, schema};

/// Checks agent files, and reports all mistakes in them.
pub(crate) fn execute(args: &CheckArgs) -> Result<Exit, Failure> {
    let screen = Screen::new(Stream::Stdout);
    if args.schema {
        screen.line(schema::schema_text().trim_end());
        return Ok(Exit::Success);
    }
    let told = Screen::new(Stream::Stderr);
    let mut exit = Exit::Success;
    let files = match &args.files[..] {
        [] => vec![FILE.into()],
        files => files.to_vec(),
    };
    for path in &files {
        match read(path) {
            Ok(_) => screen.line(&text::one_line(&format!("{}: ok", path.display()))),
            Err(problems) => {
                exit = Exit::Usage;
                for problem in problems {
                    told.line(&text::one_line(&problem.to_string()));
                }
            }
        }
    }
    Ok(exit)
}
