//! Tools of your own: methods that share a value, closures, and calls that report progress.
//!
//! Scripted unless `ENACT_MODEL` names a model; see `01_first_agent.rs`.

use std::collections::BTreeMap;
use std::error::Error;
use std::sync::{Arc, Mutex, PoisonError};

use enact::model::{ModelError, OpenAi, Retrying, ScriptedModel, call, calls};
use enact::{FnTool, LanguageModel, ReAct, ToolContext, ToolError, Update, toolbox, values};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

/// A shop: what its tools share.
struct Shop {
    stock: Mutex<BTreeMap<String, u32>>,
}

#[toolbox]
impl Shop {
    /// How many of an article are in stock.
    #[tool(read_only)]
    fn stock(&self, article: &str) -> Result<u32, ToolError> {
        let stock = self.stock.lock().unwrap_or_else(PoisonError::into_inner);
        let known: Vec<&str> = stock.keys().map(String::as_str).collect();
        // An error is for the model to read: it says what would work.
        let unknown = || ToolError::new(format!("no `{article}` here: there is {known:?}"));
        stock.get(article).copied().ok_or_else(unknown)
    }

    /// Takes articles out of the stock and packs them.
    #[tool(serial, timeout = "10s")]
    async fn pack(
        &self,
        article: &str,
        /// How many, 1 or more.
        #[schemars(range(min = 1))]
        count: u32,
        context: &ToolContext,
    ) -> Result<String, ToolError> {
        // Progress is for whoever watches; the model sees the result only. The key is the same for
        // every attempt at this call: hand it to services that deduplicate.
        context.progress(format!("packing {count} × {article}"));
        context.progress(format!("order {}", context.idempotency_key));
        let mut stock = self.stock.lock().unwrap_or_else(PoisonError::into_inner);
        let left = stock
            .get_mut(article)
            .ok_or_else(|| ToolError::new("unknown article"))?;
        *left = left
            .checked_sub(count)
            .ok_or_else(|| ToolError::new(format!("only {left} left")))?;
        Ok(format!("packed {count} × {article}, {left} left"))
    }
}

#[derive(Deserialize, JsonSchema)]
struct Parcel {
    /// In kilograms.
    weight: f64,
    #[serde(default)]
    express: bool,
}

fn model() -> Result<Arc<dyn LanguageModel>, ModelError> {
    if let Ok(name) = std::env::var("ENACT_MODEL") {
        return Ok(Arc::new(Retrying::new(OpenAi::from_env(name)?)));
    }
    let summary = "Three mugs are packed; postage is 6.00.";
    Ok(Arc::new(ScriptedModel::new([
        call("stock", json!({"article": "mugs"})).thinking("Are there any mugs?"),
        // Two calls in one turn run side by side.
        calls([
            ("stock", json!({"article": "mug"})),
            ("postage", json!({"weight": "1.5"})),
        ]),
        call("pack", json!({"article": "mug", "count": 3})),
        call("submit", json!({"summary": summary})),
    ])))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let stock = BTreeMap::from([("mug".to_owned(), 5), ("plate".to_owned(), 2)]);
    let shop = Arc::new(Shop {
        stock: Mutex::new(stock),
    });
    let postage = FnTool::new(
        "postage",
        "Price of a parcel.",
        |parcel: Parcel, _| async move {
            let base = if parcel.express { 9.0 } else { 3.0 };
            Ok::<_, ToolError>(base + parcel.weight * 2.0)
        },
    );

    let tools = shop.tools().with(postage.read_only());
    for spec in tools.iter().map(|tool| tool.spec()) {
        println!("{} ({:?}): {}", spec.name, spec.effect, spec.description);
    }

    let agent = ReAct::builder("order -> summary")
        .tools(tools)
        .model(model()?)
        .build()?;
    println!("\nwhile it runs:");
    let done = agent
        .call(values! { order: "Three mugs, 1.5 kg in all, please." })
        .on_update(|update| {
            if let Update::Progress { call_id, message } = update {
                println!("  {call_id}: {message}");
            }
        })
        .await?
        .finished()?;
    println!("\n{}", done.trajectory());
    println!("\n{}", done.outputs["summary"]);
    Ok(())
}
