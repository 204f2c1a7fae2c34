//! The turns of a script in the words of an adapter.

use std::sync::Arc;

use enact::model::{Capabilities, ScriptStep, calls, fail, say};
use enact::run::{Call, Entry};
use enact::{AdapterChoice, Module, ReAct, values};
use serde_json::Value;

use crate::scenario::{Said, Turn};

/// Where the predictors of an agent stand in its list.
const STEP: usize = 0;
const EXTRACT: usize = 1;
const SUMMARISE: usize = 2;

/// What a model says that speaks the language of this adapter.
pub(crate) fn spoken(agent: &ReAct, adapter: &str, turn: &Turn) -> ScriptStep {
    let said = match &turn.said {
        Said::Text(text) => say(text),
        Said::Fails(kind) => fail(*kind, format!("it failed: {}", kind.as_str())),
        Said::Step {
            thought,
            calls: list,
        } if adapter == "native" => calls(list.clone()).thinking(thought),
        Said::Step { thought, calls } => {
            let calls = calls.iter().map(|(name, args)| Call {
                id: String::new(),
                name: name.clone(),
                args: args.as_object().cloned().unwrap_or_default(),
                raw: args.as_str().map(str::to_owned),
            });
            let entry = Entry::Assistant {
                text: thought.clone(),
                calls: calls.map(Arc::new).collect(),
                opaque: None,
            };
            say(rendered(agent, adapter, STEP, &entry))
        }
        Said::Outputs(values) => say(rendered(agent, adapter, EXTRACT, &outputs(values.clone()))),
        Said::Summary(text) => {
            let values = values! { summary: text };
            say(rendered(agent, adapter, SUMMARISE, &outputs(values)))
        }
    };
    let said = said.costing(turn.usage);
    if turn.is_cut { said.cut_off() } else { said }
}

fn outputs(values: serde_json::Map<String, Value>) -> Entry {
    Entry::Outputs {
        values,
        thought: String::new(),
        call_id: None,
    }
}

fn rendered(agent: &ReAct, adapter: &str, predictor: usize, entry: &Entry) -> String {
    let choice: AdapterChoice = adapter.parse().unwrap();
    let words = choice.resolve(Capabilities::TEXT);
    let task = agent.predictors()[predictor].1.task().clone();
    words.render(&task, entry)[0].text()
}
