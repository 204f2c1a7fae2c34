//! An agent, whole: what a file says or a signature alone, under what the flags say.

use std::path::{Path, PathBuf};

use enact::model::Prices;
use enact::run::{Limits, Rules, Started};
use enact::tool::Confirmation;
use enact::tool::builtin::{FILE_TOOL_NAMES, NAMES, SET_UP_TOOL_NAMES};
use enact::{Completion, Demo, Signature, Values};
use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use crate::args::{AgentArgs, McpArgs, ToolArgs, USUAL_TIME_BUDGET};
use crate::exit::Failure;
use crate::mcp::Noted;
use crate::models::{Named, Pace};
use crate::tools::Reach;

/// An agent as far as it can be written down. Paths are absolute, and there are no secrets in it, so
/// that a run can note it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Agent {
    /// What goes in and what comes out, with the instructions.
    pub(crate) signature: Signature,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) description: Option<String>,
    /// The models, the first one first; none to take what is at hand, or what the caller asks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) models: Vec<Named>,
    /// The server for models that are named without a provider.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        serialize_with = "crate::models::store_address"
    )]
    pub(crate) base_url: Option<String>,
    #[serde(default, skip_serializing_if = "is_usual")]
    pub(crate) pace: Pace,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) adapter: Option<String>,
    #[serde(default)]
    pub(crate) completion: Completion,
    /// Whether it may be found out what its model can do; unless told, it may.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) probe: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) temperature: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) max_tokens: Option<u32>,
    /// Built-in tools that were named.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) tools: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) files: Option<PathBuf>,
    /// How far `http_get` and `shell` reach.
    #[serde(default, skip_serializing_if = "is_usual")]
    pub(crate) reach: Reach,
    /// The variables whose values are kept out of runs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) secrets: Vec<String>,
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub(crate) approval: IndexMap<String, Confirmation>,
    #[serde(default)]
    pub(crate) limits: Limits,
    #[serde(default)]
    pub(crate) rules: Rules,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) prices: Option<Prices>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) mcp: Option<Noted>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) demos: Vec<Demo>,
    /// The agents that it may call.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) agents: Vec<Member>,
}

/// An agent that another may call as a tool.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Member {
    /// What the tool is called.
    pub(crate) name: String,
    /// When to call it.
    pub(crate) description: String,
    pub(crate) agent: Agent,
}

impl Agent {
    /// An agent of this signature, and nothing more.
    pub(crate) fn new(signature: Signature) -> Self {
        let mut limits = Limits::default();
        limits.time_budget = Some(USUAL_TIME_BUDGET);
        Self {
            signature,
            description: None,
            models: Vec::new(),
            base_url: None,
            pace: Pace::default(),
            adapter: None,
            completion: Completion::default(),
            probe: None,
            temperature: None,
            max_tokens: None,
            tools: Vec::new(),
            files: None,
            reach: Reach::default(),
            secrets: Vec::new(),
            approval: IndexMap::new(),
            limits,
            rules: Rules::default(),
            prices: None,
            mcp: None,
            demos: Vec::new(),
            agents: Vec::new(),
        }
    }

    /// The agent of a run that is kept, as it was when the run began: what the run notes, and what its
    /// log says anyway.
    pub(crate) fn of_run(started: &Started) -> Result<Self, Failure> {
        let spec = &started.agent;
        let wrong = |error: serde_json::Error| {
            let message = format!("what the run notes of its agent cannot be read: {error}");
            Failure::failed("notes", message)
        };
        let mut noted = spec.notes.clone();
        let signature = serde_json::to_value(&spec.signature).map_err(wrong)?;
        noted.insert("signature".to_owned(), signature);
        let mut agent: Self = serde_json::from_value(noted.into()).map_err(wrong)?;
        agent.completion = spec.completion;
        agent.limits = started.limits;
        // Prompts are worded by them, too.
        agent.rules.clone_from(&started.rules);
        agent.adapter = Some(spec.adapter.clone());
        if agent.models.is_empty() {
            agent.models.push(Named {
                name: spec.model.clone(),
                base_url: spec.base_url.clone(),
            });
        }
        match &agent.mcp {
            // What the servers offer by now is taken in by the run, under the same rules.
            Some(mcp) => agent.tools.clone_from(&mcp.own),
            None => {
                let called = |name: &str| agent.agents.iter().any(|member| member.name == name);
                let names = spec.tools.iter().map(|tool| tool.name.clone());
                agent.tools = names.filter(|name| !called(name)).collect();
                let rules = spec.tools.iter();
                let rules = rules.map(|tool| (tool.name.clone(), tool.confirmation.clone()));
                agent.approval = rules.collect();
            }
        }
        Ok(agent)
    }

    /// What a run of it notes: the agent, without what the log says anyway.
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
        if let [only] = &self.models[..]
            && !only.has_provider()
        {
            noted.shift_remove("models");
        }
        Ok(noted)
    }

    /// The names of the built-in tools that it has.
    pub(crate) fn tool_names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.tools.iter().map(String::as_str).collect();
        // A folder without a word on how to use it is there to be used.
        if self.files.is_some() && !names.iter().any(|name| FILE_TOOL_NAMES.contains(name)) {
            names.extend(FILE_TOOL_NAMES);
        }
        names
    }

    /// The same under the flags of a command, which win.
    pub(crate) fn with_flags(mut self, args: &AgentArgs) -> Result<Self, Failure> {
        if let Some(instructions) = &args.instructions {
            self.signature = self.signature.with_instructions(instructions);
        }
        if args.base_url.is_some() {
            self.base_url.clone_from(&args.base_url);
        }
        if args.adapter.is_some() {
            self.adapter.clone_from(&args.adapter);
        }
        if let Some(completion) = args.completion {
            self.completion = completion.into();
        }
        self.temperature = args.temperature.or(self.temperature);
        self.max_tokens = args.max_tokens.or(self.max_tokens);
        args.limits.apply(&mut self.limits);
        if let Some(prices) = prices(args)? {
            self.prices = Some(prices);
        }
        if self.limits.cost_budget.is_some() && self.prices.is_none() {
            let message = "`--cost-budget` needs prices: give them with `--prices FILE`";
            return Err(Failure::usage("prices", message));
        }
        self.pace = Pace {
            requests_per_minute: args.requests_per_minute.or(self.pace.requests_per_minute),
            concurrent_requests: args.concurrent_requests.or(self.pace.concurrent_requests),
            cache: match &args.cache {
                Some(folder) => Some(absolute("cache", folder)?),
                None => self.pace.cache,
            },
        };
        self.with_tools(&args.own, &args.mcp)
    }

    /// The same with the tools of flags, which win.
    pub(crate) fn with_tools(mut self, args: &ToolArgs, mcp: &McpArgs) -> Result<Self, Failure> {
        let named = args.tools.iter().map(|name| name.trim());
        let named: Vec<&str> = named.filter(|name| !name.is_empty()).collect();
        if let Some(folder) = &args.files {
            self.files = Some(absolute("files", folder)?);
        }
        if !named.is_empty() {
            self.tools = named.into_iter().map(str::to_owned).collect();
            // What the file says of tools that are not handed over any more says nothing.
            let names: Vec<String> = self.tool_names().into_iter().map(str::to_owned).collect();
            let is_built_in =
                |name: &str| NAMES.contains(&name) || SET_UP_TOOL_NAMES.contains(&name);
            self.approval
                .retain(|name, _| !is_built_in(name) || names.contains(name));
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            self.reach.only_for(&names);
        }
        self.reach = self.reach.with_flags(&args.reach)?;
        let allowed = args.allow.iter().map(|name| (name, Confirmation::Never));
        let asked = args.ask.iter().map(|name| (name, Confirmation::Always));
        for (name, confirmation) in allowed.chain(asked) {
            self.approval.insert(name.trim().to_owned(), confirmation);
        }
        self.mcp = Noted::with_flags(self.mcp, mcp)?;
        Ok(self)
    }

    /// The variables whose values are secret to it and to those that it may call.
    pub(crate) fn all_secrets(&self) -> Vec<String> {
        let called = self
            .agents
            .iter()
            .flat_map(|member| member.agent.all_secrets());
        self.secrets.iter().cloned().chain(called).collect()
    }

    /// The addresses that it asks, and those that it may call.
    pub(crate) fn all_addresses(&self) -> Vec<String> {
        let own = self.models.iter().map(|named| &named.base_url);
        let own = own.chain([&self.base_url]).flatten().cloned();
        let called = self.agents.iter();
        let called = called.flat_map(|member| member.agent.all_addresses());
        own.chain(called).collect()
    }

    /// Settles whom the agents ask that it may call: their own models, or those of the caller.
    pub(crate) fn settle_members(&mut self, address: Option<&str>) {
        for member in &mut self.agents {
            let agent = &mut member.agent;
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

fn is_usual<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// A path that means the same elsewhere: the run may be taken up from there.
fn absolute(kind: &'static str, path: &Path) -> Result<PathBuf, Failure> {
    std::path::absolute(path).map_err(|error| Failure::usage(kind, error.to_string()))
}

/// What models cost, if a file says it.
fn prices(args: &AgentArgs) -> Result<Option<Prices>, Failure> {
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
