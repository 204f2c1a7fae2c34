//! A tool that asks first: the run pauses, goes through JSON, and is resumed with decisions.
//!
//! Scripted unless `ENACT_MODEL` names a model; see `01_first_agent.rs`.

use std::error::Error;
use std::sync::Arc;

use enact::model::{ModelError, OpenAi, Retrying, ScriptedModel, call, calls};
use enact::run::AnswerError;
use enact::{Decision, LanguageModel, Outcome, Paused, Question, ReAct, tool, tools, values};
use serde_json::{Value, json};

/// What a customer is owed.
#[tool(read_only)]
fn balance(customer: &str) -> String {
    format!("{customer} is owed 120.00")
}

/// Pays money back to a customer.
#[tool(require_confirmation)]
async fn refund(customer: String, amount: f64) -> String {
    format!("paid {amount:.2} to {customer}")
}

fn model() -> Result<Arc<dyn LanguageModel>, ModelError> {
    if let Ok(name) = std::env::var("ENACT_MODEL") {
        return Ok(Arc::new(Retrying::new(OpenAi::from_env(name)?)));
    }
    Ok(Arc::new(ScriptedModel::new([
        // Three calls in one turn: the first runs at once, the others wait for a person.
        calls([
            ("balance", json!({"customer": "Ada"})),
            ("refund", json!({"customer": "Ada", "amount": 1200})),
            ("refund", json!({"customer": "Bob", "amount": 15})),
        ])
        .thinking("I look up the balance and pay both."),
        call(
            "submit",
            json!({"summary": "Ada got 120.00 and Bob got 15.00."}),
        ),
    ])))
}

/// The person. A terminal would read a line and hand it to `Question::read`, which takes
/// `yes`, `no`, an edit, and anything else as feedback; free text is never a yes. An edit that
/// cannot be read is an error: a terminal would show it and ask again.
fn decide(question: &Question) -> Result<Decision, AnswerError> {
    println!("? {}", question.question);
    let amount = question
        .tool_call
        .args
        .get("amount")
        .and_then(Value::as_f64);
    let text = match amount {
        Some(amount) if amount > 1000.0 => {
            r#"{"edit": {"args": {"customer": "Ada", "amount": 120}}}"#
        }
        Some(_) => "yes",
        None => "how much is it?",
    };
    println!("> {text}");
    question.read(text)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let agent = ReAct::builder("task -> summary")
        .tools(tools![balance, refund])
        .model(model()?)
        .build()?;
    let task = "Pay Ada what she is owed, and 15 to Bob.";
    let mut outcome = agent.call(values! { task: task }).await?;

    // A real model may need more than one round.
    let done = loop {
        let paused = match outcome {
            Outcome::Finished(done) => break done,
            Outcome::Paused(paused) => paused,
        };
        // A pause is a value. It holds the whole run, and another process can resume it.
        let stored = serde_json::to_string(&paused)?;
        println!(
            "paused at step {} with {} open question(s), {} bytes of JSON",
            paused.context().iteration + 1,
            paused.questions().len(),
            stored.len()
        );

        let paused: Paused = serde_json::from_str(&stored)?;
        let decisions: Vec<(String, Decision)> = paused
            .questions()
            .iter()
            .map(|question| Ok((question.confirmation_id.clone(), decide(question)?)))
            .collect::<Result<_, AnswerError>>()?;
        let mut resumed = agent.resume(paused);
        for (confirmation_id, decision) in decisions {
            resumed = resumed.answer(confirmation_id, decision);
        }
        outcome = resumed.await?;
    };

    // The record shows what ran, not what was asked for at first.
    println!("\n{}", done.trajectory());
    println!("\n{}", done.outputs["summary"]);
    Ok(())
}
