//! The tasks in the hands of enact.

use std::time::Duration;

use enact::adapter::AdapterChoice;
use enact::model::{Capabilities, ModelOptions, OpenAi, Timeouts, probe};
use enact::{ReAct, values};

use tokio::sync::OnceCell;

use crate::contender::{Answered, Order};
use crate::tools;

static PROBED: OnceCell<Capabilities> = OnceCell::const_new();

/// Solves one task through an adapter.
pub(crate) async fn solve(adapter: &str, order: &Order<'_>) -> anyhow::Result<Answered> {
    let (adapter, is_demanded) = match adapter.strip_suffix("-required") {
        Some(adapter) => (adapter, true),
        None => (adapter, false),
    };
    let adapter: AdapterChoice = adapter.parse()?;
    let mut model = OpenAi::new(order.model)
        .with_base_url(format!("{}/v1", order.url))?
        .with_timeouts(Timeouts {
            first_byte: Duration::from_secs(600),
            ..Timeouts::default()
        });
    if is_demanded {
        model = model.with_demanded_calls();
    }
    if let AdapterChoice::Auto = adapter {
        // As the command does: what the model really does is found out once.
        let capabilities = PROBED.get_or_try_init(|| probe(&model)).await?;
        model = model.with_capabilities(*capabilities);
    }
    let mut options = ModelOptions::default();
    options.temperature = Some(0.0);
    options.max_tokens = Some(order.max_tokens);
    let agent = ReAct::builder("question -> answer")
        .tools(tools::tools())
        .instructions(order.instructions)
        .adapter(adapter)
        .options(options)
        .max_iterations(order.max_iterations)
        .model(model)
        .build()?;
    let outcome = agent.call(values! { question: order.question }).await;
    let run = match &outcome {
        Ok(outcome) => outcome.run().clone(),
        Err(error) => match error.run() {
            Some(run) => run.clone(),
            None => anyhow::bail!("{error}"),
        },
    };
    let answer = run.outputs().map(|outputs| match &outputs["answer"] {
        serde_json::Value::String(text) => text.clone(),
        other => other.to_string(),
    });
    Ok(Answered {
        answer: answer.unwrap_or_default(),
        steps: run.trace().steps.len() as u64,
        termination: run
            .termination()
            .map_or("none", |reason| reason.as_str())
            .to_owned(),
        error: outcome.err().map(|error| error.to_string()),
    })
}
