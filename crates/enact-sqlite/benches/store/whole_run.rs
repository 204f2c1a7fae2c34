//! A whole run of an agent, kept nowhere, in memory and in a file.

use std::time::{Duration, Instant};

use enact::model::{
    Capabilities, Chunk, FinishReason, LanguageModel, ModelInfo, ReplyStream, Request, Usage,
};
use enact::run::store::MemoryStore;
use enact::tool::ToolSpec;
use enact::{FnTool, ReAct, ToolError, Tools, values};
use enact_sqlite::SqliteStore;
use futures_util::stream;
use serde_json::json;

use crate::{folder, median, ratio};

const STEPS: usize = 10;

/// Calls a tool in each step, and submits after the last.
#[derive(Debug)]
struct Model;

impl LanguageModel for Model {
    fn info(&self) -> ModelInfo<'_> {
        ModelInfo::new("bench", Capabilities::FULL)
    }

    fn stream(&self, request: Request) -> ReplyStream<'_> {
        // The system message, the inputs, and two messages for each step before.
        let length = request.prompt.len();
        let (name, arguments) = if length < 2 + 2 * STEPS {
            ("search", json!({"query": format!("rain, page {length}")}))
        } else {
            ("submit", json!({"answer": "It rains."}))
        };
        let chunks = [
            Chunk::Text("I look it up, and go on from what I find there.".to_owned()),
            Chunk::Call {
                index: 0,
                id: Some(format!("call_{length}")),
                name: Some(name.to_owned()),
                arguments: arguments.to_string(),
            },
            Chunk::Usage(Usage::of_request(1_000, 40)),
            Chunk::Finish(FinishReason::ToolCalls),
        ];
        Box::pin(stream::iter(chunks.map(Ok)))
    }
}

fn agent() -> ReAct {
    let parameters = json!({"type": "object", "properties": {"query": {"type": "string"}}});
    let spec = ToolSpec::new("search", "Looks something up.", parameters);
    let search = FnTool::from_spec(spec, |_, _| async {
        Ok::<_, ToolError>("Rain fell. ".repeat(50))
    });
    ReAct::builder("question -> answer")
        .tools(Tools::new().with(search))
        .model(Model)
        // Far away: the model is told when a limit is near.
        .max_iterations(10 * STEPS as u32)
        .build()
        .unwrap()
}

/// Prints what a run costs in each way.
pub async fn measure(rounds: usize) {
    let folder = folder();
    let agent = agent();
    let file = SqliteStore::open(folder.path().join("runs.db"))
        .await
        .unwrap();
    let memory = MemoryStore::new();
    let mut times: [Vec<Duration>; 3] = Default::default();
    let mut events = 0;
    for _ in 0..rounds {
        let calls = [
            agent.call(values! { question: "q" }),
            agent.call(values! { question: "q" }).store(memory.clone()),
            agent.call(values! { question: "q" }).store(file.clone()),
        ];
        for (call, times) in calls.into_iter().zip(&mut times) {
            let began = Instant::now();
            let done = call.await.unwrap().finished().unwrap();
            times.push(began.elapsed());
            events = done.run().records().len();
        }
    }
    let ratios = [&times[1], &times[2]].map(|stored| ratio(stored, &times[0]));
    let [nowhere, memory, file] = times.map(|times| median(&times));
    let each = file.saturating_sub(nowhere) / events as u32;
    println!("a run of {STEPS} steps, {events} events:");
    println!("  kept nowhere    {nowhere:>10.1?}");
    println!("  MemoryStore     {memory:>10.1?}  {:.2} ×", ratios[0]);
    println!(
        "  SqliteStore     {file:>10.1?}  {:.0} ×, {each:.1?} an event",
        ratios[1]
    );
}
