//! The behaviour of modules, through the public API, with scripted models.
//!
//! Names that begin with `dspy_`, `udspy_` or `dspy_ex_` are behaviours that those projects'
//! own tests assert too; names that begin with `lesson_` are defects that their users met;
//! names that begin with `promise_` are the promises that enact makes.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod asides;
mod asking;
mod bounds;
mod budgets;
mod building;
mod changing;
mod choice;
mod circles;
mod completion;
mod composing;
mod confidence;
mod conformance;
mod context;
mod delegating;
mod editing;
mod endings;
mod fever;
mod finishing;
mod history;
mod hooks;
mod hooks_async;
mod identity;
mod lessons;
mod limits;
mod listening;
mod observing;
mod parallel;
mod pausing;
mod predict;
mod promises;
mod prompts;
mod repair;
mod saved;
mod scratchpad;
mod sealing;
mod secrets;
mod server;
mod standing_rules;
mod storing;
mod streaming;
mod thoughts;
mod tooling;
mod truth;
mod writing;

use std::sync::Arc;

use enact::model::{ScriptStep, ScriptedModel};
use enact::{Builder, FnTool, Outcome, Prediction, ReAct, ToolError, Tools, Values};
use serde_json::json;

/// A tool that looks a word up, and one that adds.
pub fn search_and_add() -> Tools {
    Tools::new().with(search()).with(add())
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Query {
    /// What to look for.
    query: String,
}

pub fn search() -> FnTool {
    FnTool::new(
        "search",
        "Looks something up.",
        |args: Query, _| async move { Ok::<_, ToolError>(format!("about {}", args.query)) },
    )
    .read_only()
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Pair {
    a: i64,
    b: i64,
}

pub fn add() -> FnTool {
    FnTool::new("add", "Adds two numbers.", |args: Pair, _| async move {
        Ok::<_, ToolError>(args.a + args.b)
    })
    .read_only()
}

pub fn failing() -> FnTool {
    FnTool::from_spec(
        enact::tool::ToolSpec::new(
            "failing_tool",
            "Fails.",
            json!({"type": "object", "properties": {}}),
        ),
        |_, _| async { Err::<(), _>(ToolError::new("tool error")) },
    )
}

/// An agent and its script, which must be played to its end.
pub struct Played {
    builder: Builder<ReAct>,
    pub agent: ReAct,
    pub model: Arc<ScriptedModel>,
}

pub fn agent(
    signature: &str,
    tools: Tools,
    script: impl IntoIterator<Item = ScriptStep>,
) -> Played {
    let model = Arc::new(ScriptedModel::new(script));
    let builder = ReAct::builder(signature).tools(tools).model(model.clone());
    Played {
        agent: builder.clone().build().unwrap(),
        builder,
        model,
    }
}

impl Played {
    pub async fn call(&self, inputs: Values) -> Prediction<Values> {
        self.agent.call(inputs).await.unwrap().finished().unwrap()
    }

    pub fn map(self, change: impl FnOnce(Builder<ReAct>) -> Builder<ReAct>) -> Self {
        let builder = change(self.builder);
        Self {
            agent: builder.clone().build().unwrap(),
            builder,
            model: self.model,
        }
    }
}

pub fn paused<O: std::fmt::Debug>(outcome: Outcome<O>) -> enact::Paused {
    match outcome {
        Outcome::Paused(paused) => paused,
        Outcome::Finished(prediction) => panic!("did not pause: {prediction:?}"),
    }
}

pub fn effectful_search() -> FnTool {
    FnTool::new(
        "search",
        "Looks something up.",
        |args: Query, _| async move { Ok::<_, ToolError>(format!("about {}", args.query)) },
    )
}

/// A tool that counts its calls.
pub struct Counted {
    tool: FnTool,
    count: Arc<std::sync::atomic::AtomicUsize>,
}

impl Counted {
    pub fn new(tool: FnTool, count: Arc<std::sync::atomic::AtomicUsize>) -> Self {
        Self { tool, count }
    }
}

impl enact::Tool for Counted {
    fn spec(&self) -> &enact::tool::ToolSpec {
        self.tool.spec()
    }

    fn call<'a>(
        &'a self,
        args: Values,
        context: enact::ToolContext,
    ) -> enact::tool::ToolFuture<'a> {
        self.count.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        self.tool.call(args, context)
    }
}
