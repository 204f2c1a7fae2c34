//! What can go wrong, what it looks like, and that a run is never lost with an error.
//!
//! Scripted unless `ENACT_MODEL` names a model; see `01_first_agent.rs`. The failures of the model
//! are scripted in any case.

use std::error::Error;
use std::sync::Arc;

use enact::model::{ModelError, ModelErrorKind, OpenAi, Retrying, ScriptedModel, call, fail, say};
use enact::{ErrorKind, LanguageModel, Predict, ReAct, ToolError, tool, tools, values};
use serde_json::json;

/// Reads a page.
#[tool(read_only)]
fn read(page: u32) -> Result<String, ToolError> {
    match page {
        7 => Ok("The treasure is under the oak.".to_owned()),
        other => Err(ToolError::new(format!(
            "page {other} is missing; there is only page 7"
        ))),
    }
}

fn model() -> Result<Arc<dyn LanguageModel>, ModelError> {
    if let Ok(name) = std::env::var("ENACT_MODEL") {
        return Ok(Arc::new(Retrying::new(OpenAi::from_env(name)?)));
    }
    Ok(Arc::new(ScriptedModel::new([call(
        "submit",
        json!({"answer": "Under the oak."}),
    )
    .thinking("I know it already.")])))
}

fn show(title: &str, error: &enact::Error) {
    let text = error.to_string().replace('\n', "\n        ");
    println!("{title}\n  kind: {}\n  text: {text}", error.kind().as_str());
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    println!("== before anything runs");
    if let Err(error) = ReAct::builder("question -> history")
        .tools(tools![read])
        .build()
    {
        show("a name that enact keeps for itself", &error);
    }
    if let Err(error) = ReAct::builder("question -> answer")
        .tools(tools![read, read])
        .build()
    {
        show("two tools of one name", &error);
    }
    let builder = ReAct::builder("question, k: int = 3 -> answer").tools(tools![read]);
    let lonely = builder.clone().build()?;
    if let Err(error) = lonely.call(values! { qestion: "Where?" }).await {
        show("no model, which is noticed first", &error);
    }
    let silent = builder.clone().model(ScriptedModel::new([])).build()?;
    if let Err(error) = silent.call(values! { qestion: "Where?" }).await {
        show("inputs that do not fit", &error);
    }

    println!("\n== what does not end a run");
    let script = ScriptedModel::new([
        call("reed", json!({"page": 7})).thinking("A tool that does not exist."),
        call("read", json!({"page": "seven"})).thinking("Arguments that do not fit."),
        call("read", json!({"page": 1})).thinking("A tool that fails."),
        call("read", json!({"page": "7"})).thinking("Arguments that nearly fit."),
        fail(ModelErrorKind::Server, "the server is on fire"),
    ]);
    let agent = builder.clone().model(script).build()?;
    let question = values! { question: "Where is the treasure?" };
    let failed = match agent.call(question.clone()).await {
        Ok(_) => return Err("the script ends with a failure".into()),
        Err(error) => error,
    };
    if let Some(run) = failed.run() {
        println!("{}", run.trajectory());
    }

    println!("\n== what does");
    show("a model that cannot answer", &failed);
    let may_pass = matches!(failed.kind(), ErrorKind::Model(kind) if kind.is_retryable());
    println!("  may pass: {may_pass}");

    // The run is in the error, and goes on from where it was with another model.
    let run = failed
        .into_run()
        .ok_or("an error after the start has its run")?;
    let other = builder.clone().model(model()?).build()?;
    let done = other.resume(run).await?.finished()?;
    println!("  resumed: {}", done.outputs["answer"]);

    let lost = || say("I would rather talk about the sea.");
    let stubborn = Predict::builder("question -> year: int")
        .max_repairs(1)
        .model(ScriptedModel::new([lost(), lost()]))
        .build()?;
    if let Err(error) = stubborn.call(question.clone()).await {
        show("a model that never gives the outputs", &error);
    }

    println!("\n== not an error: a limit ends in an answer that says so");
    let script = ScriptedModel::new([
        call("read", json!({"page": 1})),
        say(r#"{"reasoning": "Page 1 is missing.", "answer": "I could not find out."}"#),
    ]);
    let hasty = builder.max_iterations(1).model(script).build()?;
    let done = hasty.call(question).await?.finished()?;
    println!("  answer:      {}", done.outputs["answer"]);
    println!("  success:     {}", done.success());
    println!("  termination: {}", done.termination.as_str());
    Ok(())
}
