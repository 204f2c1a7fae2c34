//! From what was typed to an agent that is ready to run.

use std::sync::Arc;

use enact::LanguageModel;
use enact::model::{ModelOptions, Prices};
use enact::run::AgentSpec;
use enact::signature::Dynamic;
use enact::tool::Confirmation;
use enact::{AdapterChoice, Call, Error, History, ReAct, Run, Signature, Tool, Tools, Values};
use enact_sqlite::SqliteStore;
use serde::{Deserialize as _, Serialize};
use serde_json::{Value, json};

use super::history;
use crate::args::{AgentArgs, RecordingArgs};
use crate::exit::Failure;
use crate::mcp::{Noted, Servers};
use crate::models::{self, Choice, Named, Pace, Tape, connect, joined, recorded_models};
use crate::tools::{self, Reach};

/// The notes of a run.
const FILES: &str = "files";
const TEMPERATURE: &str = "temperature";
const MODELS: &str = "models";
const PACE: &str = "pace";
const MCP: &str = "mcp";
const REACH: &str = "reach";

/// An agent and what it starts from.
pub(crate) struct Setup {
    pub(crate) agent: ReAct,
    /// The conversation that it goes on with.
    pub(crate) history: History,
    /// The model's name.
    pub(crate) model: String,
    /// The models that are asked, the first one first, each with its address.
    pub(crate) models: Vec<Named>,
    /// What the log has to say so that the agent can be built again.
    pub(crate) notes: Values,
    /// The MCP servers whose tools it has.
    pub(crate) servers: Servers,
    tape: Tape,
}

impl Setup {
    /// Checks everything that can be checked before a model is asked, and starts the servers.
    pub(crate) async fn new(signature: Signature, args: &AgentArgs) -> Result<Self, Failure> {
        let reach = Reach::of(&args.reach)?;
        let own = tools::chosen(&args.tools, args.files.as_ref(), &reach)?;
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
        let pace = pace(args)?;
        let (model, models, tape) = asked(args, &pace).await?;
        let mut options = ModelOptions::default();
        options.temperature = args.temperature;
        let mut notes = notes(args, &models, &pace)?;
        if reach != Reach::default() {
            notes.insert(REACH.to_owned(), written(&reach)?);
        }
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
                .with_model(model);
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
            model: models
                .first()
                .map(|first| first.name.clone())
                .unwrap_or_default(),
            models,
            notes,
            servers,
            tape,
        })
    }

    /// A model that was named apart from those of the agent, such as a judge.
    pub(crate) fn another(
        &self,
        name: &str,
        args: &AgentArgs,
    ) -> Result<Arc<dyn LanguageModel>, Failure> {
        self.tape.beside(name, || another(name, args))
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
    pub(crate) async fn rebuild(run: &Run, recording: &RecordingArgs) -> Result<Rebuilt, Failure> {
        let spec = &run.started().agent;
        let files = match spec.notes.get(FILES).and_then(Value::as_str) {
            Some(folder) => Some(tools::open_folder(folder)?),
            None => None,
        };
        let reach = match spec.notes.get(REACH) {
            Some(noted) => Reach::deserialize(noted)
                .map_err(|error| Failure::failed("notes", error.to_string()))?,
            None => Reach::default(),
        };
        let names = spec.tools.iter().map(|tool| tool.name.as_str());
        let (servers, tools) = match spec.notes.get(MCP) {
            Some(noted) => {
                let noted = Noted::deserialize(noted)
                    .map_err(|error| Failure::failed("mcp_config", error.to_string()))?;
                let own = noted.own.iter().map(String::as_str).collect();
                let own = tools::pick(own, files.as_ref(), &reach)?;
                let servers = Servers::start(&noted).await?;
                let offered = servers.join(own);
                let tools = names.map(|name| still_offered(&offered, name));
                let tools: Result<Vec<_>, Failure> = tools.collect();
                let tools = tools?.into_iter().fold(Tools::new(), Tools::with_shared);
                (servers, tools)
            }
            None => (
                Servers::default(),
                tools::pick(names.collect(), files.as_ref(), &reach)?,
            ),
        };
        let adapter = |name: &str| {
            name.parse::<AdapterChoice>()
                .map_err(|error| Failure::usage("adapter", error.to_string()))
        };
        let extract = adapter(&spec.adapter)?;
        let step = adapter(spec.step_adapter.as_deref().unwrap_or(&spec.adapter))?;
        let (model, name) = model_again(spec, recording)?;
        let mut options = ModelOptions::default();
        options.temperature = spec.notes.get(TEMPERATURE).and_then(Value::as_f64);
        let build = || -> Result<ReAct, Error> {
            let mut agent = ReAct::dynamic(spec.signature.clone(), tools)?
                .with_completion(spec.completion)?
                .with_options(options)
                .with_adapter(extract)
                .with_step_adapter(step)
                .with_model(model);
            for tool in &spec.tools {
                agent = agent.with_confirmation(&tool.name, tool.confirmation.clone())?;
            }
            Ok(agent)
        };
        let agent = build().map_err(|error| Failure::from(&error))?;
        Ok(Rebuilt {
            agent,
            model: name,
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

fn written(noted: &impl Serialize) -> Result<Value, Failure> {
    serde_json::to_value(noted).map_err(|error| Failure::failed("notes", error.to_string()))
}

/// What is noted with a run, beside what its log says anyway.
fn notes(args: &AgentArgs, models: &[Named], pace: &Pace) -> Result<Values, Failure> {
    let mut notes = Values::new();
    // One model on a compatible server is what the log says anyway.
    if models.len() > 1 || models.iter().any(Named::has_provider) {
        notes.insert(MODELS.to_owned(), json!(models));
    }
    if *pace != Pace::default() {
        notes.insert(PACE.to_owned(), json!(pace));
    }
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

fn another(name: &str, args: &AgentArgs) -> Result<Arc<dyn LanguageModel>, Failure> {
    let mut named = Named {
        name: name.to_owned(),
        base_url: None,
    };
    if !named.has_provider() {
        named.base_url = models::address(args.base_url.as_deref());
    }
    joined(connect(&named)?, Vec::new(), &pace(args)?)
}

fn pace(args: &AgentArgs) -> Result<Pace, Failure> {
    // The run may be taken up from elsewhere.
    let folder = args.cache.as_ref().map(std::path::absolute).transpose();
    Ok(Pace {
        requests_per_minute: args.requests_per_minute,
        concurrent_requests: args.concurrent_requests,
        cache: folder.map_err(|error| Failure::usage("cache", error.to_string()))?,
    })
}

/// What is asked: models, or a recording of them.
async fn asked(
    args: &AgentArgs,
    pace: &Pace,
) -> Result<(Arc<dyn LanguageModel>, Vec<Named>, Tape), Failure> {
    if let Some(mut replaying) = Tape::to_replay(&args.recording)? {
        if args.replay_loosely {
            replaying = replaying.loosely();
        }
        let models = recorded_models(&replaying)?;
        return Ok((
            Arc::new(replaying.clone()),
            models,
            Tape::Replays(replaying),
        ));
    }
    let choice = models::choose(args).await?;
    let (model, models) = connected(&choice, pace)?;
    let (model, tape) = Tape::around(model, &models, &args.recording)?;
    choice.tell();
    Ok((model, models, tape))
}

/// The models of a choice as one, and where each of them is.
fn connected(
    choice: &Choice,
    pace: &Pace,
) -> Result<(Arc<dyn LanguageModel>, Vec<Named>), Failure> {
    let first = connect(&choice.first)?;
    let others = choice.others.iter().map(connect);
    let others = others.collect::<Result<Vec<_>, Failure>>()?;
    let clients = std::iter::once(&first).chain(&others);
    let names = std::iter::once(&choice.first).chain(&choice.others);
    let found = names.zip(clients).map(|(named, client)| Named {
        name: named.name.clone(),
        base_url: client.base_url().map(str::to_owned),
    });
    let found = found.collect();
    Ok((joined(first, others, pace)?, found))
}

/// The model of a run that is kept, and its name.
fn model_again(
    spec: &AgentSpec,
    recording: &RecordingArgs,
) -> Result<(Arc<dyn LanguageModel>, String), Failure> {
    if let Some(replaying) = Tape::to_replay(recording)? {
        return Ok((Arc::new(replaying), spec.model.clone()));
    }
    let unreadable = |error: serde_json::Error| {
        Failure::failed("notes", format!("what the run notes of its model: {error}"))
    };
    let mut named: Vec<Named> = match spec.notes.get(MODELS) {
        Some(noted) => serde_json::from_value(noted.clone()).map_err(unreadable)?,
        None => Vec::new(),
    };
    if named.is_empty() {
        named.push(Named {
            name: spec.model.clone(),
            base_url: spec.base_url.clone(),
        });
    }
    let pace = match spec.notes.get(PACE) {
        Some(noted) => serde_json::from_value(noted.clone()).map_err(unreadable)?,
        None => Pace::default(),
    };
    let mut clients = named.iter().map(connect);
    let first = clients
        .next()
        .unwrap_or_else(|| Err(Failure::failed("notes", "no model")))?;
    let others = clients.collect::<Result<Vec<_>, Failure>>()?;
    let (model, _) = Tape::around(joined(first, others, &pace)?, &named, recording)?;
    Ok((model, named.remove(0).name))
}
