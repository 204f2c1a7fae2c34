//! A second question about the answer to the first.
//!
//! Scripted unless `ENACT_MODEL` names a model; see `01_first_agent.rs`.

use std::error::Error;
use std::sync::Arc;

use enact::model::{ModelError, OpenAi, Retrying, ScriptedModel, call};
use enact::{History, LanguageModel, ReAct, tool, tools, values};
use serde_json::json;

/// Temperature in a city, in degrees Fahrenheit.
#[tool(read_only)]
fn temperature(city: &str) -> String {
    format!("{city}: 68 °F")
}

/// Degrees Fahrenheit as degrees Celsius.
#[tool(read_only)]
fn to_celsius(fahrenheit: f64) -> f64 {
    (fahrenheit - 32.0) / 1.8
}

fn model() -> Result<Arc<dyn LanguageModel>, ModelError> {
    if let Ok(name) = std::env::var("ENACT_MODEL") {
        return Ok(Arc::new(Retrying::new(OpenAi::from_env(name)?)));
    }
    Ok(Arc::new(ScriptedModel::new([
        call("temperature", json!({"city": "Paris"})).thinking("I look it up."),
        call("submit", json!({"answer": "It is 68 °F in Paris."})),
        // The second turn: "that number" has something to refer to.
        call("to_celsius", json!({"fahrenheit": 68})).thinking("That number is 68 °F."),
        call("submit", json!({"answer": "That is 20 °C."})),
    ])))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let agent = ReAct::builder("question -> answer")
        .tools(tools![temperature, to_celsius])
        .model(model()?)
        .build()?;

    let question = "What is the temperature in Paris in F?";
    let first = agent
        .call(values! { question: question })
        .await?
        .finished()?;
    println!("> {question}\n{}\n", first.outputs["answer"]);

    // A history is a value: keep it where you like, as JSON.
    let kept = serde_json::to_string(&first.history)?;
    let earlier: History = serde_json::from_str(&kept)?;

    let question = "Convert that number to C.";
    let second = agent
        .call(values! { question: question })
        .history(&earlier)
        .await?
        .finished()?;
    println!("> {question}\n{}\n", second.outputs["answer"]);

    // The caller's history did not change; the new one goes on from it.
    println!(
        "entries: {} after the first turn, {} after the second",
        earlier.entries().len(),
        second.history.entries().len()
    );

    // The same conversation in the form that chat servers know.
    println!("\nas chat messages:");
    for message in second.history.to_chat_messages() {
        println!("{message}");
    }

    // The trajectory tells of its own turn only.
    println!("\nsecond turn:\n{}", second.trajectory());
    Ok(())
}
