//! The results file: a heading, then one trial per line, written as they finish. An evaluation is
//! identified by its results file: opening it again resumes the evaluation.

use std::collections::HashMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use enact_core::__private::open_private;
use enact_core::Values;
use enact_core::run::canonical_json;
use serde::{Deserialize, Serialize};
use serde_json::json;
use sha2::{Digest as _, Sha256};

use crate::dataset::Example;
use crate::trial::Trial;

/// The version of the format that this release writes.
pub const FORMAT: u32 = 1;

/// The first line of a results file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Heading {
    /// The version of the format.
    pub format: u32,
    /// The id of the evaluation. A new one for each file.
    pub evaluation_id: String,
    /// The settings of the agent that affect results.
    pub settings: Values,
}

impl Heading {
    fn new(settings: Values) -> Self {
        let id = uuid::Uuid::now_v7().simple().to_string();
        Self {
            format: FORMAT,
            // The end is random, the beginning is the time.
            evaluation_id: id[id.len() - 12..].to_owned(),
            settings,
        }
    }

    /// The id of an example's run: the same whenever the evaluation is resumed.
    pub fn run_id(&self, example: &Example) -> String {
        let of = canonical_json(&json!([example.id, example.inputs]));
        let digest = Sha256::digest(of.as_bytes());
        let hex: String = digest
            .iter()
            .take(6)
            .map(|byte| format!("{byte:02x}"))
            .collect();
        format!("eval-{}-{hex}", self.evaluation_id)
    }

    /// Why an evaluation with other settings can't resume this one.
    fn difference(&self, settings: &Values) -> Option<String> {
        let names = self.settings.keys().chain(settings.keys());
        for name in names {
            let (was, is) = (self.settings.get(name), settings.get(name));
            if was != is {
                let shown = |value: Option<&serde_json::Value>| {
                    value.map_or("not set".to_owned(), |value| value.to_string())
                };
                let (was, is) = (shown(was), shown(is));
                return Some(format!("`{name}` was {was}, and is {is}"));
            }
        }
        None
    }
}

/// An open results file, locked.
#[derive(Debug)]
pub struct Results {
    /// The evaluation.
    pub heading: Heading,
    /// The results so far, by id.
    pub known: HashMap<String, Trial>,
    /// Appends further results.
    pub writer: Writer,
}

/// Appends trials to a results file.
#[derive(Debug)]
pub struct Writer {
    path: PathBuf,
    file: File,
}

/// Errors of a results file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ResultsError {
    /// It cannot be read or written.
    #[error("the results file `{path}` cannot be used: {source}")]
    Io {
        /// The file.
        path: String,
        /// The cause.
        source: io::Error,
    },
    /// Another process is writing to it.
    #[error(
        "another process works on `{path}`: wait for it, or name another file with `--results`"
    )]
    Busy {
        /// The file.
        path: String,
    },
    /// It belongs to another evaluation.
    #[error(
        "`{path}` holds an evaluation of another agent ({difference}): name another file with \
         `--results`, or start over with `--fresh`"
    )]
    OtherSettings {
        /// The file.
        path: String,
        /// The difference.
        difference: String,
    },
    /// It is not a results file.
    #[error(
        "`{path}` is no results file that can be gone on with (line {line}: {problem}): name \
         another one with `--results`"
    )]
    Unreadable {
        /// The file.
        path: String,
        /// The line.
        line: usize,
        /// The problem.
        problem: String,
    },
}

impl Results {
    /// Opens a results file, or creates it.
    pub fn open(path: &Path, settings: Values) -> Result<Self, ResultsError> {
        Self::with(path, settings, false)
    }

    /// Opens a results file, or creates it, and discards its contents.
    pub fn fresh(path: &Path, settings: Values) -> Result<Self, ResultsError> {
        Self::with(path, settings, true)
    }

    fn with(path: &Path, settings: Values, is_fresh: bool) -> Result<Self, ResultsError> {
        let failed = |source| ResultsError::Io {
            path: shown(path),
            source,
        };
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true).create(true).truncate(false);
        let mut file = open_private(options, path).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(ResultsError::Busy { path: shown(path) }),
            Err(TryLockError::Error(source)) => return Err(failed(source)),
        }
        let mut text = String::new();
        file.read_to_string(&mut text).map_err(failed)?;
        let found = match (read(path, &text), is_fresh) {
            // Only a results file is overwritten: the name may be mistyped.
            (Ok(_) | Err(ResultsError::Unreadable { line: 2.., .. }), true) => None,
            (found, _) => found?,
        };
        let mut writer = Writer {
            path: path.to_owned(),
            file,
        };
        let Some((heading, known)) = found else {
            let heading = Heading::new(settings);
            writer.restart(0).map_err(failed)?;
            writer.line(&heading).map_err(failed)?;
            return Ok(Self {
                heading,
                known: HashMap::new(),
                writer,
            });
        };
        if let Some(difference) = heading.difference(&settings) {
            return Err(ResultsError::OtherSettings {
                path: shown(path),
                difference,
            });
        }
        writer.restart(whole_lines(&text).len()).map_err(failed)?;
        Ok(Self {
            heading,
            known,
            writer,
        })
    }
}

impl Writer {
    /// Appends a trial. It is written when this returns.
    pub fn append(&mut self, trial: &Trial) -> Result<(), ResultsError> {
        self.line(trial).map_err(|source| ResultsError::Io {
            path: shown(&self.path),
            source,
        })
    }

    /// Truncates the file to this length: the line after it is incomplete because its process ended.
    fn restart(&mut self, length: usize) -> io::Result<()> {
        self.file.set_len(length as u64)?;
        self.file.seek(SeekFrom::End(0))?;
        Ok(())
    }

    fn line(&mut self, value: &impl Serialize) -> io::Result<()> {
        let mut line = serde_json::to_vec(value)?;
        line.push(b'\n');
        self.file.write_all(&line)
    }
}

type Found = (Heading, HashMap<String, Trial>);

/// The contents of a file; none if it is empty.
fn read(path: &Path, text: &str) -> Result<Option<Found>, ResultsError> {
    let unreadable = |line: usize, problem: String| ResultsError::Unreadable {
        path: shown(path),
        line,
        problem,
    };
    let mut lines = (1..).zip(whole_lines(text).lines());
    let Some((_, first)) = lines.next() else {
        // An incomplete heading is the beginning of one.
        return match text.is_empty() || text.starts_with("{\"format\":") {
            true => Ok(None),
            false => Err(unreadable(1, "not a heading".to_owned())),
        };
    };
    let heading: Heading =
        serde_json::from_str(first).map_err(|error| unreadable(1, error.to_string()))?;
    if heading.format > FORMAT {
        let problem = format!("format {} is newer than {FORMAT}", heading.format);
        return Err(unreadable(1, problem));
    }
    let mut known = HashMap::new();
    for (number, line) in lines {
        let trial: Trial =
            serde_json::from_str(line).map_err(|error| unreadable(number, error.to_string()))?;
        // The last result counts.
        known.insert(trial.id.clone(), trial);
    }
    Ok(Some((heading, known)))
}

/// The complete lines.
fn whole_lines(text: &str) -> &str {
    match text.rfind('\n') {
        Some(end) => &text[..=end],
        None => "",
    }
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}
