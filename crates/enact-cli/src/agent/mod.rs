//! Agent files: agents in TOML.

mod check;
mod command;
mod config;
mod file;
mod hooks;
mod init;
mod overlay;
mod parts;
mod problem;
mod resolved;
mod schema;
mod servers;
mod shape;
mod source;
mod types;

use std::path::{Path, PathBuf};

use self::check::Check;
use self::file::AgentFile;
use self::problem::Problem;
use self::shape::Shape;
use self::source::{Source, below};
use crate::args::{Asking, Reasoning, Replies, ToolArgs};
use crate::exit::Failure;
use crate::view::{Ink, Screen, Stream};
use enact::{Signature, Values};
use serde::de::DeserializeOwned;
use serde_json::Value;

pub(crate) use self::command::execute as check;
pub(crate) use self::config::Config;
pub(crate) use self::init::execute as init;
pub(crate) use self::overlay::{overlaid, said};
pub(crate) use self::parts::PartName;
pub(crate) use self::resolved::{Agent, MADE_BY, Member};

/// How deep agents can call agents, as in the library.
const MAX_DEPTH: usize = 8;

/// The agent file that is used if none is named.
const FILE: &str = "agent.toml";

/// The agent file of a command: the one that is named, or `agent.toml` in the current directory unless
/// a signature is given. Prints a line if it wasn't named.
pub(crate) fn file(named: Option<&Path>, has_signature: bool) -> Option<PathBuf> {
    if named.is_some() || has_signature || !Path::new(FILE).is_file() {
        return named.map(Path::to_owned);
    }
    let screen = Screen::new(Stream::Stderr);
    screen.line(&screen.paint(Ink::Quiet, "agent: ./agent.toml"));
    Some(FILE.into())
}

/// The agent of a command: from a file or a signature.
pub(crate) fn of_args(file: Option<&Path>, signature: Option<&str>) -> Result<Agent, Failure> {
    match (file, signature) {
        (None, Some(signature)) => Ok(Agent::new(Signature::parse(signature)?)),
        (None, None) => {
            let message = "give a signature such as \"question -> answer\", or an agent file with \
                           `--agent FILE`; `enact init` creates an agent.toml, which is used \
                           automatically";
            Err(Failure::usage("signature", message))
        }
        (Some(_), Some(_)) => {
            let message = "the file of `--agent` contains the signature: leave out the other one";
            Err(Failure::usage("signature", message))
        }
        (Some(path), None) => of_file(path),
    }
}

/// The agent in a file.
pub(crate) fn of_file(path: &Path) -> Result<Agent, Failure> {
    read(path).map_err(|problems| problem::failure(path, &problems))
}

/// Reads an agent file and those that it refers to, and reports all mistakes in them.
fn read(path: &Path) -> Result<Agent, Vec<Problem>> {
    let mut reading = Reading::default();
    let agent = reading.file(path).unwrap_or_else(|message| {
        reading.problems.push(Problem {
            path: path.to_owned(),
            place: None,
            message,
        });
        None
    });
    let mut problems: Vec<Problem> = Vec::new();
    // A file that two agents refer to is read twice.
    for problem in reading.problems {
        if !problems.contains(&problem) {
            problems.push(problem);
        }
    }
    match agent {
        Some(agent) if problems.is_empty() => Ok(agent),
        _ => {
            problems.sort_by(|a, b| {
                (a.path != path, &a.path, a.place).cmp(&(b.path != path, &b.path, b.place))
            });
            Err(problems)
        }
    }
}

/// Groups of options that stand at the top level of a file.
const GROUPS: [(&str, &[&str]); 2] = [
    (
        "pace",
        &["requests_per_minute", "concurrent_requests", "cache"],
    ),
    ("reach", &["http_get", "shell"]),
];

fn grouped(mut file: Value) -> Value {
    if let Value::Object(all) = &mut file {
        for (group, names) in GROUPS {
            let its = names.iter();
            let its = its.filter_map(|name| all.shift_remove_entry(*name));
            let its: Values = its.collect();
            all.insert(group.to_owned(), its.into());
        }
    }
    file
}

/// A part of a file, or the place and message of a mistake.
fn part<T: DeserializeOwned>(file: &Value) -> Result<T, (String, String)> {
    serde_path_to_error::deserialize(file).map_err(|error| {
        let path = error.path().iter().map(|segment| segment.to_string());
        let path = path.skip_while(|name| GROUPS.iter().any(|(group, _)| name == group));
        let pointer = path.fold(String::new(), |pointer, name| {
            below(&pointer, name.trim_matches(['[', ']']))
        });
        (pointer, error.inner().to_string())
    })
}

/// The agent files that are being read.
#[derive(Default)]
struct Reading {
    problems: Vec<Problem>,
    /// The files from the first one to the current one, as written and as resolved.
    open: Vec<(PathBuf, PathBuf)>,
}

impl Reading {
    /// The agent in a file; `None` if it has mistakes. The error says why the file cannot be read.
    fn file(&mut self, path: &Path) -> Result<Option<Agent>, String> {
        let cannot = |error: std::io::Error| format!("the agent file cannot be read: {error}");
        let real = path.canonicalize().map_err(cannot)?;
        if let Some(start) = self.open.iter().position(|(_, open)| *open == real) {
            let circle = self.open[start..].iter().map(|(told, _)| told.as_path());
            let circle = circle.chain([path]).map(|told| told.display().to_string());
            let circle: Vec<String> = circle.collect();
            return Err(format!(
                "agents call each other in a circle: {}",
                circle.join(" → ")
            ));
        }
        if self.open.len() >= MAX_DEPTH {
            return Err(format!(
                "agents may not call agents more than {MAX_DEPTH} deep"
            ));
        }
        let text = std::fs::read_to_string(&real).map_err(cannot)?;
        self.open.push((path.to_owned(), real.clone()));
        let agent = self.text(path, &real, text);
        self.open.pop();
        Ok(agent)
    }

    fn text(&mut self, path: &Path, real: &Path, text: String) -> Option<Agent> {
        let before = self.problems.len();
        let source = Source::read(path, text, &mut self.problems);
        if self.problems.len() > before {
            return None;
        }
        let shape = match Shape::of(&source, &schema::schema::<AgentFile>()) {
            Ok(shape) => shape,
            Err(message) => {
                self.problems.push(source.at("", message));
                return None;
            }
        };
        if !shape.problems.is_empty() {
            self.problems.extend(shape.problems);
            return None;
        }
        self.problems.extend(shape.misworded);
        let value = grouped(shape.value);
        // The place of a wrong option is only known if its part is parsed on its own.
        let read = part::<Asking>(&value)
            .and_then(|_| part::<Reasoning>(&value))
            .and_then(|_| part::<Replies>(&value))
            .and_then(|_| part::<ToolArgs>(&value))
            .and_then(|_| part::<AgentFile>(&value));
        let file = match read {
            Ok(file) => file,
            Err((pointer, message)) => {
                self.problems.push(source.at(&pointer, message));
                return None;
            }
        };
        let mut check = Check {
            source: &source,
            folder: real.parent().unwrap_or(Path::new("/")),
            problems: Vec::new(),
        };
        let agents = self.members(path, &source, &file);
        let parts = file.parts.clone();
        let agent = check.agent(file);
        self.problems.append(&mut check.problems);
        let name = path.file_stem().map(|stem| stem.to_string_lossy().into());
        let agent = Agent {
            agents,
            name,
            ..agent?
        };
        Some(self.with_parts(agent, path, &source, &parts))
    }

    /// The agents that a file refers to.
    fn members(&mut self, path: &Path, source: &Source, file: &AgentFile) -> Vec<Member> {
        let folder = path.parent().unwrap_or(Path::new(""));
        let mut members = Vec::new();
        for (name, entry) in &file.agents {
            let pointer = below("/agents", name);
            let agent = match self.file(&folder.join(&entry.file)) {
                Ok(Some(agent)) => agent,
                Ok(None) => continue,
                Err(message) => {
                    let problem = source.at(&below(&pointer, "file"), message);
                    self.problems.push(problem);
                    continue;
                }
            };
            let description = entry.description.as_ref().or(agent.description.as_ref());
            let Some(description) = description.filter(|text| !text.trim().is_empty()) else {
                let message = "say when to call it: give it a `description`, here or in its file";
                self.problems.push(source.at(&pointer, message));
                continue;
            };
            members.push(Member {
                name: name.clone(),
                description: description.clone(),
                agent,
            });
        }
        members
    }
}
