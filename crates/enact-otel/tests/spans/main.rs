//! What a collector gets of runs, over real HTTP.

#![expect(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod content;
mod delegation;
mod failures;
mod pausing;
mod tree;

use enact::model::{ScriptStep, ScriptedModel};
use enact::{FnTool, Prediction, ReAct, ToolError, Tools, Values, values};
use enact_otel::{Guard, Traces};
use enact_test_server::{Collected, Collector};
use tracing::subscriber::DefaultGuard;
use tracing_subscriber::Registry;
use tracing_subscriber::layer::SubscriberExt as _;

/// Sends the spans of this thread to a collector of its own.
pub(crate) struct Watched {
    collector: Collector,
    guard: Guard,
    default: DefaultGuard,
}

pub(crate) fn watch() -> Watched {
    let collector = Collector::start();
    let traces = Traces::from_env().endpoint(collector.endpoint());
    let (layer, guard) = traces.service_name("tests").layer().unwrap();
    let default = tracing::subscriber::set_default(Registry::default().with(layer));
    Watched {
        collector,
        guard,
        default,
    }
}

impl Watched {
    /// Every span, by its beginning.
    pub(crate) fn spans(self) -> Vec<Collected> {
        drop(self.default);
        self.guard.finish().unwrap();
        let spans = self.collector.spans();
        for span in &spans {
            assert_eq!(span.attributes.get("twice"), None, "{span:#?}");
            assert!(span.start <= span.end);
        }
        spans
    }
}

/// The spans whose name begins so.
pub(crate) fn named<'a>(spans: &'a [Collected], name: &str) -> Vec<&'a Collected> {
    spans
        .iter()
        .filter(|span| span.name.starts_with(name))
        .collect()
}

/// The only one.
pub(crate) fn only<'a>(spans: &'a [Collected], name: &str) -> &'a Collected {
    match named(spans, name).as_slice() {
        [only] => only,
        found => panic!("{} spans begin with `{name}`: {spans:#?}", found.len()),
    }
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
pub(crate) struct Query {
    pub(crate) query: String,
}

pub(crate) fn search() -> FnTool {
    FnTool::new("search", "Looks it up.", |args: Query, _| async move {
        tokio::task::yield_now().await;
        match args.query.as_str() {
            "fail" => Err(ToolError::new("the secret shelf is closed")),
            query => Ok(format!("found {query}")),
        }
    })
}

pub(crate) fn agent(tools: Tools, steps: impl IntoIterator<Item = ScriptStep>) -> ReAct {
    ReAct::builder("question -> answer")
        .tools(tools)
        .model(ScriptedModel::new(steps))
        .build()
        .unwrap()
}

/// Runs an agent to its answer.
pub(crate) async fn answer(agent: &ReAct) -> Prediction<Values> {
    let ended = agent.call(values! { question: "q" }).await;
    ended.unwrap().finished().unwrap()
}
