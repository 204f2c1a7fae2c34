//! Watching a run while it happens, and reading its log afterwards.
//!
//! Scripted unless `ENACT_MODEL` names a model; see `01_first_agent.rs`. With `--log` it prints the
//! whole log as JSON.

use std::error::Error;
use std::sync::Arc;

use enact::model::{ModelError, OpenAi, Retrying, ScriptedModel, Usage, call};
use enact::run::Event;
use enact::{LanguageModel, ReAct, Run, Update, tool, tools, values};
use serde_json::json;

/// Adds two numbers.
#[tool(read_only)]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

fn model() -> Result<Arc<dyn LanguageModel>, ModelError> {
    if let Ok(name) = std::env::var("ENACT_MODEL") {
        return Ok(Arc::new(Retrying::new(OpenAi::from_env(name)?)));
    }
    Ok(Arc::new(ScriptedModel::new([
        // The model writes a number as text. It is mended, and the mending is in the log.
        call("add", json!({"a": "2", "b": 40}))
            .thinking("I add them.")
            .costing(Usage::of_request(210, 18)),
        call("submit", json!({"answer": 42})).costing(Usage::of_request(240, 9)),
    ])))
}

fn tell(update: &Update) {
    match update {
        Update::Asking { predictor } => println!("  asking the model ({})", predictor.as_str()),
        Update::Progress { message, .. } => println!("  progress: {message}"),
        Update::Recorded { record } => {
            let what = match &record.event {
                Event::Started(started) => format!("started {}", started.run_id),
                Event::Replied(replied) => match replied.stepped() {
                    Some(step) => format!("step, {} call(s)", step.calls.len()),
                    None => "another reply".to_owned(),
                },
                Event::ToolStarted { call_id } => format!("tool started: {call_id}"),
                Event::ToolFinished(finished) => format!("gave {}", finished.observation.text()),
                Event::Finished { reason, .. } => format!("finished: {}", reason.as_str()),
                other => format!("{other:?}"),
            };
            println!("{:>3} {what}", record.position);
        }
        // Later releases may tell more.
        _ => {}
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let agent = ReAct::builder("question -> answer: int")
        .tools(tools![add])
        .model(model()?)
        .build()?;
    let done = agent
        .call(values! { question: "What is 2 + 40?" })
        .run_id("sum-1")
        .on_update(tell)
        .await?
        .finished()?;

    let trajectory = done.trajectory();
    println!("\nas a list of steps:");
    for step in trajectory.steps() {
        let args = serde_json::to_string(&step.tool_args)?;
        println!("  {} {args} -> {}", step.tool_name, step.observation);
    }
    println!(
        "\nas a flat map:\n{}",
        serde_json::to_string_pretty(&trajectory.flat())?
    );
    println!("\nas text:\n{trajectory}");

    println!("\nwhat was mended:");
    for step in done.run().steps() {
        for repair in &step.replied.repairs {
            println!("  {:?}: {}", repair.kind, repair.detail);
        }
    }
    println!("\nusage: {}", serde_json::to_string(&done.usage)?);

    // The log is all there is: everything above was computed from it.
    let log = serde_json::to_string_pretty(done.run())?;
    let again: Run = serde_json::from_str(&log)?;
    println!(
        "same after a round trip: {}",
        again.trajectory() == trajectory
    );
    if std::env::args().any(|argument| argument == "--log") {
        println!("\n{log}");
    }
    Ok(())
}
