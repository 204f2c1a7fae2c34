//! Turns a file into an agent, and collects all mistakes in it.

use std::path::Path;

use enact::model::Prices;
use enact::signature::{Types, Validator, instead};
use enact::tool::builtin::{FILE_TOOL_NAMES, Files, Shell};
use enact::{Demo, Field, Signature, Type, Values};

use super::file::{AgentFile, DemoEntry, FieldEntry, FieldsEntry, OneOrMore, SignatureEntry};
use super::overlay::overlaid;
use super::problem::Problem;
use super::resolved::{Agent, needs_price};
use super::servers;
use super::source::{Source, below};
use crate::args::ToolArgs;
use crate::exit::Failure;
use crate::models::{Named, built_in_price};

/// An agent file while it is checked.
pub(super) struct Check<'a> {
    pub(super) source: &'a Source,
    /// The directory of the file; its paths are relative to it.
    pub(super) folder: &'a Path,
    pub(super) problems: Vec<Problem>,
}

impl Check<'_> {
    pub(super) fn wrong(&mut self, pointer: &str, message: impl Into<String>) {
        self.problems.push(self.source.at(pointer, message));
    }

    /// Reports a problem with a key, or with its value as a whole.
    pub(super) fn wrong_key(&mut self, pointer: &str, message: impl Into<String>) {
        self.problems.push(self.source.at_key(pointer, message));
    }

    fn fine<T>(&mut self, result: Result<T, Failure>) -> Option<T> {
        let wrong = |failure: Failure| self.wrong("", failure.message);
        result.map_err(wrong).ok()
    }

    /// The agent, without its members. `None` if it has mistakes.
    pub(super) fn agent(&mut self, mut file: AgentFile) -> Option<Agent> {
        let signature = self.signature(&file);
        let models = self.models(&file);
        let mcp = servers::check(self, std::mem::take(&mut file.mcp));
        self.tools(&file);
        self.reach(&file.own);
        let hooks = self.hooks(&file.hooks);
        self.approval(&file, mcp.is_some());
        self.member_names(&file);
        let has_prices = file.prices != Prices::default();
        if file.limits.cost_budget.is_some() && !has_prices {
            // Without a model in the file, the model is only known when the agent runs.
            let is_priced = match &models[..] {
                [] => true,
                [only] => built_in_price(only).is_some(),
                _ => false,
            };
            if !is_priced {
                self.wrong("/limits/cost_budget", needs_price(&models));
            }
        }
        let signature = signature?;
        self.demos(&file.demos, &signature);
        let adapter = file.asking.adapter.as_deref();
        if let Err((key, message)) = file.reasoning.check(adapter, &signature) {
            self.wrong(&below("", key), message);
        }
        let mut agent = Agent::new(match &file.instructions {
            Some(instructions) => signature.with_instructions(instructions),
            None => signature,
        });
        agent.mcp = mcp;
        agent.hooks = hooks;
        agent.limits = self.fine(file.limits.over(&agent.limits))?;
        agent.rules = self.fine(overlaid(&agent.rules, &file.rules))?;
        agent.description = file.description;
        agent.models = models;
        agent.asking = file.asking;
        agent.asking.completion.get_or_insert_default();
        agent.reasoning = file.reasoning;
        agent.replies = file.replies;
        agent.own = file.own;
        let cache = agent.replies.pace.cache.iter_mut();
        for path in cache.chain(agent.own.paths()) {
            *path = self.folder.join(&*path);
        }
        agent.secrets = file.secrets;
        agent.approval = file.approval;
        agent.prices = has_prices.then_some(file.prices);
        let demos = file.demos.into_iter();
        agent.demos = demos
            .map(|demo| Demo::new(demo.inputs, demo.outputs))
            .collect();
        Some(agent)
    }

    fn signature(&mut self, file: &AgentFile) -> Option<Signature> {
        let types = self.types(&file.types);
        let parsed = match &file.signature {
            SignatureEntry::Arrow(arrow) => Signature::parse_with(arrow, &types),
            SignatureEntry::Fields(FieldsEntry { inputs, outputs }) => {
                let inputs = self.fields("/signature/inputs", inputs, &types);
                let outputs = self.fields("/signature/outputs", outputs, &types);
                Signature::builder()
                    .inputs(inputs?)
                    .outputs(outputs?)
                    .build()
            }
        };
        parsed
            .map_err(|error| {
                let message = format!("the signature is wrong: {}", error.message());
                self.problems
                    .push(self.within("/signature", &error, message));
            })
            .ok()
    }

    fn fields<'f>(
        &mut self,
        pointer: &str,
        entries: impl IntoIterator<Item = (&'f String, &'f FieldEntry)>,
        types: &Types,
    ) -> Option<Vec<Field>> {
        let mut fields = Vec::new();
        let mut is_whole = true;
        for (name, entry) in entries {
            let at = below(pointer, name);
            let (at, kind) = match entry {
                FieldEntry::Type(kind) => (at, Some(kind)),
                FieldEntry::Whole(whole) => (below(&at, "type"), whole.kind.as_ref()),
            };
            let kind = match kind.map_or(Ok(Type::Str), |kind| self.ty(&at, kind, types)) {
                Ok(kind) => kind,
                Err(problem) => {
                    self.problems.push(problem);
                    is_whole = false;
                    continue;
                }
            };
            let mut field = Field::new(name, kind);
            if let FieldEntry::Whole(whole) = entry {
                field.description.clone_from(&whole.description);
                field.default.clone_from(&whole.default);
            }
            fields.push(field);
        }
        is_whole.then_some(fields)
    }

    fn models(&mut self, file: &AgentFile) -> Vec<Named> {
        let names: &[String] = match &file.model {
            None => &[],
            Some(OneOrMore::One(name)) => std::slice::from_ref(name),
            Some(OneOrMore::More(names)) => names,
        };
        let address = file.asking.base_url.as_deref();
        let named = |name: &String| Named::at(name, address);
        let models: Vec<Named> = names.iter().map(named).collect();
        if address.is_some() && !models.is_empty() && !models.iter().any(Named::is_compatible) {
            let message = "`base_url` only applies to models without a provider, and there is none: \
                           leave it out";
            self.wrong("/base_url", message);
        }
        models
    }

    fn tools(&mut self, file: &AgentFile) {
        match &file.own.files {
            Some(folder) => {
                if let Err(error) = Files::open(self.folder.join(folder)) {
                    self.wrong("/files", error.to_string());
                }
            }
            None => {
                for (index, name) in file.own.tools.iter().enumerate() {
                    if FILE_TOOL_NAMES.contains(&name.as_str()) {
                        let message = format!(
                            "the tool `{name}` needs a folder to work in: name it with `files`"
                        );
                        self.wrong(&format!("/tools/{index}"), message);
                    }
                }
            }
        }
    }

    /// A tool that needs a table of its own has both an entry in `tools` and the table, or neither.
    fn reach(&mut self, own: &ToolArgs) {
        let reach = &own.reach;
        for (name, has_table, key) in [
            ("http_get", reach.http_get.is_some(), "hosts"),
            ("shell", reach.shell.is_some(), "folder"),
        ] {
            match own.tools.iter().position(|tool| tool == name) {
                Some(index) if !has_table => {
                    let message = format!(
                        "the tool `{name}` needs settings: set `{key}` under \
                         `[{name}]`"
                    );
                    self.wrong(&format!("/tools/{index}"), message);
                }
                None if has_table => {
                    let message = format!(
                        "`[{name}]` configures the tool `{name}`, which the agent doesn't use: add it to \
                         `tools`"
                    );
                    self.wrong_key(&below("", name), message);
                }
                _ => {}
            }
        }
        if let Some(folder) = reach.shell.as_ref().and_then(|shell| shell.folder.as_ref())
            && let Err(error) = Shell::in_folder(self.folder.join(folder))
        {
            self.wrong("/shell/folder", error.to_string());
        }
    }

    /// A rule for a tool that doesn't exist would have no effect.
    fn approval(&mut self, file: &AgentFile, has_servers: bool) {
        // The tools of servers are only known after the servers have started.
        if has_servers {
            return;
        }
        let mut known = file.own.names();
        known.extend(file.agents.keys().map(String::as_str));
        for name in file.approval.keys() {
            if !known.contains(&name.as_str()) {
                let what = instead(name, known.iter().copied());
                let message = format!("the agent has no tool `{name}`: {what}");
                self.wrong_key(&below("/approval", name), message);
            }
        }
    }

    fn demos(&mut self, demos: &[DemoEntry], signature: &Signature) {
        for (index, demo) in demos.iter().enumerate() {
            let at = |side: &str| format!("/demos/{index}/{side}");
            self.values(&at("inputs"), "input", &demo.inputs, signature.inputs());
            self.values(&at("outputs"), "output", &demo.outputs, signature.outputs());
        }
    }

    fn values(&mut self, pointer: &str, side: &str, values: &Values, fields: &[Field]) {
        for (name, value) in values {
            let at = below(pointer, name);
            let Some(field) = fields.iter().find(|field| field.name == *name) else {
                let known = fields.iter().map(|field| field.name.as_str());
                let message = format!("unknown {side} `{name}`: {}", instead(name, known));
                self.wrong_key(&at, message);
                continue;
            };
            let is_wrong = Validator::new(field.ty.json_schema())
                .is_ok_and(|validator| validator.check(value.clone()).is_err());
            if is_wrong {
                let message = format!("the {side} `{name}` is of the type {}", field.ty);
                self.wrong(&at, message);
            }
        }
    }

    /// Rejects names of agents that are not allowed for tools.
    fn member_names(&mut self, file: &AgentFile) {
        let reserved = file.asking.completion.unwrap_or_default().tool_name();
        for name in file.agents.keys() {
            let is_callable = (1..=64).contains(&name.len())
                && name
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
            let message = if !is_callable {
                "a name has 1 to 64 of the characters a-z A-Z 0-9 _ -".to_owned()
            } else if name == reserved {
                format!("the name `{name}` is reserved: give another one")
            } else if file.own.tools.contains(name) {
                format!("the tool `{name}` has this name already: give another one")
            } else {
                continue;
            };
            self.wrong_key(&below("/agents", name), message);
        }
    }
}
