use enact::{ReAct, Signature, ToolError, tool, tools};

/// Answer the question. Use the tools to look up facts.
#[derive(Signature)]
struct Weather {
    #[input]
    question: String,
    #[output]
    answer: String,
    /// Degrees Celsius.
    #[output]
    celsius: f64,
}

/// Current weather in a city.
#[tool(read_only)]
async fn weather(
    /// City name, such as "Paris".
    city: String,
) -> Result<String, ToolError> {
    Ok(format!("{city}: 20 °C, light wind"))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Reads ANTHROPIC_API_KEY, and retries failed requests.
    let model = enact::model("anthropic::claude-sonnet-4-5")?;
    let agent = ReAct::builder_for::<Weather>()
        .tools(tools![weather])
        .model(model)
        .build()?;

    let input = WeatherInput {
        question: "What's the weather in Paris?".into(),
    };
    let first = agent.call(input).await?.finished()?;
    println!("{} ({} °C)", first.answer, first.celsius);

    // Follow up on the same conversation.
    let input = WeatherInput {
        question: "Is that warmer than Oslo?".into(),
    };
    let second = agent
        .call(input)
        .history(&first.history)
        .await?
        .finished()?;
    println!("{}", second.answer);
    Ok(())
}
