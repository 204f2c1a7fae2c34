//! The same task under every adapter, and the prompt that each makes of it.
//!
//! Scripted unless `ENACT_MODEL` names a model; see `01_first_agent.rs`. To see one adapter only,
//! name it: `cargo run -p enact --example 07_adapters -- xml`

use std::error::Error;
use std::sync::Arc;

use enact::model::{Capabilities, Message, ModelError, OpenAi, ResponseFormat, Retrying};
use enact::model::{ScriptedModel, calls, say};
use enact::{AdapterChoice, LanguageModel, Module, ReAct, tool, tools, values};
use serde_json::{Value, json};

/// Current weather in a city.
#[tool(read_only)]
fn weather(
    /// City name, such as "Paris".
    city: &str,
) -> String {
    format!("{city}: 20 °C")
}

/// What a model that speaks the language of the adapter replies: a step, then the end.
fn replies(adapter: &str) -> [String; 2] {
    let steps = [
        ("I look it up.", "weather", r#"{"city":"Paris"}"#),
        ("Done.", "submit", r#"{"celsius":20}"#),
    ];
    steps.map(|(thought, name, args)| match adapter {
        "json" => format!(
            r#"{{"next_thought":"{thought}","next_tool_name":"{name}","next_tool_args":{args}}}"#
        ),
        "chat" => format!(
            "[[ ## next_thought ## ]]\n{thought}\n\n[[ ## next_tool_name ## ]]\n{name}\n\n\
             [[ ## next_tool_args ## ]]\n{args}\n\n[[ ## completed ## ]]"
        ),
        "xml" => format!(
            "<next_thought>{thought}</next_thought>\n<next_tool_name>{name}</next_tool_name>\n\
             <next_tool_args>{args}</next_tool_args>"
        ),
        _ => format!("Thought: {thought}\nAction: {name}({args})"),
    })
}

fn model(adapter: &str) -> Result<Arc<dyn LanguageModel>, ModelError> {
    if let Ok(name) = std::env::var("ENACT_MODEL") {
        return Ok(Arc::new(Retrying::new(OpenAi::from_env(name)?)));
    }
    if adapter == "native" {
        return Ok(Arc::new(ScriptedModel::new([
            calls([("weather", json!({"city": "Paris"}))]).thinking("I look it up."),
            calls([("submit", json!({"celsius": 20}))]).thinking("Done."),
        ])));
    }
    Ok(Arc::new(ScriptedModel::new(replies(adapter).map(say))))
}

fn show(message: &Message) {
    let (role, calls) = match message {
        Message::System { .. } => ("system", None),
        Message::User { .. } => ("user", None),
        Message::Assistant { calls, .. } => ("assistant", Some(calls)),
        Message::Tool { .. } => ("tool", None),
    };
    println!("--- {role}\n{}", message.text());
    for call in calls.into_iter().flatten() {
        println!("(calls {} with {})", call.name, call.arguments);
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let wanted = std::env::args().nth(1);
    for name in ["native", "json", "chat", "xml", "tagged"] {
        if wanted.as_deref().is_some_and(|wanted| wanted != name) {
            continue;
        }
        let choice: AdapterChoice = name.parse()?;
        let agent = ReAct::builder("question -> celsius: float")
            .tools(tools![weather])
            .adapter(choice.clone())
            .model(model(name)?)
            .build()?;
        let done = agent
            .call(values! { question: "How warm is it in Paris?" })
            .await?
            .finished()?;
        println!("=== {name}: celsius = {}\n", done.outputs["celsius"]);

        // The predictor `step` puts the transcript into the words of the adapter. This is what a
        // follow-up turn would send before its own question.
        let adapter = choice.resolve(Capabilities::FULL);
        let (_, step) = &agent.predictors()[0];
        let prompt = step.render(&*adapter, done.history.entries());
        let request = step.request(&*adapter, Capabilities::FULL, prompt);
        request.prompt.iter().for_each(show);

        // What goes beside the messages.
        let tools: Vec<&str> = request
            .tools
            .list()
            .iter()
            .map(|tool| tool.name.as_str())
            .collect();
        println!("--- beside the messages\ntools: {tools:?}");
        if let ResponseFormat::Schema { schema, .. } = &request.response_format {
            let properties = schema["properties"].as_object().map(|fields| fields.keys());
            println!(
                "reply schema: {:?}",
                properties.map(Iterator::collect::<Vec<_>>)
            );
        }
        println!("stop texts: {}\n", Value::from(request.stop.clone()));
    }
    Ok(())
}
