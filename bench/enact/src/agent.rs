//! The agent, as a user of the library writes it.

use std::path::PathBuf;
use std::sync::Arc;

use enact::model::{OpenAi, Retrying};
use enact::{AdapterChoice, FnTool, Outcome, ReAct, Signature, ToolError, Tools};
use enact_sqlite::SqliteStore;
use measure::{Contender, Lookup, Work};
use tokio::sync::OnceCell;

/// Answer the question with the tools at hand.
#[derive(Signature)]
pub(crate) struct Answering {
    #[input]
    pub(crate) question: String,
    #[output]
    pub(crate) answer: String,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Arguments {
    key: String,
}

/// One agent for all runs, and where they are kept, if anywhere.
#[derive(Clone)]
pub(crate) struct Agent {
    agent: Arc<ReAct<Answering>>,
    kept: Option<Arc<Kept>>,
}

struct Kept {
    path: PathBuf,
    /// Opened with the first run.
    store: OnceCell<SqliteStore>,
}

impl Agent {
    pub(crate) fn new(work: &Work, adapter: &str, lookup: Lookup) -> anyhow::Result<Self> {
        Self::with_tools(work, adapter, Tools::new().with(look_up(lookup)))
    }

    /// The same with a tool that asks a person first.
    pub(crate) fn that_pauses(work: &Work, lookup: Lookup) -> anyhow::Result<Self> {
        let publish = FnTool::new(
            "publish",
            "Publishes an item.",
            |arguments: Arguments, _| async move { Ok::<_, ToolError>(arguments.key) },
        );
        let tools = Tools::new()
            .with(look_up(lookup))
            .with(publish.require_confirmation());
        Self::with_tools(work, "native", tools)
    }

    fn with_tools(work: &Work, adapter: &str, tools: Tools) -> anyhow::Result<Self> {
        let model = OpenAi::new("bench")
            .with_base_url(&work.base_url)?
            .with_api_key("none");
        // As `enact::model` gives it.
        let model = Retrying::new(model);
        let adapter: AdapterChoice = adapter.parse()?;
        let agent = ReAct::builder_for::<Answering>()
            .tools(tools)
            .model(model)
            .adapter(adapter)
            .max_iterations(u32::try_from(work.steps)?)
            .build()?;
        Ok(Self {
            agent: Arc::new(agent),
            kept: None,
        })
    }

    pub(crate) fn keeping_runs_in(self, path: PathBuf) -> Self {
        let store = OnceCell::new();
        Self {
            kept: Some(Arc::new(Kept { path, store })),
            ..self
        }
    }

    pub(crate) async fn ask(&self, question: String) -> anyhow::Result<Outcome<AnsweringOutput>> {
        let mut call = self.agent.call(AnsweringInput { question });
        if let Some(kept) = &self.kept {
            let store = kept.store.get_or_try_init(|| SqliteStore::open(&kept.path));
            call = call.store(store.await?.clone());
        }
        Ok(call.await?)
    }
}

fn look_up(lookup: Lookup) -> FnTool {
    let find = move |arguments: Arguments, _| {
        let found = lookup.find(&arguments.key);
        async move { Ok::<_, ToolError>(found) }
    };
    FnTool::new("lookup", Lookup::DESCRIPTION, find).read_only()
}

impl Contender for Agent {
    async fn run(&mut self, question: String) -> anyhow::Result<String> {
        Ok(self.ask(question).await?.finished()?.outputs.answer)
    }
}
