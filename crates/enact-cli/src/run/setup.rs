//! From what was typed to an agent that is ready to run.

use enact::model::{ModelOptions, OpenAi, Retrying};
use enact::tool::builtin::{self, FILE_TOOL_NAMES, Files, PickError};
use enact::{AdapterChoice, Error, History, ReAct, Signature, Tools, Values};

use super::{history, inputs};
use crate::args::RunArgs;
use crate::exit::Failure;

const NO_MODEL: &str = "no model is set: name one with `--model` or ENACT_MODEL (`enact demo` \
                        needs none)";
const NO_KEY: &str = "no key is set: put it into OPENAI_API_KEY, or name a server that needs none \
                      with `--base-url` or OPENAI_BASE_URL";

/// An agent and what it starts from.
pub(super) struct Setup {
    pub(super) agent: ReAct,
    pub(super) inputs: Values,
    pub(super) history: History,
    /// The model's name.
    pub(super) model: String,
}

impl Setup {
    /// Checks everything that can be checked before a model is asked.
    pub(super) fn new(args: &RunArgs) -> Result<Self, Failure> {
        let signature = Signature::parse(&args.signature)?;
        let tools = tools(args)?;
        let adapter = match &args.adapter {
            Some(name) => name
                .parse::<AdapterChoice>()
                .map_err(|error| Failure::usage("adapter", error.to_string()))?,
            None => AdapterChoice::default(),
        };
        let inputs = inputs::read(&args.inputs, &signature)?;
        let history = match &args.history {
            Some(path) => history::read(path)?,
            None => History::new(),
        };
        let model = model_name(args)?;
        let client = client(args, model)?;
        let mut options = ModelOptions::default();
        options.temperature = args.temperature;
        let build = || -> Result<ReAct, Error> {
            let mut agent = ReAct::dynamic(signature, tools)?
                .with_completion(args.completion.into())?
                .with_max_iterations(args.max_iterations)
                .with_options(options)
                .with_adapter(adapter)
                .with_model(Retrying::new(client));
            if let Some(instructions) = &args.instructions {
                agent = agent.with_instructions(instructions)?;
            }
            Ok(agent)
        };
        let agent = build().map_err(|error| Failure::from(&error))?;
        Ok(Self {
            agent,
            inputs,
            history,
            model: model.to_owned(),
        })
    }
}

fn tools(args: &RunArgs) -> Result<Tools, Failure> {
    let files = args.files.as_ref().map(Files::open).transpose();
    let files = files.map_err(|error| Failure::usage("files", error.to_string()))?;
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
    builtin::pick(names, files.as_ref()).map_err(|error| {
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

fn model_name(args: &RunArgs) -> Result<&str, Failure> {
    given(args.model.as_ref()).ok_or_else(|| Failure::usage("no_model", NO_MODEL))
}

fn client(args: &RunArgs, model: &str) -> Result<OpenAi, Failure> {
    let key = std::env::var("OPENAI_API_KEY")
        .ok()
        .filter(|key| !key.trim().is_empty());
    let mut client = OpenAi::new(model);
    match given(args.base_url.as_ref()) {
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
