//! What was tuned in an agent, kept as JSON and loaded into another one.
//!
//! Scripted unless `ENACT_MODEL` names a model; see `01_first_agent.rs`.

use std::error::Error;
use std::sync::Arc;

use enact::model::{ModelError, OpenAi, Retrying, ScriptedModel, call};
use enact::predictor::SavedModule;
use enact::{Builder, Demo, LanguageModel, Module, ReAct, Tools, tool, tools, values};
use serde_json::json;

/// The price of an article, in euros.
#[tool(read_only)]
fn price(article: &str) -> f64 {
    if article == "mug" { 7.5 } else { 12.0 }
}

/// The price of an article, in cents.
#[tool(read_only, name = "price")]
fn price_in_cents(article: &str) -> f64 {
    price(article) * 100.0
}

fn model() -> Result<Arc<dyn LanguageModel>, ModelError> {
    if let Ok(name) = std::env::var("ENACT_MODEL") {
        return Ok(Arc::new(Retrying::new(OpenAi::from_env(name)?)));
    }
    let step = || call("price", json!({"article": "mug"})).thinking("I look up the price.");
    let submit = || call("submit", json!({"answer": "A mug is 7.50 euros."}));
    // One script for both agents of this example.
    Ok(Arc::new(ScriptedModel::new([
        step(),
        submit(),
        step(),
        submit(),
    ])))
}

fn shop(tools: Tools) -> Builder<ReAct> {
    ReAct::builder("question -> answer").tools(tools)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let model = model()?;
    let question = values! { question: "What is a mug?" };

    // Tune: other instructions for one predictor, and a run that went well as a demonstration.
    let mut tuned = shop(tools![price]).model(model.clone()).build()?;
    if let Some(step) = tuned.predictor_mut("step") {
        step.set_instructions("Answer in one sentence. Prices come from `price` alone.");
    }
    let good = tuned.call(question.clone()).await?.finished()?;
    if let Some(step) = tuned.predictor_mut("step") {
        step.set_demos(vec![Demo::from(&good.history)]);
    }

    let stored = serde_json::to_string_pretty(&tuned.save())?;
    println!("{} bytes of JSON; of the predictor `step`:", stored.len());

    // Named fields, demonstrations and sampling; which tools it was made with, by fingerprint.
    let saved: SavedModule = serde_json::from_str(&stored)?;
    println!("{}", serde_json::to_string(&saved.predictors["step"])?);
    println!("tools: {}\n", serde_json::to_string(&saved.tools)?);

    // Load it somewhere else. Models and keys are not part of it.
    let fresh = shop(tools![price])
        .model(model)
        .load(saved.clone())
        .build()?;
    let done = fresh.call(question).await?.finished()?;
    println!("{}\n", done.outputs["answer"]);

    // Tool texts are not in the state, only fingerprints: other tools are noticed.
    let other = shop(tools![price_in_cents]).load(saved.clone());
    if let Err(error) = other.build() {
        println!("refused: {error}");
    }
    let mut renamed = ReAct::builder("query -> answer")
        .tools(tools![price])
        .build()?;
    // An agent that is built takes it as well, or stays as it is.
    if let Err(error) = renamed.load(&saved) {
        println!("refused: {error}");
    }
    Ok(())
}
