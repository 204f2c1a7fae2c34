//! Agents for the rows: scripted, with a tool that searches.

use std::sync::Arc;

use enact::model::{ScriptStep, ScriptedModel, Usage, call, say};
use enact::tool::ToolSpec;
use enact::{Builder, FnTool, Prediction, ReAct, ToolError, Tools, Values, values};
use serde_json::{Value, json};

/// An agent and its script, which must be played to its end.
pub(crate) struct Scripted {
    pub(crate) builder: Builder<ReAct>,
    pub(crate) agent: ReAct,
    pub(crate) model: Arc<ScriptedModel>,
}

/// An agent that searches and follows a script.
pub(crate) fn scripted(script: impl IntoIterator<Item = ScriptStep>) -> Scripted {
    with_tools(Tools::new().with(search()), script)
}

pub(crate) fn with_tools(tools: Tools, script: impl IntoIterator<Item = ScriptStep>) -> Scripted {
    let script = script.into_iter().map(|step| step.costing(spent()));
    let model = Arc::new(ScriptedModel::new(script));
    let builder = ReAct::builder("question -> answer")
        .tools(tools)
        .model(model.clone());
    Scripted {
        agent: builder.clone().build().unwrap(),
        builder,
        model,
    }
}

/// What each reply costs.
pub(crate) fn spent() -> Usage {
    Usage::of_request(100, 10)
}

impl Scripted {
    pub(crate) fn with(self, change: impl FnOnce(Builder<ReAct>) -> Builder<ReAct>) -> Self {
        let builder = change(self.builder);
        Self {
            agent: builder.clone().build().unwrap(),
            builder,
            model: self.model,
        }
    }

    pub(crate) async fn run(&self) -> Prediction<Values> {
        let outcome = self.agent.call(question()).await.unwrap();
        outcome.finished().unwrap()
    }

    /// The messages of a request as text.
    pub(crate) fn prompt(&self, request: usize) -> String {
        let requests = self.model.requests();
        let texts = requests[request].prompt.iter().map(|one| one.text());
        texts.collect::<Vec<_>>().join("\n")
    }

    /// What the model was told last before a request.
    pub(crate) fn told(&self, request: usize) -> String {
        let requests = self.model.requests();
        requests[request].prompt.iter().last().unwrap().text()
    }
}

pub(crate) fn question() -> Values {
    values! { question: "What is an oak?" }
}

pub(crate) fn looks(query: &str) -> ScriptStep {
    let thought = format!("I search for {query}.");
    call("search", json!({"query": query})).thinking(thought)
}

pub(crate) fn submits(answer: &str) -> ScriptStep {
    call("submit", json!({"answer": answer})).thinking("Now I know.")
}

/// The answer when the agent has to answer from what it has.
pub(crate) fn answers(answer: &str) -> ScriptStep {
    say(json!({"reasoning": "The search was not finished.", "answer": answer}).to_string())
}

fn parameters() -> Value {
    json!({
        "type": "object",
        "properties": {"query": {"type": "string"}, "pages": {"type": "integer"}},
        "required": ["query"],
    })
}

/// Tells something about everything.
pub(crate) fn search() -> FnTool {
    gives("search", |args: Values| {
        Ok(format!("about {}", args["query"].as_str().unwrap()).into())
    })
    .read_only()
}

/// Fails each time.
pub(crate) fn failing(name: &str) -> FnTool {
    gives(name, |_| Err(ToolError::new("the index is locked")))
}

/// A tool of this name that gives this.
pub(crate) fn gives(
    name: &str,
    function: impl Fn(Values) -> Result<Value, ToolError> + Send + Sync + 'static,
) -> FnTool {
    let spec = ToolSpec::new(name, "Searches for things.", parameters());
    FnTool::from_spec(spec, move |args, _| std::future::ready(function(args)))
}
