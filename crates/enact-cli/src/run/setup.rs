//! Sets up an agent from arguments, or from the log of a run.

use std::sync::Arc;
use std::time::Duration;

use enact::run::SealKey;
use enact::signature::Dynamic;
use enact::{AdapterChoice, Call, History, LanguageModel, ReAct, Run, Values};
use enact_sqlite::SqliteStore;

use super::asked::{Asked, another, connected};
use super::build::{Building, adapter, built};
use super::history;
use super::parts::Parts;
use crate::agent::{Agent, Config};
use crate::args::{AgentArgs, ResumeArgs};
use crate::exit::Failure;
use crate::mcp::Servers;
use crate::models::{self, Named, Probing, Tape, is_unknown};
use crate::{secrets, store, tools, trust};

/// An agent that is ready to run.
pub(crate) struct Setup {
    pub(crate) agent: ReAct,
    /// The description it was built from.
    pub(crate) plan: Agent,
    /// The conversation to continue.
    pub(crate) history: History,
    /// The model's name.
    pub(crate) model: String,
    /// The adapter that `auto` selected, if known.
    pub(crate) adapter: Option<String>,
    /// What the log has to note so that the agent can be rebuilt.
    pub(crate) notes: Values,
    /// The MCP servers of the agent.
    pub(crate) servers: Servers,
    /// Where its runs are stored.
    pub(crate) store: Option<SqliteStore>,
    parts: Parts,
    tape: Tape,
    probing: Probing,
}

impl Setup {
    /// Checks everything that can be checked before a model is asked, and starts the servers.
    /// An unknown model is probed within `patience`.
    pub(crate) async fn new(
        agent: Agent,
        args: &AgentArgs,
        patience: Duration,
    ) -> Result<Self, Failure> {
        let mut plan = agent.with_flags(args)?.with_config(Config::load()?)?;
        // A run that is not stored is never resumed.
        let seal = store::path(&args.store)?.and_then(|_| trust::key());
        secrets::configure(Some(&plan), seal)?;
        let own = tools::own(&plan)?;
        adapter(&plan, plan.asking.adapter.as_deref())?;
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
        plan.settle_prices()?;
        if let Some(noted) = &mut plan.mcp {
            noted.own = own.names().map(str::to_owned).collect();
        }
        let notes = plan.notes()?;
        let store = store::open_for_new(&args.store).await?;
        let mut building = Building {
            tape: &asked.tape,
            store: store.as_ref(),
            probing,
            servers: Servers::default(),
        };
        let parts = building.parts(&plan).await?;
        let tools = building.tools(&plan).await?;
        let agent = built(&plan, tools, &parts, asked.model)?;
        let servers = building.servers;
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
            parts,
            tape: asked.tape,
            probing,
        })
    }

    /// A further model, such as a judge.
    pub(crate) fn another(&self, name: &str) -> Result<Arc<dyn LanguageModel>, Failure> {
        self.tape.beside(name, || another(name, &self.plan))
    }

    /// Changes the model, keeping the tools. Members keep their models.
    pub(crate) async fn ask_another(&mut self, name: &str) -> Result<(), Failure> {
        let mut plan = self.plan.clone();
        let address = models::address(plan.asking.base_url.as_deref());
        plan.models = vec![Named::at(name, address.as_deref())];
        let model = match self.tape.replayed(name)? {
            Some(model) => model,
            None => {
                let probing = self.probing.of(&plan);
                let (model, found) = connected(&plan.models, &plan.replies.pace, probing).await?;
                plan.models = found;
                self.tape.beside(name, || Ok(model))?
            }
        };
        let agent = built(&plan, self.agent.tool_set().clone(), &self.parts, model)?;
        let mut notes = plan.notes()?;
        // Further notes are kept.
        for (name, value) in &self.notes {
            if !notes.contains_key(name) && name != "models" {
                notes.insert(name.clone(), value.clone());
            }
        }
        self.model = plan
            .models
            .first()
            .map_or(String::new(), |one| one.name.clone());
        (self.agent, self.plan, self.notes) = (agent, plan, notes);
        Ok(())
    }

    /// A run with these inputs that continues the conversation, stored if there is
    /// a store.
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

    /// The agent of a stored run, as it was when the run started, whatever happened to its file since.
    /// Starts the servers of the run, and returns the name of the model too.
    pub(crate) async fn rebuild(
        run: &Run,
        store: &SqliteStore,
        args: &ResumeArgs,
        seal: Option<SealKey>,
    ) -> Result<(ReAct, String, Servers), Failure> {
        let spec = &run.started().agent;
        let mut plan = Agent::of_run(run.started())?;
        let is_with_servers = plan.mcp.is_some();
        // Reports a repeated server that the run doesn't have.
        let list = plan.mcp.take().unwrap_or_default();
        let list = list.completed(&args.mcp, &args.mcp_url)?;
        plan.mcp = is_with_servers.then_some(list);
        secrets::configure(Some(&plan), seal)?;
        // It keeps the adapter that it started with, so no model is probed.
        let probing = Probing::Remembered;
        let (pace, address) = (&plan.replies.pace, spec.base_url.clone());
        let asked = Asked::named(&plan.models, pace, address, &args.recording, probing).await?;
        let mut building = Building {
            tape: &asked.tape,
            store: Some(store),
            probing,
            servers: Servers::default(),
        };
        let agent = building.agent_again(&plan, asked.model).await?;
        Ok((agent, plan.models.swap_remove(0).name, building.servers))
    }
}
