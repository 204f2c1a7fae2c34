//! The models of a command: real, or replayed from a recording.

use std::sync::Arc;

use enact::LanguageModel;
use enact::model::Replaying;

use crate::agent::Agent;
use crate::args::{AgentArgs, Pace, RecordingArgs};
use crate::exit::Failure;
use crate::models::{
    self, Named, Probing, Tape, connect, joined, recorded_address, recorded_models,
};

/// The models of an agent, combined, and what else is asked.
pub(super) struct Asked {
    pub(super) model: Arc<dyn LanguageModel>,
    /// The models, the first choice first, each with its address.
    pub(super) models: Vec<Named>,
    /// The server for models without a provider.
    pub(super) address: Option<String>,
    pub(super) tape: Tape,
}

impl Asked {
    /// The models of the flags or the agent; else the default.
    pub(super) async fn choose(
        args: &AgentArgs,
        agent: &Agent,
        probing: Probing,
    ) -> Result<Self, Failure> {
        if let Some(replaying) = Tape::to_replay(&args.recording)? {
            let models = recorded_models(&replaying)?;
            let address = recorded_address(&replaying);
            let replaying = match args.replay_loosely {
                true => replaying.loosely(),
                false => replaying,
            };
            return Ok(Self::replayed(replaying, models, address));
        }
        let choice = models::choose(args, agent).await?;
        let address = models::address(args.asking.base_url.as_deref());
        let (pace, probing) = (&agent.replies.pace, probing.of(agent));
        let asked = Self::named(&choice.models, pace, address, &args.recording, probing).await?;
        choice.tell();
        Ok(asked)
    }

    fn replayed(replaying: Replaying, models: Vec<Named>, address: Option<String>) -> Self {
        Self {
            model: Arc::new(replaying.clone()),
            models,
            address,
            tape: Tape::Replays(replaying),
        }
    }

    /// These models, recorded or replayed if requested.
    pub(super) async fn named(
        models: &[Named],
        pace: &Pace,
        address: Option<String>,
        recording: &RecordingArgs,
        probing: Probing,
    ) -> Result<Self, Failure> {
        if let Some(replaying) = Tape::to_replay(recording)? {
            return Ok(Self::replayed(replaying, models.to_vec(), address));
        }
        let (model, models) = connected(models, pace, probing).await?;
        let (model, tape) = Tape::around(model, &models, address.as_deref(), recording)?;
        Ok(Self {
            model,
            models,
            address,
            tape,
        })
    }
}

/// Combines models, the first choice first, and returns the address of each.
pub(super) async fn connected(
    models: &[Named],
    pace: &Pace,
    probing: Probing,
) -> Result<(Arc<dyn LanguageModel>, Vec<Named>), Failure> {
    let clients = models.iter().map(connect);
    let clients = clients.collect::<Result<Vec<_>, Failure>>()?;
    let found = models.iter().zip(&clients).map(|(named, client)| Named {
        name: named.full_name(),
        base_url: client.base_url().map(str::to_owned),
    });
    let found = found.collect();
    let mut clients = clients.into_iter();
    let Some(first) = clients.next() else {
        return Err(Failure::usage("no_model", "no model is set"));
    };
    let first = probing.apply(first).await;
    let mut others = Vec::new();
    for client in clients {
        // A fallback may never be asked and may not be available: that must not affect the first model.
        others.push(probing.without_asking().apply(client).await);
    }
    Ok((joined(first, others, pace)?, found))
}

/// A further model, such as a judge.
pub(super) fn another(name: &str, agent: &Agent) -> Result<Arc<dyn LanguageModel>, Failure> {
    let mut named = Named::at(name, None);
    if !named.has_provider() {
        named.base_url = models::address(agent.asking.base_url.as_deref());
    }
    joined(connect(&named)?, Vec::new(), &agent.replies.pace)
}
