//! The pure core: what a run does next, as a function of its log.
//!
//! [`RunState`] folds events ([`RunState::apply`]) and says what comes next
//! ([`RunState::decide`]). It does no I/O and reads no clock; drivers do what it says and write
//! down what came of it. Everything that leaves it is data.
//!
//! # Drive a run by hand
//!
//! [`drive`](crate::driver::drive) is the loop that agents use. Write your own to step through a run, to
//! test what an agent does with certain events, or to embed the core where the driver doesn't fit:
//!
//! ```
//! # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
//! use std::sync::Arc;
//! use std::time::Duration;
//!
//! use enact::model::{Capabilities, LanguageModel, ScriptedModel, Usage, call};
//! use enact::react::{CallCheck, Next, Program, RunState, Wording};
//! use enact::run::{AgentSpec, Event, Observation, Record, Started};
//! use enact::tool::ToolContext;
//! use enact::{AdapterChoice, Completion, Decision, Signature, Timestamp, tool, tools, values};
//! use serde_json::json;
//!
//! /// Adds two numbers.
//! #[tool(require_confirmation)]
//! async fn add(a: i64, b: i64) -> i64 {
//!     a + b
//! }
//!
//! /// Records an event, then takes it in. A durable driver writes the record to its store first.
//! fn record(state: &mut RunState, event: Event) {
//!     for record in state.run().following([event], Timestamp::now()) {
//!         state.apply(record);
//!     }
//! }
//!
//! let model = ScriptedModel::new([
//!     call("add", json!({"a": 2, "b": 40})),
//!     call("submit", json!({"answer": 42})),
//! ]);
//! let tools = tools![add];
//! let signature = Signature::parse("question -> answer: int")?;
//! let program = Program::react(signature.clone(), &tools, Completion::Submit)?;
//!
//! // The first record says what the run is. An existing log is resumed with `RunState::resume`.
//! let mut agent = AgentSpec::new(signature, "scripted", "native");
//! agent.step_adapter = Some("native".to_owned());
//! agent.tools = program.tool_specs().cloned().collect();
//! let inputs = program.check_inputs(values! { question: "What is 2 + 40?" })?;
//! let started = Started::new("sum-1", agent, inputs);
//! let first = Record::now(0, Event::Started(Arc::new(started)));
//! let wording = Wording::new(&AdapterChoice::Auto, Capabilities::FULL);
//! let mut state = RunState::begin(Arc::new(program), wording, first)?;
//!
//! loop {
//!     match state.decide() {
//!         Next::Record(event) => record(&mut state, event),
//!         Next::Model(asked) => {
//!             let read = match model.complete(asked.request).await {
//!                 Ok(reply) => state.read(asked.predictor, Ok(reply), Duration::ZERO),
//!                 Err(error) => state.read(asked.predictor, Err(&error), Duration::ZERO),
//!             };
//!             // What rules and hooks say about calls that they have to look at: here, ask a person.
//!             let said = read.unchecked().iter().map(|_| CallCheck::default()).collect::<Vec<_>>();
//!             let event = read.event(&state, said);
//!             record(&mut state, event);
//!         }
//!         Next::Tools(calls) => {
//!             for planned in calls {
//!                 let id = planned.call.id.clone();
//!                 // The intent is recorded before the effect: after a crash, the call is in doubt.
//!                 record(&mut state, Event::tool_started(&id));
//!                 let tool = tools.get(&planned.call.name).ok_or("the tool is gone")?;
//!                 let context = ToolContext::detached(&id);
//!                 let observation = match tool.call(planned.call.args.clone(), context).await {
//!                     Ok(output) => Observation::value(output.value),
//!                     Err(error) => Observation::error(error.to_string()),
//!                 };
//!                 let spent = (Usage::default(), 0.0);
//!                 record(&mut state, Event::tool_finished(id, observation, Duration::ZERO, spent));
//!             }
//!         }
//!         Next::Human(questions) => {
//!             // Ask somebody, now or days later in another process.
//!             let event = state.answer(&questions[0].confirmation_id, Decision::Approve)?;
//!             record(&mut state, event);
//!         }
//!         Next::Condition => record(&mut state, Event::ConditionChecked { ends: false }),
//!         // Each call is awaited above, so none is under way here.
//!         _ => break,
//!     }
//! }
//!
//! let run = state.into_run();
//! assert_eq!(run.outputs().unwrap()["answer"], 42);
//! assert_eq!(run.steps().len(), 2);
//! # Ok::<_, Box<dyn std::error::Error>>(()) })?; Ok::<_, Box<dyn std::error::Error>>(())
//! ```
//!
//! To run agents on an engine of your own, implement [`Effects`](crate::driver::Effects) instead: the loop,
//! with its time limits, cancellation and changing tools, stays the same.

mod answers;
mod asides;
mod budget;
mod calls;
mod check;
mod compact;
mod ending;
mod fold;
mod from_log;
mod identity;
mod ids;
mod program;
mod progress;
mod prompt;
mod read;
mod refusal;
mod schemas;
mod shorten;
mod state;
mod submitted;
mod template;
mod text;
mod thoughts;
mod verdict;
mod wording;

pub use check::check_call;
pub(crate) use program::check_tools;
pub use program::{InputsError, Program, ProgramError, RESERVED_TOOLS};
pub use read::ReadReply;
pub(crate) use schemas::Schemas;
pub use state::{ModelCall, Next, RunState, ToolCall};
pub use template::{TemplateError, fill_thought_prompt};
pub use verdict::{CallCheck, Verdict};
pub use wording::Wording;
