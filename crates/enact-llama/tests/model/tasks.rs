//! Five trivial tasks with tools, each asked for in three ways.

use enact::adapter::{Adapter, Json, Native};
use enact::model::FinishReason;
use enact::run::{Event, Reading, Repair, RepairKind};
use enact::{LanguageModel, ReAct, Run, ToolError, Tools, Values, tool, tools, values};
use serde_json::Value;

use crate::loaded::{at_most, load};
use crate::watched::{Watched, must_be_valid};

/// Adds two whole numbers.
#[tool(read_only)]
async fn add(first: i64, second: i64) -> Result<i64, ToolError> {
    Ok(first.saturating_add(second))
}

/// Tells whether a whole number is even.
#[tool(read_only)]
async fn is_even(number: i64) -> Result<bool, ToolError> {
    Ok(number % 2 == 0)
}

#[derive(Debug, Clone, Copy, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
enum City {
    Paris,
    London,
}

/// The temperature in a city, in degrees Celsius.
#[tool(read_only)]
async fn temperature(city: City) -> Result<i64, ToolError> {
    Ok(match city {
        City::Paris => 20,
        City::London => 15,
    })
}

/// How many letters a word has.
#[tool(read_only)]
async fn count_letters(word: String) -> Result<usize, ToolError> {
    Ok(word.chars().count())
}

/// Switches the light on or off.
#[tool(idempotent)]
async fn switch_light(on: bool) -> Result<String, ToolError> {
    Ok(if on { "on" } else { "off" }.to_owned())
}

struct Task {
    signature: &'static str,
    inputs: Values,
    tools: Tools,
}

fn tasks() -> [Task; 5] {
    [
        Task {
            signature: "question -> sum: int",
            inputs: values! { question: "What is 2 + 3?" },
            tools: tools![add],
        },
        Task {
            signature: "number: int -> even: bool",
            inputs: values! { number: 4 },
            tools: tools![is_even],
        },
        Task {
            signature: "question -> celsius: int, warm: bool",
            inputs: values! { question: "How warm is it in Paris?" },
            tools: tools![temperature, add],
        },
        Task {
            signature: "word -> letters: int",
            inputs: values! { word: "cat" },
            tools: tools![count_letters],
        },
        Task {
            signature: "wish -> state: Literal['on', 'off']",
            inputs: values! { wish: "It is dark here." },
            tools: tools![switch_light],
        },
    ]
}

/// What a run may take.
#[derive(Clone, Copy)]
struct Limits {
    steps: u32,
    /// Of one reply.
    tokens: u32,
}

/// Does a task, and checks all that has to hold however little the model understood. Tells how many
/// calls of tools there were.
async fn done(
    task: Task,
    model: impl LanguageModel + Clone + 'static,
    adapter: impl Adapter + 'static,
    limits: Limits,
) -> usize {
    let is_native = adapter.name() == Native.name();
    let watched = Watched::new(model);
    let agent = ReAct::builder(task.signature)
        .tools(task.tools)
        .model(watched.clone())
        .adapter(adapter)
        .options(at_most(limits.tokens))
        .max_repairs(0)
        .max_iterations(limits.steps)
        .build()
        .unwrap();
    let ended = agent.call(task.inputs).await;
    let run = match &ended {
        Ok(outcome) => outcome.run(),
        Err(error) => error.run().unwrap_or_else(|| panic!("{error}")),
    };
    assert!(run.termination().is_some(), "{:?}", task.signature);
    let exchanges = watched.take();
    assert!(!exchanges.is_empty());
    for (request, reply) in &exchanges {
        must_be_valid(request, reply);
    }
    must_be_read_as_written(run, is_native);
    if let Some(outputs) = run.outputs() {
        let schema = run.started().agent.signature.output_schema();
        let outputs = Value::Object(outputs.clone());
        let found = jsonschema::validate(&schema, &outputs);
        assert!(found.is_ok(), "{found:?}: {outputs:?}");
    }
    exchanges.iter().map(|(_, reply)| reply.calls.len()).sum()
}

/// Nothing was mended, and nothing was unreadable but what the limit cut. The schema of a step in JSON
/// does not tie arguments to their tool, so these may have to be converted.
fn must_be_read_as_written(run: &Run, is_native: bool) {
    let is_written = |repairs: &[Repair]| {
        let mut repairs = repairs.iter();
        repairs.all(|repair| !is_native && repair.kind == RepairKind::Coercion)
    };
    for event in run.events() {
        match event {
            Event::Replied(replied) => match &replied.read {
                Reading::Step(_) => assert!(is_written(&replied.repairs), "{replied:?}"),
                Reading::Unreadable { problem } => {
                    let reply = &replied.reply;
                    assert_eq!(reply.finish, FinishReason::Length, "{problem}: {reply:?}");
                }
                _ => assert!(replied.repairs.is_empty(), "{event:?}"),
            },
            Event::ModelFailed { message, .. } => panic!("{message}"),
            _ => {}
        }
    }
}

#[tokio::test]
async fn five_tasks_by_calls_that_are_demanded() {
    let model = load(2048).with_demanded_calls();
    let limits = Limits {
        steps: 2,
        tokens: 40,
    };
    for task in tasks() {
        let calls = done(task, model.clone(), Native, limits).await;
        assert!(calls > 0);
    }
}

#[tokio::test]
async fn five_tasks_by_calls_of_free_choice() {
    let model = load(2048);
    let limits = Limits {
        steps: 1,
        tokens: 30,
    };
    for task in tasks() {
        done(task, model.clone(), Native, limits).await;
    }
}

#[tokio::test]
async fn five_tasks_by_json() {
    let model = load(2048);
    let limits = Limits {
        steps: 1,
        tokens: 60,
    };
    for task in tasks() {
        done(task, model.clone(), Json, limits).await;
    }
}
