//! From what a file says to an agent, with everything that is wrong with it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use enact::model::{Price, Prices};
use enact::run::{Limits, Rules, ThoughtRules, ThoughtsInContext};
use enact::signature::{SignatureError, Validator, instead};
use enact::tool::Confirmation;
use enact::tool::builtin::{FILE_TOOL_NAMES, Files};
use enact::{Completion, Demo, Field, Signature, Type, Values};
use enact_providers::Provider;

use super::file::{
    AdapterName, AgentFile, Approval, CompletionName, DemoEntry, FieldEntry, FieldsEntry,
    LimitsEntry, OneOrMore, RulesEntry, SignatureEntry, ThoughtsInContextEntry, ThoughtsWord,
};
use super::problem::Problem;
use super::resolved::Agent;
use super::servers;
use super::source::{Source, below};
use crate::args::{TimeBudget, USUAL_TIME_BUDGET, time_budget};
use crate::local;
use crate::models::{Named, Pace};

/// A file that is being checked.
pub(super) struct Check<'a> {
    pub(super) source: &'a Source,
    /// The folder of the file, which its paths start from.
    pub(super) folder: &'a Path,
    pub(super) problems: Vec<Problem>,
}

impl Check<'_> {
    pub(super) fn wrong(&mut self, pointer: &str, message: impl Into<String>) {
        self.problems.push(self.source.at(pointer, message));
    }

    /// The agent, without those that it may call. None if there is no signature to speak of.
    pub(super) fn agent(&mut self, file: &AgentFile) -> Option<Agent> {
        let signature = self.signature(&file.signature);
        let limits = self.limits(&file.limits);
        let models = self.models(file);
        let mcp = servers::check(self, &file.mcp);
        self.tools(file);
        let reach = self.reach(file);
        self.variables("/secrets", &file.secrets);
        self.approval(file);
        if file.limits.cost_budget.is_some() && file.prices.is_empty() {
            let message = "a cost budget needs prices: say what a million tokens cost under \
                           `[prices.MODEL]`";
            self.wrong("/limits/cost_budget", message);
        }
        let mut signature = signature?;
        self.demos(&file.demos, &signature);
        if let Some(instructions) = &file.instructions {
            signature = signature.with_instructions(instructions);
        }
        let mut agent = Agent::new(signature);
        agent.description.clone_from(&file.description);
        agent.models = models;
        agent.base_url.clone_from(&file.base_url);
        agent.pace = Pace {
            requests_per_minute: file.requests_per_minute,
            concurrent_requests: file.concurrent_requests,
            cache: file.cache.as_ref().map(|path| self.folder.join(path)),
        };
        agent.adapter = file.adapter.map(|name| adapter(name).to_owned());
        agent.completion = completion(file);
        agent.probe = file.probe;
        agent.temperature = file.temperature;
        agent.max_tokens = file.max_tokens;
        agent.tools.clone_from(&file.tools);
        agent.files = file.files.as_ref().map(|path| self.folder.join(path));
        agent.reach = reach;
        agent.secrets.clone_from(&file.secrets);
        let approval = file.approval.iter();
        agent.approval = approval
            .map(|(name, approval)| (name.clone(), confirmation(*approval)))
            .collect();
        agent.limits = limits;
        agent.rules = rules(&file.rules);
        agent.prices = prices(file);
        agent.mcp = mcp;
        let demos = file.demos.iter();
        agent.demos = demos
            .map(|demo| Demo::new(demo.inputs.clone(), demo.outputs.clone()))
            .collect();
        Some(agent)
    }

    fn signature(&mut self, entry: &SignatureEntry) -> Option<Signature> {
        match entry {
            SignatureEntry::Arrow(arrow) => match Signature::parse(arrow) {
                Ok(signature) => Some(signature),
                Err(error) => {
                    let column = error.column().unwrap_or(1);
                    let message = format!("the signature is wrong: {}", error.message());
                    let problem = self.source.within("/signature", column - 1, message);
                    self.problems.push(problem);
                    None
                }
            },
            SignatureEntry::Fields(FieldsEntry { inputs, outputs }) => {
                let inputs = self.fields("/signature/inputs", inputs);
                let outputs = self.fields("/signature/outputs", outputs);
                let built = Signature::builder()
                    .inputs(inputs?)
                    .outputs(outputs?)
                    .build();
                match built {
                    Ok(signature) => Some(signature),
                    Err(error) => {
                        let message = format!("the signature is wrong: {}", error.message());
                        self.wrong("/signature", message);
                        None
                    }
                }
            }
        }
    }

    fn fields<'f>(
        &mut self,
        pointer: &str,
        entries: impl IntoIterator<Item = (&'f String, &'f FieldEntry)>,
    ) -> Option<Vec<Field>> {
        let mut fields = Vec::new();
        let mut is_whole = true;
        for (name, entry) in entries {
            let at = below(pointer, name);
            let (at, kind) = match entry {
                FieldEntry::Type(kind) => (at, Some(kind)),
                FieldEntry::Whole(whole) => (below(&at, "type"), whole.kind.as_ref()),
            };
            let parsed: Result<Type, SignatureError> = match kind {
                Some(kind) => Type::parse(kind),
                None => Ok(Type::Str),
            };
            let kind = match parsed {
                Ok(kind) => kind,
                Err(error) => {
                    let column = error.column().unwrap_or(1);
                    let problem = self.source.within(&at, column - 1, error.message());
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
        let (names, is_list): (&[String], bool) = match &file.model {
            None => (&[], false),
            Some(OneOrMore::One(name)) => (std::slice::from_ref(name), false),
            Some(OneOrMore::More(names)) => (names, true),
        };
        let mut models = Vec::new();
        for (index, name) in names.iter().enumerate() {
            if let Some((provider, _)) = enact_providers::split(name)
                && provider != local::PROVIDER
                && let Err(error) = Provider::named(provider)
            {
                let pointer = match is_list {
                    true => format!("/model/{index}"),
                    false => "/model".to_owned(),
                };
                self.wrong(&pointer, error.to_string());
            }
            let mut named = Named {
                name: name.clone(),
                base_url: None,
            };
            if named.is_compatible() {
                named.base_url.clone_from(&file.base_url);
            }
            models.push(named);
        }
        if let Some(url) = &file.base_url {
            if !url.starts_with("http://") && !url.starts_with("https://") {
                let message = "give an address that begins with http:// or https://";
                self.wrong("/base_url", message);
            }
            if !models.is_empty() && !models.iter().any(Named::is_compatible) {
                let message = "`base_url` is for models that are named without a provider, and \
                               there is none: leave it out";
                self.wrong("/base_url", message);
            }
        }
        models
    }

    fn tools(&mut self, file: &AgentFile) {
        match &file.files {
            Some(folder) => {
                if let Err(error) = Files::open(self.folder.join(folder)) {
                    self.wrong("/files", error.to_string());
                }
            }
            None => {
                for (index, name) in file.tools.iter().enumerate() {
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

    /// A rule for a tool that is not there would be a rule that does not hold.
    fn approval(&mut self, file: &AgentFile) {
        // Which tools servers offer is known when they are started.
        if !file.mcp.is_empty() {
            return;
        }
        let mut known: Vec<&str> = file.tools.iter().map(String::as_str).collect();
        if file.files.is_some() && !known.iter().any(|name| FILE_TOOL_NAMES.contains(name)) {
            known.extend(FILE_TOOL_NAMES);
        }
        known.extend(file.agents.keys().map(String::as_str));
        for name in file.approval.keys() {
            if !known.contains(&name.as_str()) {
                let what = instead(name, known.iter().copied());
                let message = format!("the agent has no tool `{name}`: {what}");
                let problem = self.source.at_key(&below("/approval", name), message);
                self.problems.push(problem);
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
                self.problems.push(self.source.at_key(&at, message));
                continue;
            };
            let fits = match Validator::new(field.ty.json_schema()) {
                Ok(validator) => validator.check(value.clone()).err(),
                Err(_) => None,
            };
            if fits.is_some() {
                self.wrong(
                    &at,
                    format!("the {side} `{name}` is of the type {}", field.ty),
                );
            }
        }
    }

    fn limits(&mut self, entry: &LimitsEntry) -> Limits {
        let usual = Limits::default();
        let mut limits = Limits::default();
        limits.max_iterations = entry.max_iterations.unwrap_or(usual.max_iterations);
        limits.max_repairs = entry.max_repairs.unwrap_or(usual.max_repairs);
        limits.stall_threshold = entry.stall_threshold.unwrap_or(usual.stall_threshold);
        limits.max_observation_tokens = entry
            .max_observation_tokens
            .unwrap_or(usual.max_observation_tokens);
        limits.max_tool_calls = entry.max_tool_calls;
        limits.token_budget = entry.token_budget;
        limits.cost_budget = entry.cost_budget;
        limits.time_budget = match entry.time_budget.as_deref().map(time_budget) {
            None => Some(USUAL_TIME_BUDGET),
            Some(Ok(TimeBudget(budget))) => budget,
            Some(Err(message)) => {
                self.wrong("/limits/time_budget", message);
                None
            }
        };
        limits.answer_within = self.time("/limits/answer_within", entry.answer_within.as_deref());
        limits
    }

    pub(super) fn time(&mut self, pointer: &str, text: Option<&str>) -> Option<Duration> {
        match crate::args::time(text?) {
            Ok(time) => Some(time),
            Err(message) => {
                self.wrong(pointer, message);
                None
            }
        }
    }

    /// A path of the file.
    pub(super) fn path(&self, path: &Path) -> PathBuf {
        self.folder.join(path)
    }

    /// Refuses names of agents that their tools could not have.
    pub(super) fn member_names(&mut self, file: &AgentFile) {
        let reserved = completion(file).tool_name();
        let built_in: BTreeSet<&str> = file.tools.iter().map(String::as_str).collect();
        for name in file.agents.keys() {
            let is_callable = (1..=64).contains(&name.len())
                && name
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
            let message = if !is_callable {
                "a name has 1 to 64 of the characters a-z A-Z 0-9 _ -".to_owned()
            } else if name == reserved {
                format!("the name `{name}` is reserved: give another one")
            } else if built_in.contains(name.as_str()) {
                format!("the tool `{name}` has this name already: give another one")
            } else {
                continue;
            };
            let problem = self.source.at_key(&below("/agents", name), message);
            self.problems.push(problem);
        }
    }
}

fn adapter(name: AdapterName) -> &'static str {
    match name {
        AdapterName::Auto => "auto",
        AdapterName::Native => "native",
        AdapterName::Json => "json",
        AdapterName::Chat => "chat",
        AdapterName::Xml => "xml",
        AdapterName::Tagged => "tagged",
    }
}

fn completion(file: &AgentFile) -> Completion {
    match file.completion {
        None => Completion::default(),
        Some(CompletionName::Submit) => Completion::Submit,
        Some(CompletionName::Finish) => Completion::Finish,
    }
}

fn confirmation(approval: Approval) -> Confirmation {
    match approval {
        Approval::Always => Confirmation::Always,
        Approval::Never => Confirmation::Never,
    }
}

fn rules(entry: &RulesEntry) -> Rules {
    let thoughts = &entry.thoughts;
    let mut rules = Rules::default();
    rules.success_phrases.clone_from(&entry.success_phrases);
    rules.failure_phrases.clone_from(&entry.failure_phrases);
    rules.judges = entry.judges.unwrap_or_default();
    rules.condenses = entry.condenses.unwrap_or_default();
    rules.reads_again = entry.reads_again.unwrap_or_default();
    rules.thoughts = ThoughtRules {
        required: thoughts.required.unwrap_or_default(),
        min_length: thoughts.min_length.unwrap_or_default() as usize,
        substantive: thoughts.substantive.unwrap_or_default(),
        new: thoughts.new.unwrap_or_default(),
    };
    rules.thoughts_in_context = match &entry.thoughts_in_context {
        None | Some(ThoughtsInContextEntry::Word(ThoughtsWord::All)) => ThoughtsInContext::All,
        Some(ThoughtsInContextEntry::Word(ThoughtsWord::None)) => ThoughtsInContext::None,
        Some(ThoughtsInContextEntry::Last(entry)) => ThoughtsInContext::Last(entry.last),
    };
    rules
}

fn prices(file: &AgentFile) -> Option<Prices> {
    let prices = file
        .prices
        .iter()
        .fold(Prices::new(), |prices, (model, entry)| {
            let price = Price {
                input: entry.input,
                cached_input: entry.cached_input,
                output: entry.output,
            };
            prices.with(model, price)
        });
    (!file.prices.is_empty()).then_some(prices)
}
