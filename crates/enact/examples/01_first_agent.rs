//! A first agent: a signature, one tool, one call.
//!
//! The replies are scripted, so that it runs anywhere. Set `ENACT_MODEL` (and `OPENAI_BASE_URL`,
//! `OPENAI_API_KEY` where the server needs them) and a real model takes their place.

use std::error::Error;
use std::sync::Arc;

use enact::model::{ModelError, OpenAi, Retrying, ScriptedModel, call};
use enact::{LanguageModel, ReAct, Signature, ToolError, tool, tools};
use serde::Serialize;
use serde_json::json;

/// Answer the question with the tools at hand.
#[derive(Signature)]
struct Weather {
    #[input]
    question: String,
    /// One sentence.
    #[output]
    answer: String,
    /// Degrees Celsius.
    #[output]
    celsius: f64,
}

#[derive(Serialize)]
struct Report {
    fahrenheit: f64,
    sky: &'static str,
}

/// Current weather in a city.
#[tool(read_only)]
async fn weather(
    /// City name, such as "Paris".
    city: String,
) -> Result<Report, ToolError> {
    match city.as_str() {
        "Paris" => Ok(Report {
            fahrenheit: 68.0,
            sky: "clear",
        }),
        other => Err(ToolError::new(format!("no station in {other}; try Paris"))),
    }
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
        call("weather", json!({"city": "Paris"})).thinking("I need the weather in Paris."),
        call("to_celsius", json!({"fahrenheit": "68"})).thinking("They want degrees Celsius."),
        call(
            "submit",
            json!({"answer": "It is 20 °C in Paris, with a clear sky.", "celsius": 20}),
        )
        .thinking("That is all I need."),
    ])))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let agent = ReAct::builder_for::<Weather>()
        .tools(tools![weather, to_celsius])
        .model(model()?)
        .build()?;
    let input = WeatherInput {
        question: "How warm is it in Paris, in Celsius?".into(),
    };
    let done = agent.call(input).await?.finished()?;

    // The outputs are fields of a struct, with the types they were declared with.
    println!("{}", done.answer);
    println!("celsius + 1 = {}", done.celsius + 1.0);

    println!("\nhow it came about:\n{}", done.trajectory());
    println!(
        "\nsuccess: {}, model requests: {}",
        done.success(),
        done.usage.requests
    );
    Ok(())
}
