//! rig's agent at the work of the bench.

use std::convert::Infallible;

use clap::Parser;
use measure::{Contender, INSTRUCTIONS, Lookup, Work};
use rig_agent::prelude::*;
use rig_agent::tool::ToolContext;
use rig_core::providers::openai::{OpenAIConfig, Route};
use serde_json::json;

/// rig's agent at the work of the bench.
#[derive(Parser)]
struct Options {
    #[command(flatten)]
    work: Work,
}

struct Find(Lookup);

#[derive(serde::Deserialize)]
struct Arguments {
    key: String,
}

impl Tool for Find {
    const NAME: &'static str = "lookup";
    type Error = Infallible;
    type Args = Arguments;
    type Output = String;

    fn description(&self) -> String {
        Lookup::DESCRIPTION.into()
    }

    fn parameters(&self) -> serde_json::Value {
        json!({
            "type": "object",
            "properties": {"key": {"type": "string"}},
            "required": ["key"],
        })
    }

    async fn call(&self, _: &mut ToolContext, args: Arguments) -> Result<String, Infallible> {
        Ok(self.0.find(&args.key))
    }
}

#[derive(Clone)]
struct Rig {
    agent: Agent,
    steps: usize,
}

impl Contender for Rig {
    async fn run(&mut self, question: String) -> anyhow::Result<String> {
        let ended = self.agent.prompt(question).max_turns(self.steps).await?;
        Ok(ended.output())
    }
}

fn main() -> anyhow::Result<()> {
    let work = Options::parse().work;
    measure::measure("rig", &work, |lookup| {
        let model = OpenAIConfig::new("none")
            .with_base_url(&work.base_url)
            .with_route(Route::Chat)
            .client()
            .completion("bench");
        Ok(Rig {
            agent: AgentBuilder::new(model)
                .preamble(INSTRUCTIONS)
                .tool(Find(lookup))
                .build(),
            steps: work.steps,
        })
    })
}
