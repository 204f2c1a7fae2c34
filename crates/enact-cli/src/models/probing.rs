//! Probes the capabilities of a model before its first request.

use std::sync::Arc;
use std::time::Duration;

use enact::LanguageModel;
use enact::model::{Capabilities, ModelError, ModelErrorKind, WithCapabilities, probe};

use super::choice::variable;
use super::memory::{Memory, Probe};
use crate::agent::Agent;
use crate::args::AgentArgs;
use crate::view::{Ink, Screen, Stream, text};

/// The variable that disables probing.
const VARIABLE: &str = "ENACT_PROBE";
/// How long a probe can take before a message is shown.
const SILENCE: Duration = Duration::from_secs(1);

/// Whether and how models are probed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Probing {
    /// Trust what models claim.
    Off,
    /// Use stored results; send no requests.
    Remembered,
    /// Probe models without a stored result, within this time.
    Once(Duration),
    /// Probe again, even if there is a result.
    Again(Duration),
}

impl Probing {
    /// How long a user waits for a run to start.
    pub(crate) const PATIENCE: Duration = Duration::from_secs(120);

    /// The setting of the flags, else of the environment.
    pub(crate) fn said(args: &AgentArgs, patience: Duration) -> Self {
        if args.asking.probe_again {
            return Self::Again(patience);
        }
        let off = variable(VARIABLE).map(|value| value.to_lowercase());
        let off = off.is_some_and(|value| ["off", "no", "false", "0"].contains(&&*value));
        match args.asking.no_probe || off {
            true => Self::Off,
            false => Self::Once(patience),
        }
    }

    /// The setting for an agent, which may disable probing, or whose adapter may not need it.
    pub(crate) fn of(self, agent: &Agent) -> Self {
        let adapter = agent.asking.adapter.as_deref();
        let is_auto = adapter.is_none_or(|adapter| adapter.trim() == "auto");
        // Flags override the file.
        let is_wanted = agent.asking.probe != Some(false) || matches!(self, Self::Again(_));
        match is_auto && is_wanted {
            true => self,
            false => Self::Off,
        }
    }

    /// The setting for a model that may never be asked.
    pub(crate) fn without_asking(self) -> Self {
        match self {
            Self::Off => Self::Off,
            _ => Self::Remembered,
        }
    }

    /// Adds the probe result to the model. Prints a line if it was probed.
    pub(crate) async fn apply(self, model: Arc<dyn LanguageModel>) -> Arc<dyn LanguageModel> {
        // The capabilities of local and hosted models are known.
        let Some(base_url) = model.base_url().map(str::to_owned) else {
            return model;
        };
        if self == Self::Off || enact_providers::is_hosted(&base_url) {
            return model;
        }
        let memory = Memory::open();
        let known = memory
            .as_ref()
            .filter(|_| !matches!(self, Self::Again(_)))
            .and_then(|memory| memory.find(&base_url, model.name()));
        let found = match (known, self) {
            (Some(known), _) => Some(known.found),
            (None, Self::Once(patience) | Self::Again(patience)) => {
                ask(&*model, &base_url, patience, memory.as_ref()).await
            }
            (None, _) => None,
        };
        match found {
            Some(found) => Arc::new(WithCapabilities::new(model, found)),
            None => model,
        }
    }
}

/// Probes a model, and stores the result. `None` for failures that the run itself will meet and
/// report.
async fn ask(
    model: &dyn LanguageModel,
    base_url: &str,
    patience: Duration,
    memory: Option<&Memory>,
) -> Option<Capabilities> {
    let screen = Screen::new(Stream::Stderr);
    let say = |line: String| screen.line(&screen.paint(Ink::Quiet, &text::one_line(&line)));
    let name = model.name();
    match probed(model, base_url, patience, &screen).await {
        Ok(found) => {
            let probe = Probe::new(base_url, name, found);
            let (words, adapter) = (probe.words(), probe.adapter());
            let kept = match memory.map(|memory| memory.keep(probe)) {
                Some(Ok(())) => "stored; `--probe` repeats the probe".to_owned(),
                Some(Err(error)) => format!("not stored: {error}"),
                None => "not stored: set ENACT_PROBES to a file".to_owned(),
            };
            say(format!(
                "probed {name} at {base_url}: it {words}, so the adapter is {adapter} ({kept})"
            ));
            Some(found)
        }
        Err(error) => match error.kind() {
            ModelErrorKind::Connection
            | ModelErrorKind::Authentication
            | ModelErrorKind::NotFound => None,
            _ => {
                say(format!(
                    "could not probe {name} at {base_url}, so the adapter is json for now \
                     (`--adapter` sets another one): {error}"
                ));
                // Most models can return JSON, with or without a schema.
                Some(Capabilities::FULL.with_tools(false))
            }
        },
    }
}

async fn probed(
    model: &dyn LanguageModel,
    base_url: &str,
    patience: Duration,
    screen: &Screen,
) -> Result<Capabilities, ModelError> {
    let probe = tokio::time::timeout(patience, probe(model));
    let mut probe = std::pin::pin!(probe);
    let found = tokio::select! {
        found = &mut probe => found,
        () = tokio::time::sleep(SILENCE) => {
            let name = model.name();
            let line = format!("probing {name} at {base_url}, once (`--no-probe` skips this) …");
            match screen.is_terminal() {
                true => screen.busy(&line),
                false => screen.line(&text::one_line(&line)),
            }
            let found = probe.await;
            screen.idle();
            found
        }
    };
    found.unwrap_or_else(|_| {
        let message = format!("the model did not answer within {patience:?}");
        Err(ModelError::new(ModelErrorKind::Timeout, message))
    })
}
