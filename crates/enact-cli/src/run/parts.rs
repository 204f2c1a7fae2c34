//! The agents that do parts of the work of another, ready to be asked.

use std::sync::Arc;

use enact::model::ScriptedModel;
use enact::{Builder, LanguageModel, Predict, ReAct};

use super::build::{Building, adapter, options};
use crate::agent::{Agent, PartName};
use crate::exit::Failure;

/// What does a part of the work of an agent.
#[derive(Debug, Clone, Default)]
pub(super) struct Parts(Vec<(PartName, Predict)>);

impl Parts {
    /// Those of an agent that is only read.
    pub(super) fn to_read(agent: &Agent) -> Result<Self, Failure> {
        let parts = agent.parts().map(|(name, part)| {
            let model = Arc::new(ScriptedModel::new([]));
            Ok((name, built(name, part, model)?))
        });
        parts.collect::<Result<_, _>>().map(Self)
    }

    /// The agent with those that do its work.
    pub(super) fn attach(&self, builder: Builder<ReAct>) -> Builder<ReAct> {
        self.0.iter().fold(builder, |builder, (name, part)| {
            let part = part.clone();
            match name {
                PartName::Extraction => builder.extraction(part),
                PartName::Compaction => builder.compaction(part),
            }
        })
    }
}

impl Building<'_> {
    /// What does parts of the work of an agent.
    pub(super) async fn parts(&mut self, agent: &Agent) -> Result<Parts, Failure> {
        let mut parts = Vec::new();
        for (name, part) in agent.parts() {
            let model = self.model(part).await?;
            parts.push((name, built(name, part, model)?));
        }
        Ok(Parts(parts))
    }
}

fn built(name: PartName, part: &Agent, model: Arc<dyn LanguageModel>) -> Result<Predict, Failure> {
    let signature = name.signature(&part.signature)?;
    let built = Predict::builder(signature)
        .max_repairs(part.limits.max_repairs)
        .options(options(part))
        .demos(part.demos.clone())
        .adapter(adapter(part, part.asking.adapter.as_deref())?)
        .model(model)
        .build();
    built.map_err(|error| Failure::from(&error))
}
