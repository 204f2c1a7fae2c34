//! `enact init`.

use std::io::{ErrorKind, Write as _};

use super::schema::schema_text;
use crate::args::InitArgs;
use crate::exit::{Exit, Failure};
use crate::view::{Screen, Stream, text};

/// An agent file with a comment on every option.
const TEMPLATE: &str = include_str!("template.toml");

/// The schema that the first line of the template refers to, for editors.
const SCHEMA: &str = "agent.schema.json";

/// Creates an agent file.
pub(crate) fn execute(args: &InitArgs) -> Result<Exit, Failure> {
    let path = args.file.display();
    let file = std::fs::File::create_new(&args.file);
    let written = file.and_then(|mut file| file.write_all(TEMPLATE.as_bytes()));
    written.map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => {
            let message = format!("{path} already exists: name another file");
            Failure::usage("agent_file", message)
        }
        _ => Failure::failed("agent_file", format!("{path} cannot be written: {error}")),
    })?;
    // For editors. An existing schema may be from a newer version, so it is kept.
    let schema = args.file.with_file_name(SCHEMA);
    let created = std::fs::File::create_new(&schema);
    let written = created.and_then(|mut file| file.write_all(schema_text().as_bytes()));
    match written {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => {
            let message = format!("{} cannot be written: {error}", schema.display());
            return Err(Failure::failed("agent_file", message));
        }
        _ => {}
    }
    let how =
        format!("wrote {path}: try `enact run --agent {path} question=\"What is 17% of 2340?\"`");
    Screen::new(Stream::Stdout).line(&text::one_line(&how));
    Ok(Exit::Success)
}
