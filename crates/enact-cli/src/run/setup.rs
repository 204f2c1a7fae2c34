//! From what was typed to an agent that is ready to run, and from a log to the agent of a run.

use std::sync::Arc;
use std::time::Duration;

use enact::run::{AgentSpec, SealKey};
use enact::signature::Dynamic;
use enact::tool::Confirmation;
use enact::{AdapterChoice, Call, Demo, Error, History, LanguageModel, ReAct, Run, Values};
use enact_sqlite::SqliteStore;
use indexmap::IndexMap;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::asked::{Asked, another};
use super::build::{adapter, build, members, options};
use super::history;
use crate::agent::{Agent, Member};
use crate::args::{AgentArgs, RecordingArgs, ResumeArgs};
use crate::exit::Failure;
use crate::mcp::{Noted, Servers};
use crate::models::{Named, Pace, Probing, Tape, is_unknown};
use crate::tools::{self, Reach};
use crate::{secrets, store, trust};

/// The notes of a run.
pub(super) const FILES: &str = "files";
const TEMPERATURE: &str = "temperature";
const MAX_TOKENS: &str = "max_tokens";
const MODELS: &str = "models";
pub(super) const PACE: &str = "pace";
pub(super) const MCP: &str = "mcp";
pub(super) const REACH: &str = "reach";
const SECRETS: &str = "secrets";
const APPROVAL: &str = "approval";
const DEMOS: &str = "demos";
pub(super) const AGENTS: &str = "agents";

/// An agent and what it starts from.
pub(crate) struct Setup {
    pub(crate) agent: ReAct,
    /// What it was built from.
    pub(crate) plan: Agent,
    /// The conversation that it goes on with.
    pub(crate) history: History,
    /// The model's name.
    pub(crate) model: String,
    /// What `auto` is, if that was found out.
    pub(crate) adapter: Option<String>,
    /// What the log has to say so that the agent can be built again.
    pub(crate) notes: Values,
    /// The MCP servers whose tools it has.
    pub(crate) servers: Servers,
    /// Where its runs are kept.
    pub(crate) store: Option<SqliteStore>,
    tape: Tape,
}

impl Setup {
    /// Checks everything that can be checked before a model is asked, and starts the servers.
    /// A model that nothing is known of is probed within `patience`.
    pub(crate) async fn new(
        agent: Agent,
        args: &AgentArgs,
        patience: Duration,
    ) -> Result<Self, Failure> {
        let mut plan = agent.with_flags(args)?;
        // A run that is not kept is never resumed.
        let seal = store::path(&args.store)?.and_then(|_| trust::key());
        secrets::configure(&plan.all_secrets(), plan.mcp.as_ref(), seal)?;
        let own = tools::own(&plan)?;
        adapter(plan.adapter.as_deref())?;
        let history = match &args.history {
            Some(path) => history::read(path)?,
            None => History::new(),
        };
        let probing = Probing::said(args, patience);
        let asked = Asked::choose(args, &plan, probing).await?;
        let auto = AdapterChoice::Auto.resolve(asked.model.capabilities());
        let is_probed = probing.of(&plan) != Probing::Off;
        let is_probed = is_probed && asked.models.first().is_some_and(is_unknown);
        plan.models = asked.models;
        plan.settle_members(asked.address.as_deref());
        if let Some(noted) = &mut plan.mcp {
            noted.own = own.names().map(str::to_owned).collect();
        }
        let notes = notes(&plan)?;
        let store = store::open_for_new(&args.store).await?;
        let mut servers = Servers::default();
        let agent = build(
            &plan,
            asked.model,
            &asked.tape,
            store.as_ref(),
            &mut servers,
            probing,
        )
        .await?;
        let model = plan.models.first().map(|first| first.name.clone());
        Ok(Self {
            agent,
            plan,
            history,
            model: model.unwrap_or_default(),
            adapter: is_probed.then(|| auto.name().to_owned()),
            notes,
            servers,
            store,
            tape: asked.tape,
        })
    }

    /// A model that was named apart from those of the agent, such as a judge.
    pub(crate) fn another(&self, name: &str) -> Result<Arc<dyn LanguageModel>, Failure> {
        self.tape.beside(name, || another(name, &self.plan))
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

    /// The agent of a run that is kept: as it was when the run began, whatever became of its file.
    /// Starts the servers that the run used.
    pub(crate) async fn rebuild(
        run: &Run,
        store: &SqliteStore,
        args: &ResumeArgs,
        seal: Option<SealKey>,
    ) -> Result<Rebuilt, Failure> {
        let started = run.started();
        let spec = &started.agent;
        let files = match spec.notes.get(FILES).and_then(Value::as_str) {
            Some(folder) => Some(tools::open_folder(folder)?),
            None => None,
        };
        let names: Vec<String> = noted(spec, SECRETS)?.unwrap_or_default();
        let list = match noted::<Noted>(spec, MCP)? {
            Some(list) => Some(list.completed(&args.mcp, &args.mcp_url)?),
            None => {
                // Says that there is no such server, if one is given.
                Noted::default().completed(&args.mcp, &args.mcp_url)?;
                None
            }
        };
        secrets::configure(&names, list.as_ref(), seal)?;
        let reach: Reach = noted(spec, REACH)?.unwrap_or_default();
        // It has the adapter that it began with: nobody is probed for it.
        let probing = Probing::Remembered;
        let (asked, name) = model_again(spec, &args.recording, probing).await?;
        let mut servers = Servers::default();
        let callable: Vec<Member> = noted(spec, AGENTS)?.unwrap_or_default();
        let others = members(&callable, &asked.tape, Some(store), &mut servers, probing).await?;
        let tools = match list {
            Some(list) => {
                let own = list.own.iter().map(String::as_str).collect();
                let own = tools::pick(own, files.as_ref(), &reach)?;
                let its = Servers::start(&list).await?;
                let joined = its.join(own.and(others));
                servers.and(its);
                // What the servers offer by now is taken in by the run, under the same rules.
                let rules: IndexMap<String, Confirmation> =
                    noted(spec, APPROVAL)?.unwrap_or_default();
                rules.into_iter().fold(joined, |tools, (name, rule)| {
                    tools.with_confirmation_whenever(&name, rule)
                })
            }
            None => {
                let names = spec.tools.iter().map(|tool| tool.name.as_str());
                let own = names.filter(|name| others.get(name).is_none());
                let all = tools::pick(own.collect(), files.as_ref(), &reach)?.and(others);
                spec.tools.iter().fold(all, |tools, tool| {
                    tools.with_confirmation_whenever(&tool.name, tool.confirmation.clone())
                })
            }
        };
        let demos: Vec<Demo> = noted(spec, DEMOS)?.unwrap_or_default();
        let extract = adapter(Some(&spec.adapter))?;
        let step = adapter(spec.step_adapter.as_deref().or(Some(&spec.adapter)))?;
        let mut options = options(noted(spec, MAX_TOKENS)?, &started.limits, &asked.models);
        options.temperature = spec.notes.get(TEMPERATURE).and_then(Value::as_f64);
        let build = || -> Result<ReAct, Error> {
            let agent = ReAct::dynamic(spec.signature.clone(), tools)?
                .with_completion(spec.completion)?
                // The log knows them, but prompts are worded by them, too.
                .with_rules(|rules| rules.clone_from(&started.rules))
                .with_options(options)
                .with_demos(demos)
                .with_adapter(extract)
                .with_step_adapter(step)
                .with_model(asked.model);
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

/// What is noted with a run, beside what its log says anyway.
fn notes(agent: &Agent) -> Result<Values, Failure> {
    let mut notes = Values::new();
    // One model on a compatible server is what the log says anyway.
    if agent.models.len() > 1 || agent.models.iter().any(Named::has_provider) {
        notes.insert(MODELS.to_owned(), json!(agent.models));
    }
    if agent.pace != Pace::default() {
        notes.insert(PACE.to_owned(), json!(agent.pace));
    }
    if let Some(folder) = &agent.files {
        notes.insert(FILES.to_owned(), folder.to_string_lossy().into());
    }
    if let Some(temperature) = agent.temperature {
        notes.insert(TEMPERATURE.to_owned(), temperature.into());
    }
    if let Some(max_tokens) = agent.max_tokens {
        notes.insert(MAX_TOKENS.to_owned(), max_tokens.into());
    }
    if let Some(mcp) = &agent.mcp {
        notes.insert(MCP.to_owned(), written(mcp)?);
        // Tools of servers may come and go: their rules stay.
        if !agent.approval.is_empty() {
            notes.insert(APPROVAL.to_owned(), written(&agent.approval)?);
        }
    }
    if agent.reach != Reach::default() {
        notes.insert(REACH.to_owned(), written(&agent.reach)?);
    }
    let secrets = agent.all_secrets();
    if !secrets.is_empty() {
        notes.insert(SECRETS.to_owned(), json!(secrets));
    }
    if !agent.demos.is_empty() {
        notes.insert(DEMOS.to_owned(), written(&agent.demos)?);
    }
    if !agent.agents.is_empty() {
        notes.insert(AGENTS.to_owned(), written(&agent.agents)?);
    }
    Ok(notes)
}

fn written(noted: &impl Serialize) -> Result<Value, Failure> {
    serde_json::to_value(noted).map_err(|error| Failure::failed("notes", error.to_string()))
}

/// What a run notes under a name.
pub(super) fn noted<T: DeserializeOwned>(
    spec: &AgentSpec,
    name: &str,
) -> Result<Option<T>, Failure> {
    let Some(noted) = spec.notes.get(name) else {
        return Ok(None);
    };
    let read = serde_json::from_value(noted.clone());
    read.map(Some).map_err(|error| {
        let message = format!("what the run notes under `{name}` cannot be read: {error}");
        Failure::failed("notes", message)
    })
}

/// The models of a run that is kept, the first one first.
pub(super) fn models(spec: &AgentSpec) -> Result<Vec<Named>, Failure> {
    let mut models: Vec<Named> = noted(spec, MODELS)?.unwrap_or_default();
    if models.is_empty() {
        models.push(Named {
            name: spec.model.clone(),
            base_url: spec.base_url.clone(),
        });
    }
    Ok(models)
}

/// The model of a run that is kept, and its name.
async fn model_again(
    spec: &AgentSpec,
    recording: &RecordingArgs,
    probing: Probing,
) -> Result<(Asked, String), Failure> {
    let models = models(spec)?;
    let name = models[0].name.clone();
    let pace: Pace = noted(spec, PACE)?.unwrap_or_default();
    let asked = Asked::named(&models, &pace, spec.base_url.clone(), recording, probing).await?;
    Ok((asked, name))
}
