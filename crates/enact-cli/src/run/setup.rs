//! From what was typed to an agent that is ready to run.

use std::path::Path;
use std::sync::Arc;

use enact::model::{ModelOptions, OpenAi, Prices, Retrying};
use enact::signature::Dynamic;
use enact::tool::Confirmation;
use enact::tool::builtin::{self, FILE_TOOL_NAMES, Files, PickError};
use enact::{AdapterChoice, Call, Error, History, ReAct, Run, Signature, Tool, Tools, Values};
use enact_sqlite::SqliteStore;
use serde::Deserialize as _;
use serde_json::Value;

use super::history;
use crate::args::AgentArgs;
use crate::exit::Failure;
use crate::mcp::{Noted, Servers};

const NO_MODEL: &str = "no model is set: name one with `--model` or ENACT_MODEL (`enact demo` \
                        needs none)";
const NO_KEY: &str = "no key is set: put it into OPENAI_API_KEY, or name a server that needs none \
                      with `--base-url` or OPENAI_BASE_URL";

/// The notes of a run.
const FILES: &str = "files";
const TEMPERATURE: &str = "temperature";
const MCP: &str = "mcp";

/// An agent and what it starts from.
pub(crate) struct Setup {
    pub(crate) agent: ReAct,
    /// The conversation that it goes on with.
    pub(crate) history: History,
    /// The model's name.
    pub(crate) model: String,
    /// What the log has to say so that the agent can be built again.
    pub(crate) notes: Values,
    /// The MCP servers whose tools it has.
    pub(crate) servers: Servers,
}

impl Setup {
    /// Checks everything that can be checked before a model is asked, and starts the servers.
    pub(crate) async fn new(signature: Signature, args: &AgentArgs) -> Result<Self, Failure> {
        let own = tools(args)?;
        let noted = Noted::of(&args.mcp)?;
        let adapter = match &args.adapter {
            Some(name) => name
                .parse::<AdapterChoice>()
                .map_err(|error| Failure::usage("adapter", error.to_string()))?,
            None => AdapterChoice::default(),
        };
        let history = match &args.history {
            Some(path) => history::read(path)?,
            None => History::new(),
        };
        let prices = prices(args)?.unwrap_or_default();
        let model = model_name(args)?;
        let client = server(model, args)?;
        let mut options = ModelOptions::default();
        options.temperature = args.temperature;
        let mut notes = notes(args)?;
        let (servers, tools) = match noted {
            Some(mut noted) => {
                noted.own = own.names().map(str::to_owned).collect();
                let servers = Servers::start(&noted).await?;
                notes.insert(MCP.to_owned(), written(&noted)?);
                let tools = servers.join(own);
                (servers, tools)
            }
            None => (Servers::default(), own),
        };
        let build = || -> Result<ReAct, Error> {
            let mut agent = ReAct::dynamic(signature, tools)?
                .with_completion(args.completion.into())?
                .with_limits(|limits| args.limits.apply(limits))
                .with_prices(prices)
                .with_options(options)
                .with_adapter(adapter)
                .with_model(Retrying::new(client));
            if let Some(instructions) = &args.instructions {
                agent = agent.with_instructions(instructions)?;
            }
            for name in &args.allow {
                agent = agent.with_confirmation(name.trim(), Confirmation::Never)?;
            }
            for name in &args.ask {
                agent = agent.with_confirmation(name.trim(), Confirmation::Always)?;
            }
            Ok(agent)
        };
        let agent = build().map_err(|error| Failure::from(&error))?;
        Ok(Self {
            agent,
            history,
            model: model.to_owned(),
            notes,
            servers,
        })
    }

    /// A run that begins with these inputs after this conversation, kept in a store if there is
    /// one.
    pub(crate) fn call(
        &self,
        inputs: Values,
        history: &History,
        store: Option<&SqliteStore>,
    ) -> Call<'_, Dynamic> {
        let call = self.agent.call(inputs).history(history);
        let call = call.notes(self.notes.clone());
        match store {
            Some(store) => call.store(store.clone()),
            None => call,
        }
    }

    /// The agent of a run that is kept. Starts the servers that the run used.
    pub(crate) async fn rebuild(run: &Run) -> Result<Rebuilt, Failure> {
        let spec = &run.started().agent;
        let files = match spec.notes.get(FILES).and_then(Value::as_str) {
            Some(folder) => Some(open_folder(folder)?),
            None => None,
        };
        let names = spec.tools.iter().map(|tool| tool.name.as_str());
        let (servers, tools) = match spec.notes.get(MCP) {
            Some(noted) => {
                let noted = Noted::deserialize(noted)
                    .map_err(|error| Failure::failed("mcp_config", error.to_string()))?;
                let own = pick(
                    noted.own.iter().map(String::as_str).collect(),
                    files.as_ref(),
                )?;
                let servers = Servers::start(&noted).await?;
                let offered = servers.join(own);
                let tools = names.map(|name| still_offered(&offered, name));
                let tools: Result<Vec<_>, Failure> = tools.collect();
                let tools = tools?.into_iter().fold(Tools::new(), Tools::with_shared);
                (servers, tools)
            }
            None => (Servers::default(), pick(names.collect(), files.as_ref())?),
        };
        let adapter = |name: &str| {
            name.parse::<AdapterChoice>()
                .map_err(|error| Failure::usage("adapter", error.to_string()))
        };
        let extract = adapter(&spec.adapter)?;
        let step = adapter(spec.step_adapter.as_deref().unwrap_or(&spec.adapter))?;
        let client = client(&spec.model, spec.base_url.as_deref())?;
        let mut options = ModelOptions::default();
        options.temperature = spec.notes.get(TEMPERATURE).and_then(Value::as_f64);
        let build = || -> Result<ReAct, Error> {
            let mut agent = ReAct::dynamic(spec.signature.clone(), tools)?
                .with_completion(spec.completion)?
                .with_options(options)
                .with_adapter(extract)
                .with_step_adapter(step)
                .with_model(Retrying::new(client));
            for tool in &spec.tools {
                agent = agent.with_confirmation(&tool.name, tool.confirmation.clone())?;
            }
            Ok(agent)
        };
        let agent = build().map_err(|error| Failure::from(&error))?;
        Ok(Rebuilt {
            agent,
            model: spec.model.clone(),
            servers,
        })
    }
}

/// An agent that was built again from a log.
pub(crate) struct Rebuilt {
    pub(crate) agent: ReAct,
    /// The model's name.
    pub(crate) model: String,
    pub(crate) servers: Servers,
}

/// A tool that a run had from a server, if it is still to be had.
fn still_offered(offered: &Tools, name: &str) -> Result<Arc<dyn Tool>, Failure> {
    offered.get(name).cloned().ok_or_else(|| {
        let message = format!(
            "the run has the tool `{name}`, which its MCP servers do not offer any more: it \
             cannot go on with other tools than it began with"
        );
        Failure::failed("tools", message)
    })
}

fn written(noted: &Noted) -> Result<Value, Failure> {
    serde_json::to_value(noted).map_err(|error| Failure::failed("mcp_config", error.to_string()))
}

/// What is noted with a run, beside what its log says anyway.
fn notes(args: &AgentArgs) -> Result<Values, Failure> {
    let mut notes = Values::new();
    if let Some(folder) = &args.files {
        // The run may be taken up from elsewhere.
        let folder = std::path::absolute(folder)
            .map_err(|error| Failure::usage("files", error.to_string()))?;
        notes.insert(FILES.to_owned(), folder.to_string_lossy().into());
    }
    if let Some(temperature) = args.temperature {
        notes.insert(TEMPERATURE.to_owned(), temperature.into());
    }
    Ok(notes)
}

fn tools(args: &AgentArgs) -> Result<Tools, Failure> {
    let files = args.files.as_ref().map(open_folder).transpose()?;
    let named = args
        .tools
        .iter()
        .map(|name| name.trim())
        .filter(|name| !name.is_empty());
    let mut names: Vec<&str> = named.collect();
    // A folder without a word on how to use it is there to be used.
    if files.is_some() && !names.iter().any(|name| FILE_TOOL_NAMES.contains(name)) {
        names.extend(FILE_TOOL_NAMES);
    }
    pick(names, files.as_ref())
}

/// What models cost, if a file says it.
pub(crate) fn prices(args: &AgentArgs) -> Result<Option<Prices>, Failure> {
    let Some(path) = &args.limits.prices else {
        return Ok(None);
    };
    let wrong = |problem: String| {
        let message = format!("the prices in {} cannot be read: {problem}", path.display());
        Failure::usage("prices", message)
    };
    let text = std::fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
    Prices::read(&text).map(Some).map_err(wrong)
}

fn open_folder(path: impl AsRef<Path>) -> Result<Files, Failure> {
    Files::open(path).map_err(|error| Failure::usage("files", error.to_string()))
}

fn pick(names: Vec<&str>, files: Option<&Files>) -> Result<Tools, Failure> {
    builtin::pick(names, files).map_err(|error| {
        let message = match &error {
            PickError::NeedsFolder(_) => format!("{error}: name it with `--files DIR`"),
            _ => error.to_string(),
        };
        Failure::usage("tools", message)
    })
}

fn given(value: Option<&String>) -> Option<&str> {
    value
        .map(|value| value.trim())
        .filter(|value| !value.is_empty())
}

/// A model on the server that was named.
pub(crate) fn server(model: &str, args: &AgentArgs) -> Result<OpenAi, Failure> {
    client(model, given(args.base_url.as_ref()))
}

fn model_name(args: &AgentArgs) -> Result<&str, Failure> {
    given(args.model.as_ref()).ok_or_else(|| Failure::usage("no_model", NO_MODEL))
}

fn client(model: &str, base_url: Option<&str>) -> Result<OpenAi, Failure> {
    let key = std::env::var("OPENAI_API_KEY")
        .ok()
        .filter(|key| !key.trim().is_empty());
    let mut client = OpenAi::new(model);
    match base_url {
        Some(base_url) => {
            client = client
                .with_base_url(base_url)
                .map_err(|error| Failure::usage("base_url", error.to_string()))?;
        }
        None if key.is_none() => return Err(Failure::usage("no_key", NO_KEY)),
        None => {}
    }
    if let Some(key) = key {
        client = client.with_api_key(key);
    }
    Ok(client)
}
