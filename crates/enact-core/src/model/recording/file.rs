//! The lines of a recording: headings, which describe a model, and exchanges.

use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{FORMAT, RecordingError};
use crate::model::{Capabilities, Chunk, LanguageModel, ModelError, ModelErrorKind};

/// The description of a model, as needed for a replay.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Heading {
    /// The version of the format. It also identifies the line as a heading.
    pub(super) enact_recording: u32,
    pub(super) model: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) provider: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) base_url: Option<String>,
    pub(super) capabilities: Capabilities,
    /// Notes of the recording program for a replay.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub(super) notes: Map<String, Value>,
}

impl Heading {
    pub(super) fn of(model: &dyn LanguageModel) -> Self {
        let info = model.info();
        Self {
            enact_recording: FORMAT,
            model: info.name.to_owned(),
            provider: info.provider.map(str::to_owned),
            base_url: info.base_url.map(without_credentials),
            capabilities: info.capabilities,
            notes: Map::new(),
        }
    }
}

/// An address without user, password and query, which may contain keys. Clients in this crate already
/// return it like that; others may not.
fn without_credentials(address: &str) -> String {
    let bare = address.split(['?', '#']).next().unwrap_or_default();
    match bare.split_once("://") {
        Some((scheme, rest)) => {
            let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
            let host = host.rsplit('@').next().unwrap_or_default();
            format!("{scheme}://{host}{path}")
        }
        None => bare.to_owned(),
    }
}

/// A request and its result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Exchange {
    /// The model that was asked.
    pub(super) model: String,
    pub(super) request: Value,
    pub(super) chunks: Vec<Chunk>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) error: Option<Failed>,
}

/// A failed request, in the form of a line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Failed {
    kind: ModelErrorKind,
    message: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    retry_after_ms: Option<u64>,
}

impl From<&ModelError> for Failed {
    fn from(error: &ModelError) -> Self {
        let milliseconds = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        Self {
            kind: error.kind(),
            message: error.to_string(),
            status: error.status(),
            retry_after_ms: error.retry_after().map(milliseconds),
        }
    }
}

impl From<Failed> for ModelError {
    fn from(failed: Failed) -> Self {
        let mut error = Self::new(failed.kind, failed.message);
        if let Some(status) = failed.status {
            error = error.with_status(status);
        }
        if let Some(time) = failed.retry_after_ms {
            error = error.with_retry_after(Duration::from_millis(time));
        }
        error
    }
}

/// All lines of a file.
#[derive(Debug, Default)]
pub(super) struct Lines {
    pub(super) headings: Vec<Heading>,
    pub(super) exchanges: Vec<Exchange>,
}

impl Lines {
    /// Reads an existing file.
    pub(super) fn read(path: &Path) -> Result<Self, RecordingError> {
        let io = |source| RecordingError::Io {
            path: path.to_owned(),
            source,
        };
        let text = std::fs::read_to_string(path).map_err(io)?;
        let mut lines = Self::default();
        for (index, line) in text.split_inclusive('\n').enumerate() {
            let damaged = |problem: &dyn std::fmt::Display| RecordingError::Damaged {
                path: path.to_owned(),
                line: index + 1,
                problem: problem.to_string(),
            };
            let line = line.strip_suffix('\n').ok_or_else(|| {
                damaged(&"it is cut off: remove the line; what it recorded is lost")
            })?;
            let value: Value = serde_json::from_str(line).map_err(|error| damaged(&error))?;
            let version = value.get("enact_recording").map(Value::as_u64);
            if let Some(Some(version)) = version
                && version > u64::from(FORMAT)
            {
                return Err(RecordingError::Newer {
                    path: path.to_owned(),
                    version,
                });
            }
            lines
                .take(version.is_some(), value)
                .map_err(|problem| damaged(&problem))?;
        }
        Ok(lines)
    }

    fn take(&mut self, is_heading: bool, value: Value) -> Result<(), String> {
        let damaged = |error: serde_json::Error| error.to_string();
        if is_heading {
            self.headings
                .push(serde_json::from_value(value).map_err(damaged)?);
            return Ok(());
        }
        if self.headings.is_empty() {
            let problem = "a recording begins with the field `enact_recording`: this is none";
            return Err(problem.to_owned());
        }
        let exchange: Exchange = serde_json::from_value(value).map_err(damaged)?;
        if self.heading(&exchange.model).is_none() {
            return Err(format!("no line before it is about `{}`", exchange.model));
        }
        self.exchanges.push(exchange);
        Ok(())
    }

    /// The heading of a model.
    pub(super) fn heading(&self, model: &str) -> Option<&Heading> {
        self.headings.iter().find(|heading| heading.model == model)
    }
}
