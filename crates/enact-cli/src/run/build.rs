//! Builds an agent from its description.

use std::sync::Arc;

use enact::model::openai::DEFAULT_MAX_TOKENS;
use enact::model::{Capabilities, ModelOptions, ScriptedModel};
use enact::{
    AdapterChoice, AgentTool, Builder, FnTool, LanguageModel, ReAct, Run, ToolError, Tools, Values,
};
use enact_sqlite::SqliteStore;

use super::asked::connected;
use super::parts::Parts;
use crate::agent::{Agent, Member};
use crate::exit::Failure;
use crate::mcp::Servers;
use crate::models::{Probing, Tape, is_unknown};
use crate::tools;

/// What building an agent needs besides its description.
pub(super) struct Building<'a> {
    pub(super) tape: &'a Tape,
    pub(super) store: Option<&'a SqliteStore>,
    pub(super) probing: Probing,
    /// The started servers.
    pub(super) servers: Servers,
}

impl Building<'_> {
    /// An agent that another may call, asking this model. Starts its servers.
    async fn agent(
        &mut self,
        agent: &Agent,
        model: Arc<dyn LanguageModel>,
    ) -> Result<ReAct, Failure> {
        let parts = self.parts(agent).await?;
        built(agent, self.tools(agent).await?, &parts, model)
    }

    /// Builds the agent of a run that is resumed. Tools of servers may have changed: their rules
    /// stay.
    pub(super) async fn agent_again(
        &mut self,
        agent: &Agent,
        model: Arc<dyn LanguageModel>,
    ) -> Result<ReAct, Failure> {
        let rules = agent.approval.iter();
        let tools = rules.fold(self.tools(agent).await?, |tools, (name, rule)| {
            tools.with_confirmation_whenever(name, *rule)
        });
        let parts = self.parts(agent).await?;
        let builder = with_tools(agent, tools, &parts, model)?;
        let builder = agent.hooks.attach(builder)?;
        builder.build().map_err(|error| Failure::from(&error))
    }

    /// The tools of the agent: its own, those of its servers, which are started, and other agents.
    pub(super) async fn tools(&mut self, agent: &Agent) -> Result<Tools, Failure> {
        let mut own = tools::own(agent)?;
        for member in &agent.agents {
            own = own.with(self.member(member).await?);
        }
        let Some(noted) = &agent.mcp else {
            return Ok(own);
        };
        let started = Servers::start(noted).await?;
        let tools = started.join(own);
        self.servers.and(started);
        Ok(tools)
    }

    /// An agent as a tool. Its runs are stored with those of the caller, so that both can be resumed.
    async fn member(&mut self, member: &Member) -> Result<AgentTool, Failure> {
        let agent = &member.agent;
        let model = self.model(agent).await?;
        let built = Box::pin(self.agent(agent, model)).await?;
        let tool = AgentTool::new(built, &member.name, &member.description);
        Ok(match self.store {
            Some(store) => tool.with_store(store.clone()),
            None => tool,
        })
    }

    /// The models of an agent that works for another, as one.
    pub(super) async fn model(&self, agent: &Agent) -> Result<Arc<dyn LanguageModel>, Failure> {
        let name = agent.models.first().map_or("", |first| &first.name);
        if let Some(model) = self.tape.replayed(name)? {
            return Ok(model);
        }
        let probing = self.probing.of(agent);
        let (model, _) = connected(&agent.models, &agent.replies.pace, probing).await?;
        self.tape.beside(name, || Ok(model))
    }
}

/// The agent of a run that is only read: it asks no model, and its tools are those of the log.
pub(crate) fn to_read(run: &Run, mut agent: Agent) -> Result<ReAct, Failure> {
    let started = run.started();
    // A model that turned out to do less changed the words of `auto`; others keep theirs.
    if run.has_changed_adapter() {
        agent.asking.adapter = None;
        agent.reasoning.step_adapter = None;
    }
    let step = started.agent.step_adapter.as_deref();
    let calls = step.is_none_or(|name| name == "native");
    let model = ScriptedModel::new([]).with_capabilities(Capabilities::FULL.with_tools(calls));
    // A thought prompt refers to them.
    let tools = started.agent.tools.iter().cloned();
    let tools = tools.fold(Tools::new(), |tools, spec| {
        tools.with(FnTool::from_spec(spec, |_: Values, _| async {
            Err::<(), _>(ToolError::new("this agent is only read"))
        }))
    });
    let parts = Parts::to_read(&agent)?;
    let builder = with_tools(&agent, tools, &parts, Arc::new(model))?;
    let builder = agent.hooks.stand_in(builder);
    builder.build().map_err(|error| Failure::from(&error))
}

/// The agent with these tools and this model.
pub(super) fn built(
    agent: &Agent,
    tools: Tools,
    parts: &Parts,
    model: Arc<dyn LanguageModel>,
) -> Result<ReAct, Failure> {
    let builder = with_tools(agent, tools, parts, model)?;
    let builder = agent.hooks.attach(builder)?;
    let rules = agent.approval.iter();
    let builder = rules.fold(builder, |builder, (name, rule)| {
        builder.confirmation(name, *rule)
    });
    builder.build().map_err(|error| Failure::from(&error))
}

fn with_tools(
    agent: &Agent,
    tools: Tools,
    parts: &Parts,
    model: Arc<dyn LanguageModel>,
) -> Result<Builder<ReAct>, Failure> {
    let reasoning = &agent.reasoning;
    let mut builder = ReAct::builder(agent.signature.clone())
        .tools(tools)
        .completion(agent.asking.completion.unwrap_or_default())
        .limits(|limits| *limits = agent.limits)
        .rules(|rules| rules.clone_from(&agent.rules))
        .prices(agent.prices.clone().unwrap_or_default())
        .options(options(agent))
        .demos(agent.demos.clone())
        .adapter(adapter(agent, agent.asking.adapter.as_deref())?)
        .model(model);
    if let Some(name) = &reasoning.step_adapter {
        builder = builder.step_adapter(adapter(agent, Some(name))?);
    }
    if let Some(prompt) = &reasoning.thought_prompt {
        builder = builder.thought_prompt(prompt);
    }
    if reasoning.confidence == Some(true) {
        builder = builder.confidence();
    }
    Ok(parts.attach(builder))
}

/// How replies are bounded. Clients bound them by themselves at servers that nothing is known of, but
/// under a budget the bound of a request is what is left of it, which may be far more.
pub(super) fn options(agent: &Agent) -> ModelOptions {
    let has_budget = agent.limits.token_budget.is_some() || agent.limits.cost_budget.is_some();
    let is_bounded = has_budget && agent.models.iter().any(is_unknown);
    let usual = is_bounded.then_some(DEFAULT_MAX_TOKENS);
    let mut options = ModelOptions::default();
    options.max_tokens = agent.replies.max_tokens.or(usual);
    options.temperature = agent.replies.temperature;
    options.seed = agent.replies.seed;
    options
        .reasoning_effort
        .clone_from(&agent.replies.reasoning_effort);
    options
}

pub(super) fn adapter(agent: &Agent, name: Option<&str>) -> Result<AdapterChoice, Failure> {
    let choice = agent.reasoning.adapter(name);
    choice.map_err(|message| Failure::usage("adapter", message))
}
