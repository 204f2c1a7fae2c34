//! `enact keys`: the keys of providers in a file that only its owner can read.

use std::collections::BTreeMap;
use std::io::{IsTerminal as _, Read as _, Write as _};
use std::path::PathBuf;

use console::Term;
use enact_providers::{KeySource, Provider};

use crate::args::{KeysArgs, KeysCommand};
use crate::exit::{Exit, Failure};
use crate::place::config_file;
use crate::view::{Screen, Stream, text};

/// The variable with the path of the file.
const VARIABLE: &str = "ENACT_KEYS";
const FILE: &str = "keys.json";

/// Keys by provider.
type Keys = BTreeMap<String, String>;

pub(crate) fn execute(args: &KeysArgs) -> Result<Exit, Failure> {
    match &args.command {
        KeysCommand::Set { provider } => set(known(provider)?),
        KeysCommand::List => list(),
        KeysCommand::Remove { provider } => remove(known(provider)?),
    }
}

/// Passes the stored keys to the providers.
pub(crate) fn load() -> Result<(), Failure> {
    enact_providers::keep_keys(stored()?);
    Ok(())
}

/// The stored keys.
fn stored() -> Result<Keys, Failure> {
    keys().map_err(|message| Failure::usage("keys", message))
}

/// The stored keys, or why they cannot be read: redacting error messages depends on them.
pub(crate) fn keys() -> Result<Keys, String> {
    let Some(path) = path() else {
        return Ok(Keys::new());
    };
    let wrong = |problem: String| {
        let path = path.display();
        format!(
            "the stored keys in {path} cannot be read: {problem}; correct or delete the file, or \
             name another with {VARIABLE}"
        )
    };
    match std::fs::read_to_string(&path) {
        // The position but not the text: it contains keys.
        Ok(text) => serde_json::from_str(&text).map_err(|error| {
            wrong(format!(
                "line {}, column {}: expected an object with one key per provider",
                error.line(),
                error.column()
            ))
        }),
        Err(error) => match error.kind() {
            std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory => Ok(Keys::new()),
            _ => Err(wrong(error.to_string())),
        },
    }
}

fn path() -> Option<PathBuf> {
    match std::env::var_os(VARIABLE).filter(|path| !path.is_empty()) {
        Some(path) => Some(path.into()),
        None => config_file(FILE),
    }
}

fn known(name: &str) -> Result<Provider, Failure> {
    let wrong = |error: enact::model::ModelError| Failure::usage("provider", error.to_string());
    let provider = Provider::named(name).map_err(wrong)?;
    match provider.key_variable() {
        Some(_) => Ok(provider),
        None => {
            let message = format!("`{}` is a local server and needs no key", provider.name());
            Err(Failure::usage("provider", message))
        }
    }
}

fn set(provider: Provider) -> Result<Exit, Failure> {
    let key = read(provider)?;
    let mut keys = stored()?;
    keys.insert(provider.name().to_owned(), key);
    let path = write(&keys)?;
    tell(&format!("stored the key of {} in {path}", provider.name()));
    if let Some(KeySource::Variable(variable)) = provider.key_source() {
        tell(&format!("{variable} is set, and takes precedence"));
    }
    Ok(Exit::Success)
}

fn list() -> Result<Exit, Failure> {
    let stored = stored()?;
    let mut is_empty = true;
    for provider in Provider::all() {
        let name = provider.name();
        let from = match (provider.key_source(), stored.contains_key(name)) {
            (Some(KeySource::Variable(variable)), true) => format!("{variable} (and stored)"),
            (Some(KeySource::Variable(variable)), false) => variable.to_owned(),
            (_, true) => "stored".to_owned(),
            (_, false) => continue,
        };
        is_empty = false;
        Screen::new(Stream::Stdout).line(&format!("{name:<12} {from}"));
    }
    if is_empty {
        tell("no keys: store one with `enact keys set PROVIDER`");
    }
    Ok(Exit::Success)
}

fn remove(provider: Provider) -> Result<Exit, Failure> {
    let name = provider.name();
    let mut keys = stored()?;
    if keys.remove(name).is_none() {
        let message =
            format!("no key of `{name}` is stored: `enact keys list` lists the stored keys");
        return Err(Failure::usage("keys", message));
    }
    write(&keys)?;
    tell(&format!("removed the stored key of {name}"));
    Ok(Exit::Success)
}

/// The key, from a hidden prompt or a pipe.
fn read(provider: Provider) -> Result<String, Failure> {
    let name = provider.name();
    let unread =
        |error: std::io::Error| Failure::usage("keys", format!("the key cannot be read: {error}"));
    let typed = if std::io::stdin().is_terminal() {
        let term = Term::stderr();
        term.write_str(&format!("Key for {name} (not shown): "))
            .map_err(unread)?;
        term.read_secure_line().map_err(unread)?
    } else {
        let mut text = String::new();
        std::io::stdin()
            .lock()
            .read_to_string(&mut text)
            .map_err(unread)?;
        text
    };
    let key = typed.trim();
    let problem = if key.is_empty() {
        "the key is empty: type it, or write it to standard input"
    } else if key.contains(|c: char| c.is_whitespace() || c.is_control()) {
        "a key is one word, without spaces or line breaks"
    } else {
        return Ok(key.to_owned());
    };
    Err(Failure::usage("keys", problem))
}

/// Replaces the file, readable by its owner only. Returns its path.
fn write(keys: &Keys) -> Result<String, Failure> {
    let Some(path) = path() else {
        let message = format!("the config directory is unknown: name a file with {VARIABLE}");
        return Err(Failure::usage("keys", message));
    };
    let written = || -> std::io::Result<()> {
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => std::path::Path::new("."),
        };
        std::fs::create_dir_all(folder)?;
        // Temporary files are private, and readers see either all of it or nothing.
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        serde_json::to_writer_pretty(&mut file, keys)?;
        file.write_all(b"\n")?;
        file.persist(&path).map_err(|error| error.error)?;
        Ok(())
    };
    written().map_err(|error| {
        let path = path.display();
        Failure::failed("keys", format!("{path} cannot be written: {error}"))
    })?;
    Ok(path.display().to_string())
}

fn tell(remark: &str) {
    Screen::new(Stream::Stderr).line(&text::one_line(remark));
}
