//! A complete agent: a file or a signature, overridden by flags.

use std::path::{Path, PathBuf};

use enact::model::{Prices, Secrets};
use enact::run::{Limits, Rules, Started};
use enact::tool::Confirmation;
use enact::tool::builtin::{NAMES, SET_UP_TOOL_NAMES};
use enact::{Demo, Signature, Values};
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::overlay::{overlaid, said};
use crate::args::{AgentArgs, Asking, McpArgs, Reasoning, Replies, ToolArgs, usual_limits};
use crate::exit::Failure;
use crate::hooks::Hooks;
use crate::mcp::Noted;
use crate::models::{Named, built_in_price};

/// What runs of the command note. Programs that use the library note nothing of how they word prompts.
pub(crate) const MADE_BY: &str = "made_by";

/// An agent as far as it can be written down. Paths are absolute, and there are no secrets in it, so
/// that a run can note it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Agent {
    /// Inputs, outputs and instructions.
    pub(crate) signature: Signature,
    /// The name of its file, without the extension.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) description: Option<String>,
    /// The models, the first choice first; empty to use the default, or the model of the caller.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) models: Vec<Named>,
    #[serde(flatten, serialize_with = "said")]
    pub(crate) asking: Asking,
    /// Where its base URL comes from, for messages.
    #[serde(skip)]
    pub(crate) base_url_source: &'static str,
    #[serde(flatten, serialize_with = "said")]
    pub(crate) reasoning: Reasoning,
    #[serde(flatten, serialize_with = "said")]
    pub(crate) replies: Replies,
    /// The built-in tools.
    #[serde(flatten, serialize_with = "said")]
    pub(crate) own: ToolArgs,
    /// The variables whose values are kept out of runs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) secrets: Vec<String>,
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub(crate) approval: IndexMap<String, Confirmation>,
    #[serde(default)]
    pub(crate) limits: Limits,
    #[serde(default)]
    pub(crate) rules: Rules,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) prices: Option<Prices>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) mcp: Option<Noted>,
    /// The commands that have a say in its runs.
    #[serde(default, skip_serializing_if = "Hooks::is_empty")]
    pub(crate) hooks: Hooks,
    /// The agent that gives the outputs after the loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) extraction: Option<Box<Self>>,
    /// The agent that summarises what no longer fits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) compaction: Option<Box<Self>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) demos: Vec<Demo>,
    /// The agents that it can call.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) agents: Vec<Member>,
}

/// An agent that another one can call as a tool.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Member {
    /// The name of the tool.
    pub(crate) name: String,
    /// When to call it.
    pub(crate) description: String,
    pub(crate) agent: Agent,
}

impl Agent {
    /// An agent with this signature and no other settings.
    pub(crate) fn new(signature: Signature) -> Self {
        Self {
            signature,
            name: None,
            description: None,
            models: Vec::new(),
            asking: Asking::default(),
            base_url_source: "the agent file",
            reasoning: Reasoning::default(),
            replies: Replies::default(),
            own: ToolArgs::default(),
            secrets: Vec::new(),
            approval: IndexMap::new(),
            limits: usual_limits(),
            rules: Rules::default(),
            prices: None,
            mcp: None,
            hooks: Hooks::default(),
            extraction: None,
            compaction: None,
            demos: Vec::new(),
            agents: Vec::new(),
        }
    }

    /// The agent of a stored run, as it was when the run started: from the note of the run and from its
    /// log.
    pub(crate) fn of_run(started: &Started) -> Result<Self, Failure> {
        Self::of_notes(started, started.agent.notes.clone())
    }

    /// The agent of a run that this agent made as a member of another one: that one notes it.
    pub(crate) fn of_called(self, started: &Started) -> Result<Self, Failure> {
        Self::of_notes(started, self.notes()?)
    }

    fn of_notes(started: &Started, mut noted: Values) -> Result<Self, Failure> {
        let spec = &started.agent;
        let wrong = |error: serde_json::Error| {
            let message = format!("what the run notes of its agent cannot be read: {error}");
            Failure::failed("notes", message)
        };
        let signature = serde_json::to_value(&spec.signature).map_err(wrong)?;
        noted.insert("signature".to_owned(), signature);
        let mut agent: Self = serde_json::from_value(noted.into()).map_err(wrong)?;
        agent.asking.completion = Some(spec.completion);
        agent.limits = started.limits;
        // They also affect the wording of prompts.
        agent.rules.clone_from(&started.rules);
        agent.asking.adapter = Some(spec.adapter.clone());
        agent.reasoning.step_adapter.clone_from(&spec.step_adapter);
        // It has become one of the outputs of the signature.
        agent.reasoning.confidence = None;
        if agent.models.is_empty() {
            agent.models.push(Named {
                name: spec.model.clone(),
                base_url: spec.base_url.clone(),
            });
        }
        match &agent.mcp {
            // The run itself updates the tools of servers, under the same rules.
            Some(mcp) => agent.own.tools.clone_from(&mcp.own),
            None => {
                let called = |name: &str| agent.agents.iter().any(|member| member.name == name);
                let names = spec.tools.iter().map(|tool| tool.name.clone());
                agent.own.tools = names.filter(|name| !called(name)).collect();
                let rules = spec.tools.iter();
                let rules = rules.map(|tool| (tool.name.clone(), tool.confirmation));
                agent.approval = rules.collect();
            }
        }
        Ok(agent)
    }

    /// The note for a run: the agent, without what the log contains anyway.
    pub(crate) fn notes(&self) -> Result<Values, Failure> {
        const SAID: [&str; 6] = [
            "signature",
            "completion",
            "limits",
            "rules",
            "adapter",
            "prices",
        ];
        let mut noted: Values = serde_json::to_value(self)
            .and_then(serde_json::from_value)
            .map_err(|error| Failure::failed("notes", error.to_string()))?;
        noted.retain(|name, _| !SAID.contains(&name.as_str()));
        noted.insert(MADE_BY.to_owned(), "enact".into());
        if let [only] = &self.models[..]
            && !only.has_provider()
        {
            noted.shift_remove("models");
        }
        Ok(noted)
    }

    /// This agent, overridden by the flags of a command.
    pub(crate) fn with_flags(mut self, args: &AgentArgs) -> Result<Self, Failure> {
        if let Some(instructions) = &args.instructions {
            self.signature = self.signature.with_instructions(instructions);
        }
        // What is noted of an address lacks its secrets.
        if args.asking.base_url.is_some() {
            self.base_url_source = "`--base-url`";
        }
        let base_url = args.asking.base_url.clone().or(self.asking.base_url.take());
        self.asking = overlaid(&self.asking, &args.asking)?;
        self.asking.base_url = base_url;
        self.reasoning = overlaid(&self.reasoning, &args.reasoning)?;
        let adapter = self.asking.adapter.as_deref();
        let checked = self.reasoning.check(adapter, &self.signature);
        checked.map_err(|(_, message)| Failure::usage("reasoning", message))?;
        self.rules = overlaid(&self.rules, &args.rules)?;
        let mut replies = args.replies.clone();
        replies.pace.cache.iter_mut().try_for_each(make_absolute)?;
        self.replies = overlaid(&self.replies, &replies)?;
        self.limits = args.limits.over(&self.limits)?;
        if let Some(path) = &args.limits.prices {
            self.prices = Some(read_prices(path)?);
        }
        self.hooks = self.hooks.with_flags(&args.hooks)?;
        self = self.with_parts(&args.parts)?;
        self.with_tools(&args.own, &args.mcp)
    }

    /// This agent with the tools of flags, which take precedence.
    pub(crate) fn with_tools(mut self, args: &ToolArgs, mcp: &McpArgs) -> Result<Self, Failure> {
        let mut flags = args.trimmed();
        flags.paths().try_for_each(make_absolute)?;
        self.own.files = flags.files.clone().or(self.own.files);
        if !flags.tools.is_empty() {
            self.own.tools.clone_from(&flags.tools);
            // Settings for tools that the agent no longer has are dropped.
            let names = self.own.names();
            let is_built_in =
                |name: &str| NAMES.contains(&name) || SET_UP_TOOL_NAMES.contains(&name);
            self.approval
                .retain(|name, _| !is_built_in(name) || names.contains(&name.as_str()));
            let has = |name| names.contains(&name);
            let (has_pages, has_shell) = (has("http_get"), has("shell"));
            self.own.reach.http_get.take_if(|_| !has_pages);
            self.own.reach.shell.take_if(|_| !has_shell);
        }
        self.own = overlaid(&self.own, &flags)?;
        let allowed = flags.allow.into_iter();
        let allowed = allowed.map(|name| (name, Confirmation::Never));
        let asked = flags.ask.into_iter();
        let asked = asked.map(|name| (name, Confirmation::Always));
        self.approval.extend(allowed.chain(asked));
        self.mcp = Noted::with_flags(self.mcp, mcp)?;
        Ok(self)
    }

    /// Sets the built-in price where none is given, for this agent and its members: only for a hosted
    /// model without fallbacks, which may have other prices.
    pub(crate) fn settle_prices(&mut self) -> Result<(), Failure> {
        if let (None, [only]) = (&self.prices, &self.models[..]) {
            self.prices = built_in_price(only);
        }
        if self.limits.cost_budget.is_some() && self.prices.is_none() {
            return Err(Failure::usage("prices", needs_price(&self.models)));
        }
        let members = self.agents.iter_mut();
        members
            .map(|member| &mut member.agent)
            .try_for_each(Self::settle_prices)
    }

    /// The agents that work for it: those that it may call, and those that do parts of its work.
    fn others(&self) -> impl Iterator<Item = &Self> {
        let called = self.agents.iter().map(|member| &member.agent);
        called.chain(self.parts().map(|(_, part)| part))
    }

    /// The secrets with those that commands read from the environment: its servers and its hooks, and
    /// those of the agents that work for it.
    pub(crate) fn add_secrets(&self, secrets: Secrets) -> Secrets {
        let secrets = match &self.mcp {
            Some(servers) => servers.add_secrets(secrets),
            None => secrets,
        };
        let secrets = self.hooks.add_secrets(secrets);
        self.others()
            .fold(secrets, |secrets, other| other.add_secrets(secrets))
    }

    /// The variables whose values are secret to it and to those that it may call.
    pub(crate) fn all_secrets(&self) -> Vec<String> {
        let called = self.others().flat_map(Self::all_secrets);
        self.secrets.iter().cloned().chain(called).collect()
    }

    /// The addresses that this agent and its members use.
    pub(crate) fn all_addresses(&self) -> Vec<String> {
        let own = self.models.iter().map(|named| &named.base_url);
        let own = own.chain([&self.asking.base_url]).flatten().cloned();
        let called = self.others().flat_map(Self::all_addresses);
        own.chain(called).collect()
    }

    /// Sets the models of the members: their own, or those of the caller.
    pub(crate) fn settle_members(&mut self, address: Option<&str>) {
        let called = self.agents.iter_mut().map(|member| &mut member.agent);
        let parts = [&mut self.extraction, &mut self.compaction].into_iter();
        let parts = parts.filter_map(|part| part.as_deref_mut());
        for agent in called.chain(parts) {
            if agent.models.is_empty() {
                agent.models.clone_from(&self.models);
            }
            for named in &mut agent.models {
                if named.base_url.is_none() && named.is_compatible() {
                    named.base_url = address.map(str::to_owned);
                }
            }
            agent.settle_members(address);
        }
    }
}

/// Why a cost budget can't be enforced.
pub(super) fn needs_price(models: &[Named]) -> String {
    let name = match models {
        [only] => format!("no price of `{}` is built in", only.name),
        _ => "several models have no common price".to_owned(),
    };
    format!(
        "a cost budget needs prices, and {name}: give them with `--prices FILE` or, in an agent file, \
         under `[prices.MODEL]`"
    )
}

/// Makes a path absolute: the run may be resumed from another directory.
fn make_absolute(path: &mut PathBuf) -> Result<(), Failure> {
    let absolute = std::path::absolute(&*path);
    *path = absolute.map_err(|error| Failure::usage("files", error.to_string()))?;
    Ok(())
}

/// What models cost, by a file.
pub(super) fn read_prices(path: &Path) -> Result<Prices, Failure> {
    let wrong = |problem: String| {
        let message = format!("the prices in {} cannot be read: {problem}", path.display());
        Failure::usage("prices", message)
    };
    let text = std::fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
    Prices::read(&text).map_err(wrong)
}
