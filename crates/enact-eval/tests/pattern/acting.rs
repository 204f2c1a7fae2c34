//! Actions: their types, and how they are checked before anything runs.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use enact::model::{ScriptedModel, call};
use enact::run::ActionKind;
use enact::tool::builtin::ask_user;
use enact::{AgentTool, Outcome, ReAct, Tools, Verdict};
use serde_json::{Value, json};

use crate::scripted::{gives, looks, question, scripted, submits, with_tools};
use crate::{Row, rows};

pub(crate) fn rows() -> Vec<Row> {
    let mut all = rows! { "action types":
        "tool call" => tool_call,
        "final answer" => final_answer,
        "request clarification" => request_clarification,
        "delegate to a subagent" => delegate,
    };
    all.extend(rows! { "action validation":
        "the tool exists" => the_tool_exists,
        "required parameters are provided" => required_parameters,
        "parameters have their types" => types_of_parameters,
        "hooks before execution" => hooks,
    });
    all
}

async fn tool_call() {
    let agent = scripted([looks("oak"), submits("a tree")]);
    let done = agent.run().await;
    let action = &done.run().trace().steps[0].actions[0];
    assert_eq!(action.kind, ActionKind::ToolCall);
    assert_eq!(action.call.name, "search");
    assert_eq!(action.call.args["query"], "oak");
    assert_eq!(action.observation.as_ref().unwrap().text(), "about oak");
}

async fn final_answer() {
    let agent = scripted([submits("a tree")]);
    let done = agent.run().await;
    let action = &done.run().trace().steps[0].actions[0];
    assert_eq!(action.kind, ActionKind::FinalAnswer);
    assert_eq!(done.outputs["answer"], "a tree");
}

async fn request_clarification() {
    let asks = call("ask_user", json!({"question": "Which oak?"})).thinking("There are many.");
    let agent = with_tools(Tools::new().with(ask_user()), [asks, submits("a tree")]);
    let outcome = agent.agent.call(question()).await.unwrap();
    let Outcome::Paused(paused) = outcome else {
        panic!("it asks")
    };
    assert_eq!(paused.questions()[0].question, "Which oak?");
    let outcome = agent.agent.resume(paused).respond("The old one.").await;
    let done = outcome.unwrap().finished().unwrap();
    let action = &done.run().trace().steps[0].actions[0];
    assert_eq!(action.kind, ActionKind::RequestClarification);
    assert_eq!(action.observation.as_ref().unwrap().text(), "The old one.");
}

async fn delegate() {
    let model = ScriptedModel::new([call("submit", json!({"summary": "a tree"}))]);
    let inner = ReAct::builder("topic -> summary")
        .model(model)
        .build()
        .unwrap();
    let tool = AgentTool::new(inner, "research", "Finds things out.");
    let hands_over = call("research", json!({"topic": "oak"})).thinking("Research oak.");
    let agent = with_tools(Tools::new().with(tool), [hands_over, submits("a tree")]);
    let done = agent.run().await;
    assert_eq!(done.trajectory().steps()[0].observation, "a tree");
}

/// Runs a call that may not run, and tells what the model was told.
async fn refused(name: &str, args: Value) -> String {
    let count = Arc::new(AtomicUsize::new(0));
    let counted = count.clone();
    let tool = gives("search", move |_| {
        counted.fetch_add(1, Ordering::SeqCst);
        Ok(Value::Null)
    });
    let wrong = call(name, args).thinking("This may not fit.");
    let agent = with_tools(Tools::new().with(tool), [wrong, submits("a tree")]);
    let done = agent.run().await;
    assert!(done.trajectory().steps()[0].is_error);
    assert_eq!(count.load(Ordering::SeqCst), 0, "it ran");
    agent.told(1)
}

async fn the_tool_exists() {
    let told = refused("serch", json!({"query": "oak"})).await;
    assert!(
        told.contains("Unknown tool `serch`") && told.contains("`search`"),
        "{told}"
    );
}

async fn required_parameters() {
    let told = refused("search", json!({"pages": 3})).await;
    assert!(
        told.contains("Invalid arguments") && told.contains("query"),
        "{told}"
    );
}

async fn types_of_parameters() {
    let told = refused("search", json!({"query": "oak", "pages": "many"})).await;
    assert!(
        told.contains("Invalid arguments") && told.contains("pages"),
        "{told}"
    );
    // What can be converted without loss is.
    let agent = scripted([
        call("search", json!({"query": "oak", "pages": "3"})),
        submits("a tree"),
    ]);
    let done = agent.run().await;
    assert_eq!(done.trajectory().steps()[0].tool_args["pages"], 3);
}

async fn hooks() {
    let agent = scripted([looks("secrets"), looks("oak"), submits("a tree")]).with(|agent| {
        agent.before_call(
            |call| match call.args.get("query").and_then(|query| query.as_str()) {
                Some("secrets") => Verdict::Veto("Not that.".to_owned()),
                _ => Verdict::Allow,
            },
        )
    });
    let done = agent.run().await;
    assert_eq!(agent.told(1), "Error: Not that.");
    assert_eq!(done.trajectory().steps()[1].observation, "about oak");
}
