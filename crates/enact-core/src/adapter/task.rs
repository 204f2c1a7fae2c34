//! The task of one request, independent of adapters.

use std::sync::{Arc, OnceLock};

use serde_json::{Value, json};

use super::describe::{names, quoted};
use super::sample;
use crate::model::{Function, Functions};
pub use crate::run::Completion;
use crate::signature::{Signature, Validator, Values};
use crate::tool::ToolSpec;

/// The task of one request: a signature, and tools if the reply can call some.
#[derive(Debug, Clone)]
pub struct Task {
    /// The inputs and outputs of this request. For a step of ReAct the outputs are
    /// `next_thought`, `next_tool_name` and `next_tool_args`.
    pub signature: Signature,
    /// Validates the outputs.
    pub outputs: Arc<Validator>,
    /// The tools, if this is a step.
    pub tooling: Option<Tooling>,
}

impl Task {
    /// The tool that commits the outputs, if a call does that.
    pub fn committing_tool(&self) -> Option<&'static str> {
        let completion = self.tooling.as_ref()?.completion;
        (completion == Completion::Submit).then(|| completion.tool_name())
    }
}

/// The tools of a step.
#[derive(Debug, Clone)]
pub struct Tooling {
    /// The signature of the whole run: what the step's completing tool commits.
    pub declared: Signature,
    /// All callable tools, the completing one last.
    pub specs: Arc<[ToolSpec]>,
    /// How the run returns its outputs.
    pub completion: Completion,
    /// The tools in the form of a request.
    pub functions: Arc<Functions>,
    /// The schema of a reply with one call, for models that follow schemas.
    pub reply_schema: Arc<Value>,
    /// Sample arguments of each tool, generated when a prompt first shows them.
    samples: Arc<[OnceLock<Option<Values>>]>,
}

impl Tooling {
    /// The tools of a run with the signature `declared`; the completing tool is added.
    pub fn new(declared: Signature, mut specs: Vec<ToolSpec>, completion: Completion) -> Self {
        specs.push(completing_tool(&declared, completion));
        let functions = specs
            .iter()
            .map(|spec| Function {
                name: spec.name.clone(),
                description: spec.description.clone(),
                parameters: spec.parameters.clone(),
            })
            .collect();
        Self {
            declared,
            reply_schema: Arc::new(reply_schema(&specs)),
            samples: specs.iter().map(|_| OnceLock::new()).collect(),
            specs: specs.into(),
            completion,
            functions: Arc::new(Functions::new(functions)),
        }
    }

    /// Sample arguments that fit the schema of a tool, if they can be generated.
    pub(super) fn sample(&self, name: &str) -> Option<&Values> {
        let index = self.specs.iter().position(|spec| spec.name == name)?;
        let sample = self.samples.get(index)?;
        let made = sample.get_or_init(|| sample::arguments(&self.specs[index].parameters));
        made.as_ref()
    }

    /// The tool with this name.
    pub fn spec(&self, name: &str) -> Option<&ToolSpec> {
        self.specs.iter().find(|spec| spec.name == name)
    }
}

/// A thought, the name of a tool, and arguments that some tool takes.
pub(super) fn reply_schema(specs: &[ToolSpec]) -> Value {
    let names: Vec<&str> = specs.iter().map(|spec| spec.name.as_str()).collect();
    // References inside a schema would be invalid inside another.
    let has_references = specs
        .iter()
        .any(|spec| spec.parameters.get("$defs").is_some());
    let args = if has_references {
        json!({"type": "object"})
    } else {
        json!({"anyOf": specs.iter().map(|spec| &spec.parameters).collect::<Vec<_>>()})
    };
    json!({
        "type": "object",
        "properties": {
            "next_thought": {"type": "string"},
            "next_tool_name": {"type": "string", "enum": names},
            "next_tool_args": args,
        },
        "required": ["next_thought", "next_tool_name", "next_tool_args"],
        "additionalProperties": false,
    })
}

fn completing_tool(declared: &Signature, completion: Completion) -> ToolSpec {
    let name = completion.tool_name();
    match completion {
        Completion::Submit => ToolSpec::new(
            name,
            "Commits the final outputs and ends the task. Call it alone, once you know them.",
            declared.output_schema(),
        ),
        Completion::Finish => {
            let outputs = quoted(names(declared.outputs()));
            ToolSpec::new(
                name,
                format!("Ends the task. Call it once you know enough to give {outputs}."),
                json!({"type": "object", "properties": {}}),
            )
        }
    }
}
