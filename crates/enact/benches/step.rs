//! What one step costs enact itself, without model and tools, and whether a long run stays cheap.
//!
//! `cargo bench -p enact` prints the costs, then the ratio of a step at the end of a 200-step run
//! to one at step 10, with observations of 1 KiB; it fails when that ratio exceeds 2.
#![allow(missing_docs, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::sync::Arc;
use std::time::{Duration, Instant};

use enact::model::{Capabilities, Reply, ScriptedModel, Usage, call};
use enact::react::{Next, Program, RunState, Wording};
use enact::run::{AgentSpec, Event, Observation, Record, Started};
use enact::{AdapterChoice, Completion, FnTool, ReAct, Signature, Tool, ToolError, Tools, values};
use serde_json::json;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Query {
    query: String,
}

fn search() -> impl Tool {
    FnTool::new(
        "search",
        "Looks something up.",
        |args: Query, _| async move { Ok::<_, ToolError>(args.query) },
    )
}

fn program() -> Arc<Program> {
    let signature = Signature::parse("question -> answer").unwrap();
    let mut program =
        Program::react(signature, &Tools::new().with(search()), Completion::Submit).unwrap();
    program.limits.max_iterations = u32::MAX;
    Arc::new(program)
}

fn begin(program: &Arc<Program>) -> RunState {
    let wording = Wording::new(&AdapterChoice::Auto, Capabilities::FULL);
    let agent = AgentSpec::new(program.declared.clone(), "model", "native");
    let mut started = Started::new("run", agent, values! { question: "q" });
    started.limits = program.limits;
    let record = Record {
        position: 0,
        at: enact::Timestamp::UNIX_EPOCH,
        event: Event::Started(Arc::new(started)),
    };
    RunState::begin(program.clone(), wording, record).unwrap()
}

fn reply() -> Reply {
    let mut reply = Reply::text("I look it up.");
    reply.usage = Usage::of_request(100, 20);
    reply.calls.push(enact::model::RawCall {
        id: Some("call_1".into()),
        name: "search".into(),
        arguments: r#"{"query": "the weather in Paris"}"#.into(),
    });
    reply
}

fn apply(state: &mut RunState, event: Event) {
    let position = state.run().records().len() as u64;
    state.apply(Record {
        position,
        at: enact::Timestamp::UNIX_EPOCH,
        event,
    });
}

/// One whole step: ask, read the reply, run one tool, take its observation.
fn step(state: &mut RunState, observation: &str) {
    let Next::Model(call) = state.decide() else {
        panic!("a model call")
    };
    divan::black_box(&call.request);
    let read = state.read(call.predictor, Ok(reply()), Duration::ZERO);
    drop(call.request);
    let event = read.event(state, []);
    apply(state, event);
    let Next::Tools(calls) = state.decide() else {
        panic!("a tool call")
    };
    let call_id = calls[0].call.id.clone();
    apply(
        state,
        Event::ToolStarted {
            call_id: call_id.clone(),
        },
    );
    let observation = Observation::value(observation);
    apply(
        state,
        Event::tool_finished(call_id, observation, Duration::ZERO, Default::default()),
    );
}

fn after(program: &Arc<Program>, steps: usize, observation: &str) -> RunState {
    let mut state = begin(program);
    for _ in 0..steps {
        step(&mut state, observation);
    }
    state
}

#[divan::bench(args = [1, 10, 50, 100, 200])]
fn one_step_after(bencher: divan::Bencher, steps: usize) {
    let (program, observation) = (program(), "x".repeat(1024));
    bencher
        .with_inputs(|| after(&program, steps, &observation))
        .bench_local_values(|mut state| {
            step(&mut state, &observation);
            state
        });
}

#[divan::bench(args = [10, 200])]
fn whole_run(bencher: divan::Bencher, steps: usize) {
    let (program, observation) = (program(), "x".repeat(1024));
    bencher.bench_local(|| after(&program, steps, &observation));
}

/// A whole run of ten steps through the driver, with nobody who listens to its spans.
#[divan::bench(sample_count = 1000)]
fn driven_run(bencher: divan::Bencher) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    bencher
        .with_inputs(|| {
            // Ten different ones: an agent that repeats itself would be stopped.
            let towns = [
                "Ulm", "Oslo", "Lima", "Pisa", "Graz", "York", "Bari", "Nice", "Kyiv", "Vigo",
            ];
            let looking = towns.map(|town| call("search", json!({"query": town})));
            let steps = looking
                .into_iter()
                .chain([call("submit", json!({"answer": "mild"}))]);
            ReAct::builder("question -> answer")
                .tools(Tools::new().with(search()))
                .max_iterations(20)
                .model(ScriptedModel::new(steps))
                .build()
                .unwrap()
        })
        .bench_local_values(|agent| {
            let ended = runtime.block_on(async { agent.call(values! { question: "q" }).await });
            (ended.unwrap(), agent)
        });
}

/// The median of the cost of steps `from..from + 10`, over many runs side by side.
fn ratio() -> f64 {
    let (program, observation) = (program(), "x".repeat(1024));
    let mut early = Vec::new();
    let mut late = Vec::new();
    for _ in 0..200 {
        let mut state = begin(&program);
        for number in 1..=200 {
            let began = Instant::now();
            step(&mut state, &observation);
            match number {
                6..=15 => early.push(began.elapsed()),
                191..=200 => late.push(began.elapsed()),
                _ => {}
            }
        }
    }
    let median = |times: &mut Vec<Duration>| {
        times.sort_unstable();
        times[times.len() / 2].as_secs_f64()
    };
    median(&mut late) / median(&mut early)
}

fn main() {
    divan::main();
    // `cargo test --benches` and listing runs only check that it works.
    if std::env::args().any(|arg| arg == "--bench") {
        let ratio = ratio();
        println!("a step at 200 costs {ratio:.2} × a step at 10 (at most 2 is allowed)");
        assert!(ratio <= 2.0, "steps get dearer as the run grows");
    }
}
