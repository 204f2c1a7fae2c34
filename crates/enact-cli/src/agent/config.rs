//! The configuration file: a person's defaults for all agents.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Deserialize;

use super::file::OneOrMore;
use super::overlay::overlaid;
use super::problem::{self, Problem};
use super::resolved::{Agent, read_prices};
use super::schema::schema;
use super::shape::Shape;
use super::source::Source;
use super::{grouped, part};
use crate::args::{Asking, Replies};
use crate::exit::Failure;
use crate::models::{self, Named};
use crate::place::config_file;
use crate::tools::Reach;

/// The variable with the path of another file, or `none`.
const VARIABLE: &str = "ENACT_CONFIG";
const FILE: &str = "config.toml";
const NONE: &str = "none";

/// The keys of the file, named as in an agent file. Paths are relative to it.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(rename = "config.toml", deny_unknown_fields)]
pub(crate) struct Config {
    /// The model to ask if neither the command nor the agent sets one.
    model: Option<OneOrMore>,
    /// A JSON file with prices per million tokens, as for `--prices`.
    prices: Option<PathBuf>,
    /// The file that keeps runs, or "none".
    pub(crate) store: Option<String>,
    #[serde(flatten)]
    asking: Asking,
    #[serde(flatten)]
    replies: Replies,
    /// Settings for the tools `http_get` and `shell`, if flags add them.
    #[schemars(flatten)]
    reach: Reach,
}

impl Config {
    /// The configuration of this user; empty if there is no file.
    pub(crate) fn load() -> Result<Self, Failure> {
        let named = std::env::var_os(VARIABLE).filter(|path| !path.is_empty());
        let is_named = named.is_some();
        let path = match named {
            Some(path) if path == NONE => return Ok(Self::default()),
            Some(path) => PathBuf::from(path),
            None => match config_file(FILE) {
                Some(path) => path,
                None => return Ok(Self::default()),
            },
        };
        match std::fs::read_to_string(&path) {
            Ok(text) => Self::read(&path, text).map_err(|problems| problem::all(&problems)),
            Err(error) if !is_named && error.kind() != ErrorKind::PermissionDenied => {
                Ok(Self::default())
            }
            Err(error) => {
                let path = path.display();
                let message = format!(
                    "the configuration {path} cannot be read: {error} (set `{VARIABLE}={NONE}` to ignore \
                     it)"
                );
                Err(Failure::usage("config", message))
            }
        }
    }

    fn read(path: &Path, text: String) -> Result<Self, Vec<Problem>> {
        let mut problems = Vec::new();
        let source = Source::read(path, text, &mut problems);
        if !problems.is_empty() {
            return Err(problems);
        }
        let shape = Shape::of(&source, &schema::<Self>());
        let shape = shape.map_err(|message| vec![source.at("", message)])?;
        let wrong: Vec<Problem> = shape.problems.into_iter().chain(shape.misworded).collect();
        if !wrong.is_empty() {
            return Err(wrong);
        }
        let read = part::<Self>(&grouped(shape.value));
        let mut config = read.map_err(|(pointer, message)| vec![source.at(&pointer, message)])?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let shell = config.reach.shell.iter_mut();
        let shell = shell.filter_map(|shell| shell.folder.as_mut());
        let cache = config.replies.pace.cache.iter_mut();
        for path in cache.chain(shell).chain(config.prices.iter_mut()) {
            *path = folder.join(&*path);
        }
        for store in config.store.iter_mut().filter(|store| *store != NONE) {
            *store = folder.join(&*store).to_string_lossy().into_owned();
        }
        Ok(config)
    }
}

impl Agent {
    /// This agent with the configuration for everything that neither the agent nor a flag nor a variable
    /// sets.
    pub(crate) fn with_config(mut self, config: Config) -> Result<Self, Failure> {
        let mut asking = config.asking;
        if models::address(None).is_some() {
            asking.base_url = None;
        }
        // What is written of an address lacks its secrets.
        let configured = asking.base_url.take();
        if self.asking.base_url.is_none() && configured.is_some() {
            self.base_url_source = "the configuration file";
        }
        let base_url = self.asking.base_url.take().or(configured);
        self.asking = overlaid(&asking, &self.asking)?;
        self.replies = overlaid(&config.replies, &self.replies)?;
        let has_address = models::address(base_url.as_deref()).is_some();
        self.asking.base_url = base_url;
        if self.models.is_empty() {
            let names = match config.model {
                None => Vec::new(),
                Some(OneOrMore::One(name)) => vec![name],
                Some(OneOrMore::More(names)) => names,
            };
            let named = names.iter().map(|name| Named::at(name, None));
            // The model of a provider isn't available at another address.
            let named = named.filter(|named| !has_address || named.is_compatible());
            self.models = named.collect();
        }
        if let (None, Some(path)) = (&self.prices, &config.prices) {
            self.prices = Some(read_prices(path)?);
        }
        let names = self.own.names();
        let has = |name: &str| names.contains(&name);
        let (has_pages, has_shell) = (has("http_get"), has("shell"));
        let reach = &mut self.own.reach;
        if has_pages && reach.http_get.is_none() {
            reach.http_get = config.reach.http_get;
        }
        if has_shell && reach.shell.is_none() {
            reach.shell = config.reach.shell;
        }
        Ok(self)
    }
}
