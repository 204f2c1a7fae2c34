//! What a run that waits for a person takes on disk.

use std::path::Path;
use std::sync::Arc;

use enact::model::{
    Capabilities, LanguageModel, ModelInfo, RawCall, Reply, ReplyStream, Request, Usage,
    write_reply,
};
use enact::tool::{Effect, ToolSpec};
use enact::{FnTool, Outcome, ReAct, Run, ToolError, Tools, values};
use enact_sqlite::SqliteStore;
use serde_json::json;
use sqlx::Connection as _;
use tokio::task::JoinSet;

use super::{file, folder, raw};

const RUNS: usize = 400;
const STEPS: usize = 10;
/// A little more than the 2.10 of this test. With 1,000 runs of its own in a file, `bench/run` measured 1.98
/// before events became rows of plain JSON.
const TIMES_ITS_MESSAGES: f64 = 2.15;

/// Looks something up in each step, and publishes in the last.
#[derive(Debug)]
struct Model;

impl LanguageModel for Model {
    fn info(&self) -> ModelInfo<'_> {
        ModelInfo::new("bench", Capabilities::FULL)
    }

    fn stream(&self, request: Request) -> ReplyStream<'_> {
        // The system message, the inputs, and two messages for each step before.
        let step = request.prompt.len() / 2;
        let (thought, name, key) = match step < STEPS {
            true => ("I look up the next item.", "lookup", format!("item-{step}")),
            false => ("I know enough.", "publish", "all".to_owned()),
        };
        let mut reply = Reply::text(thought);
        reply.usage = Usage::of_request(1_000, 40);
        reply.calls.push(RawCall {
            id: Some(format!("call_{step}")),
            name: name.to_owned(),
            arguments: json!({"key": key}).to_string(),
        });
        write_reply(|writer| async move {
            for chunk in Vec::from(reply) {
                writer.write(chunk).await;
            }
            Ok(())
        })
    }
}

fn tool(name: &str, description: &str) -> FnTool {
    let parameters = json!({
        "type": "object",
        "properties": {"key": {"type": "string"}},
        "required": ["key"],
    });
    let spec = ToolSpec::new(name, description, parameters).with_effect(Effect::ReadOnly);
    FnTool::from_spec(spec, |args, _| async move {
        let key = args["key"].as_str().unwrap_or_default().to_owned();
        let line = "All is well in this line. ".repeat(3);
        let found = format!("{key} is known: {line}");
        Ok::<_, ToolError>(found[..64].to_owned())
    })
}

async fn pause(store: &SqliteStore) -> Vec<Run> {
    let publish = tool("publish", "Publishes an item.").require_confirmation();
    let lookup = tool("lookup", "Looks up an item by its key.");
    let agent = ReAct::builder("question -> answer")
        .instructions("Answer the question with the tools at hand.")
        .tools(Tools::new().with(lookup).with(publish))
        .model(Model)
        // Far away: the model is told when a limit is near.
        .max_iterations(10 * STEPS as u32)
        .build()
        .unwrap();
    let agent = Arc::new(agent);
    let mut running = JoinSet::new();
    for number in 0..RUNS {
        let (agent, store) = (Arc::clone(&agent), store.clone());
        running.spawn(async move {
            let question = format!("What is the answer? [run run-{number}]");
            match agent
                .call(values! { question: question })
                .store(store)
                .await
            {
                Ok(Outcome::Paused(paused)) => paused.run().clone(),
                other => panic!("it does not wait: {other:?}"),
            }
        });
    }
    running.join_all().await
}

/// The file, once all that was written has gone from the journal into it.
async fn size(path: &Path) -> u64 {
    let mut connection = raw(path).await;
    sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)")
        .execute(&mut connection)
        .await
        .unwrap();
    connection.close().await.unwrap();
    std::fs::metadata(path).unwrap().len()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_that_waits_takes_little_more_than_twice_its_messages() {
    let folder = folder();
    let store = SqliteStore::open(file(&folder)).await.unwrap();
    let runs = pause(&store).await;
    let bytes = size(&file(&folder)).await as f64 / RUNS as f64;
    let messages = serde_json::to_vec(&runs[0].history()).unwrap().len() as f64;
    let times = bytes / messages;
    println!("{bytes:.0} bytes each, {times:.2} times its messages of {messages} bytes");
    assert!(times <= TIMES_ITS_MESSAGES, "{times:.3}");
}
