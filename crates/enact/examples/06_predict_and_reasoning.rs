//! Without tools: one request (`Predict`), reasoning first (`ChainOfThought`), and examples.
//!
//! Scripted unless `ENACT_MODEL` names a model; see `01_first_agent.rs`.

use std::error::Error;
use std::sync::Arc;

use enact::model::{ModelError, OpenAi, Retrying, ScriptStep, ScriptedModel, say};
use enact::{ChainOfThought, Demo, LanguageModel, Module, Predict, Signature, values};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Urgency {
    Low,
    High,
}

/// Sort a message to the help desk.
#[derive(Signature)]
struct Triage {
    #[input]
    message: String,
    /// A room of the house.
    #[output]
    room: String,
    #[output]
    urgency: Urgency,
}

fn model(script: ScriptStep) -> Result<Arc<dyn LanguageModel>, ModelError> {
    if let Ok(name) = std::env::var("ENACT_MODEL") {
        return Ok(Arc::new(Retrying::new(OpenAi::from_env(name)?)));
    }
    Ok(Arc::new(ScriptedModel::new([script])))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    // One request. The reply is read into the declared types, and asked for again if it does not
    // fit them.
    let triage = Predict::builder_for::<Triage>()
        .demos(vec![
            Demo::new(
                values! { message: "The tap in the bathroom drips a little." },
                values! { room: "bathroom", urgency: "low" },
            ),
            Demo::new(
                values! { message: "Smoke in the hall!" },
                values! { room: "hall", urgency: "high" },
            ),
        ])
        .model(model(say(r#"{"room": "kitchen", "urgency": "high"}"#))?)
        .build()?;
    let input = TriageInput {
        message: "Water is pouring from the kitchen ceiling.".into(),
    };
    let done = triage.call(input).await?.finished()?;
    println!(
        "room: {}, urgent: {}",
        done.room,
        done.urgency == Urgency::High
    );

    // What the model saw: the demonstrations stand before the task, in order.
    println!("\nthe demonstrations are turns of the conversation:");
    let (_, predictor) = &triage.predictors()[0];
    for demo in predictor.demos() {
        println!("  {}", serde_json::to_string(demo)?);
    }

    // Reasoning first. It is not an output of yours: it is kept beside them.
    let sum = ChainOfThought::builder("question -> answer: int")
        .model(model(say(
            r#"{"reasoning": "17 boxes of 6 make 102; 4 are broken, 98 are left.", "answer": 98}"#,
        ))?)
        .build()?;
    let question = "17 boxes hold 6 eggs each, and 4 eggs are broken. How many are whole?";
    let done = sum.call(values! { question: question }).await?.finished()?;
    println!("\nreasoning: {}", done.reasoning().unwrap_or("none"));
    println!("answer:    {}", done.outputs["answer"]);
    Ok(())
}
