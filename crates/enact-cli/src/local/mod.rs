//! Model files: `enact model`, and models that run in the process.

mod bar;
mod load;

use enact_models::{Checksum, Hub, Kept, Shelf, ShelfError, ShelfErrorKind, Wanted};
use serde_json::{Value, json};

pub(crate) use self::load::load;
use crate::args::{AddArgs, ListArgs, ModelArgs, ModelCommand, PullArgs, RemoveArgs};
use crate::exit::{Exit, Failure};
use crate::report;
use crate::view::{Screen, Stream, text};
use bar::Bar;

/// The provider of models that run in the process.
pub(crate) const PROVIDER: &str = "local";

/// Why such models cannot be run, if this build can't.
pub(crate) const OBSTACLE: Option<&str> = if cfg!(feature = "local") {
    None
} else {
    Some("this build of enact can't run models in the process: build it with `--features local`")
};

/// Runs a subcommand of `enact model`.
pub(crate) async fn execute(args: &ModelArgs) -> Result<Exit, Failure> {
    match &args.command {
        ModelCommand::Pull(args) => pull(args).await,
        ModelCommand::Add(args) => add(args),
        ModelCommand::List(args) => list(args),
        ModelCommand::Remove(args) => remove(args),
    }?;
    Ok(Exit::Success)
}

async fn pull(args: &PullArgs) -> Result<(), Failure> {
    let mut wanted: Wanted = args.model.parse()?;
    if let Some(name) = &args.name {
        wanted = wanted.with_name(name);
    }
    if let Some(digits) = &args.sha256 {
        wanted = wanted.with_sha256(digits.parse::<Checksum>()?);
    }
    let bar = Bar::of_bytes("downloading");
    let pulled = Shelf::open()?
        .pull(&Hub::open()?, &wanted, &mut |progress| bar.tell(progress))
        .await;
    bar.end();
    tell(&pulled?);
    Ok(())
}

fn add(args: &AddArgs) -> Result<(), Failure> {
    let bar = Bar::of_bytes("reading");
    let name = args.name.as_deref();
    let added = Shelf::open()?.add(&args.file, name, &mut |progress| bar.tell(progress));
    bar.end();
    tell(&added?);
    Ok(())
}

fn tell(kept: &Kept) {
    let screen = Screen::new(Stream::Stdout);
    screen.line(&text::one_line(&format!(
        "{PROVIDER}::{} · {} · sha256 {}",
        kept.name,
        size(kept.bytes),
        kept.sha256
    )));
    if let Some(obstacle) = OBSTACLE {
        screen.line(&format!("note: {obstacle}"));
    }
}

fn list(args: &ListArgs) -> Result<(), Failure> {
    let shelf = Shelf::open()?;
    let models = shelf.list()?;
    if args.json {
        report::print(&models.iter().map(|kept| object(&shelf, kept)).collect());
        return Ok(());
    }
    let screen = Screen::new(Stream::Stdout);
    if models.is_empty() {
        screen.line("no models: download one with `enact model pull`, or add a file");
    }
    for kept in &models {
        let from = match &kept.source {
            Some(source) => source.clone(),
            None => shelf.path(kept).display().to_string(),
        };
        let wrong = match shelf.check(kept) {
            Ok(()) => String::new(),
            Err(error) => format!(" ({error})"),
        };
        let line = format!(
            "{PROVIDER}::{} · {} · {from}{wrong}",
            kept.name,
            size(kept.bytes)
        );
        screen.line(&text::one_line(&line));
    }
    Ok(())
}

fn object(shelf: &Shelf, kept: &Kept) -> Value {
    json!({
        "name": kept.name,
        "file": shelf.path(kept),
        "bytes": kept.bytes,
        "sha256": kept.sha256,
        "source": kept.source,
        "problem": shelf.check(kept).err().map(|error| error.to_string()),
    })
}

fn remove(args: &RemoveArgs) -> Result<(), Failure> {
    let shelf = Shelf::open()?;
    let kept = shelf.remove(&args.name)?;
    let what = match &kept.source {
        Some(_) => "removed, and its file deleted".to_owned(),
        None => format!("removed; its file stays at {}", shelf.path(&kept).display()),
    };
    let line = format!("{PROVIDER}::{} {what}", kept.name);
    Screen::new(Stream::Stdout).line(&text::one_line(&line));
    Ok(())
}

/// A readable number of bytes.
fn size(bytes: u64) -> String {
    indicatif::DecimalBytes(bytes).to_string()
}

/// The names of the registered models, and why they can't be used, if they can't.
pub(crate) fn on_shelf() -> (Vec<String>, Option<String>) {
    match Shelf::open().and_then(|shelf| shelf.list()) {
        Ok(models) => (
            models.into_iter().map(|kept| kept.name).collect(),
            OBSTACLE.map(str::to_owned),
        ),
        Err(error) => (Vec::new(), Some(error.to_string())),
    }
}

impl From<ShelfError> for Failure {
    fn from(error: ShelfError) -> Self {
        let kind = error.kind();
        match kind {
            ShelfErrorKind::Connection
            | ShelfErrorKind::Hub
            | ShelfErrorKind::Io
            | ShelfErrorKind::Checksum
            | ShelfErrorKind::Busy => Self::failed(kind.as_str(), error.to_string()),
            _ => Self::usage(kind.as_str(), error.to_string()),
        }
    }
}
