//! Signatures that are known only at run time: an arrow string, and values by name.
//!
//! Scripted unless `ENACT_MODEL` names a model; see `01_first_agent.rs`.

use std::error::Error;
use std::sync::Arc;

use enact::model::{ModelError, OpenAi, Retrying, ScriptedModel, call};
use enact::{LanguageModel, ReAct, Signature, signature, tool, tools, values};
use serde_json::json;

const PAGES: [(&str, &str); 3] = [
    (
        "tides",
        "The moon causes most of the tides, the sun the rest.",
    ),
    (
        "moon",
        "The moon takes about 27 days to go round the Earth.",
    ),
    ("bread", "Bread is made of flour, water, salt and time."),
];

/// Searches the pages for a word and gives the names and texts of those that have it.
#[tool(read_only)]
fn search(word: &str, limit: usize) -> Vec<(String, String)> {
    PAGES
        .iter()
        .filter(|(name, text)| name.contains(word) || text.contains(word))
        .take(limit)
        .map(|(name, text)| ((*name).to_owned(), (*text).to_owned()))
        .collect()
}

fn model() -> Result<Arc<dyn LanguageModel>, ModelError> {
    if let Ok(name) = std::env::var("ENACT_MODEL") {
        return Ok(Arc::new(Retrying::new(OpenAi::from_env(name)?)));
    }
    Ok(Arc::new(ScriptedModel::new([
        call("search", json!({"word": "moon", "limit": 2})).thinking("I look for the moon."),
        call(
            "submit",
            json!({"answer": "The moon, mostly.", "sources": ["tides"]}),
        ),
    ])))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    // From a text that may come from a user or a file: mistakes are shown where they are.
    if let Err(error) = Signature::parse("question: strr -> answer") {
        println!("{error}\n");
    }

    // From a text in the source: `signature!` finds the same mistakes when the program is compiled.
    let signature = signature!("question: str, k: int = 3 -> answer: str, sources: list[str]");
    println!("signature:    {signature}");
    println!("instructions: {}", signature.instructions());

    // `ReAct::builder` takes a signature or an arrow string.
    let agent = ReAct::builder(signature)
        .tools(tools![search])
        .instructions("Answer from the pages that `search` finds, at most `k` of them.")
        .model(model()?)
        .build()?;
    // `k` has a default and may be left out; what is given is checked against its type.
    let done = agent
        .call(values! { question: "What causes the tides?" })
        .await?
        .finished()?;

    let inputs = serde_json::to_string(&done.run().started().inputs)?;
    println!("\ninputs:       {inputs}");
    println!("answer:       {}", done.outputs["answer"]);
    println!("sources:      {}", done.outputs["sources"]);
    Ok(())
}
