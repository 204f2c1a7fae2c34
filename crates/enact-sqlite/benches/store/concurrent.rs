//! Many runs at once in one store, with a model that takes its time: what is left of the rate that
//! the model allows.

use std::sync::Arc;
use std::time::{Duration, Instant};

use enact::model::{
    Capabilities, Chunk, FinishReason, LanguageModel, ModelInfo, ReplyStream, Request, Usage,
};
use enact::tool::ToolSpec;
use enact::{FnTool, ReAct, ToolError, Tools, values};
use enact_sqlite::SqliteStore;
use futures_util::stream::{self, StreamExt as _};
use serde_json::json;
use tokio::task::JoinSet;

use crate::folder;

/// How long each answer of the model takes.
const LATENCY: Duration = Duration::from_millis(50);

/// Calls a tool in each step, and submits in the last.
#[derive(Debug)]
struct Model {
    steps: usize,
}

impl LanguageModel for Model {
    fn info(&self) -> ModelInfo<'_> {
        ModelInfo::new("bench", Capabilities::FULL)
    }

    fn stream(&self, request: Request) -> ReplyStream<'_> {
        // The system message, the inputs, and two messages for each step before.
        let step = request.prompt.len() / 2;
        let (name, arguments) = if step < self.steps {
            ("note", json!({"text": format!("rain on day {step}")}))
        } else {
            ("submit", json!({"answer": "It rains."}))
        };
        Box::pin(
            stream::once(async move {
                tokio::time::sleep(LATENCY).await;
                Ok(Chunk::Text("I write it down, and go on.".to_owned()))
            })
            .chain(stream::iter(
                [
                    Chunk::Call {
                        index: 0,
                        id: Some(format!("call_{step}")),
                        name: Some(name.to_owned()),
                        arguments: arguments.to_string(),
                    },
                    Chunk::Usage(Usage::of_request(1_000, 40)),
                    Chunk::Finish(FinishReason::ToolCalls),
                ]
                .map(Ok),
            )),
        )
    }
}

/// An agent whose tool has effects: what it is about to do is on the disk before.
fn agent(steps: usize) -> ReAct {
    let parameters = json!({"type": "object", "properties": {"text": {"type": "string"}}});
    let spec = ToolSpec::new("note", "Writes something down.", parameters);
    let note = FnTool::from_spec(spec, |_, _| async { Ok::<_, ToolError>("Written.") });
    ReAct::builder("question -> answer")
        .tools(Tools::new().with(note))
        .model(Model { steps })
        // Far away: the model is told when a limit is near.
        .max_iterations(10 * steps as u32)
        .build()
        .unwrap()
}

async fn time(agent: &Arc<ReAct>, runs: usize, store: Option<&SqliteStore>) -> Duration {
    let began = Instant::now();
    let mut all = JoinSet::new();
    for _ in 0..runs {
        let (agent, store) = (agent.clone(), store.cloned());
        all.spawn(async move {
            let mut call = agent.call(values! { question: "q" });
            if let Some(store) = store {
                call = call.store(store);
            }
            call.await.unwrap().finished().unwrap();
        });
    }
    while let Some(done) = all.join_next().await {
        done.unwrap();
    }
    began.elapsed()
}

/// What a small write takes until it is on the disk.
fn sync_cost() -> Duration {
    use std::io::Write as _;
    let folder = folder();
    let mut file = std::fs::File::create(folder.path().join("file")).unwrap();
    let mut times: Vec<Duration> = (0..50)
        .map(|_| {
            file.write_all(&[7; 8192]).unwrap();
            let began = Instant::now();
            file.sync_data().unwrap();
            began.elapsed()
        })
        .collect();
    times.sort_unstable();
    times[times.len() / 2]
}

/// Prints how many runs a second are done at once. Gives the rate in a store as a part of the ideal,
/// the median of so many rounds.
pub fn measure(runs: usize, steps: usize, rounds: usize) -> f64 {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let agent = Arc::new(agent(steps));
        let ideal = LATENCY * steps as u32;
        println!(
            "{runs} runs at once of {steps} steps, {LATENCY:?} each; a sync takes {:.1?}:",
            sync_cost()
        );
        let mut fractions = [Vec::new(), Vec::new()];
        for _ in 0..rounds {
            let folder = folder();
            let store = SqliteStore::open(folder.path().join("runs.db"))
                .await
                .unwrap();
            for (store, fractions) in [None, Some(&store)].into_iter().zip(&mut fractions) {
                let took = time(&agent, runs, store).await;
                fractions.push(ideal.as_secs_f64() / took.as_secs_f64());
            }
        }
        let [nowhere, file] = fractions.map(|mut all| {
            all.sort_unstable_by(f64::total_cmp);
            all[all.len() / 2]
        });
        println!(
            "  kept nowhere    {:.0} % of the ideal rate",
            100.0 * nowhere
        );
        println!(
            "  SqliteStore     {:.0} % (at least 60 % is asked for)",
            100.0 * file
        );
        file
    })
}
