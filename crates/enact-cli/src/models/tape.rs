//! Recordings: exchanges with models, recorded or replayed.

use std::sync::Arc;

use enact::LanguageModel;
use enact::model::recording::RecordingError;
use enact::model::{
    Capabilities, ModelError, ModelErrorKind, ModelInfo, Recording, Replaying, ReplyStream, Request,
};
use enact::signature::Values;
use futures_util::stream;
use serde_json::{Value, json};

use super::Named;
use super::connect::stored_address;
use crate::args::RecordingArgs;
use crate::exit::Failure;

/// What the recording notes: the names of the models, and the server for those without
/// a provider.
const MODELS: &str = "models";
const ADDRESS: &str = "address";

/// Whether exchanges are recorded or replayed.
#[derive(Debug)]
pub(crate) enum Tape {
    Off,
    Records(Box<Recording<Arc<dyn LanguageModel>>>),
    Replays(Replaying),
}

impl Tape {
    /// The recording to reply from, if one is set.
    pub(crate) fn to_replay(args: &RecordingArgs) -> Result<Option<Replaying>, Failure> {
        let file = args.replay.as_ref();
        Ok(file.map(Replaying::open).transpose()?)
    }

    /// Wraps a model so that it is recorded, if requested.
    pub(crate) fn around(
        model: Arc<dyn LanguageModel>,
        models: &[Named],
        address: Option<&str>,
        args: &RecordingArgs,
    ) -> Result<(Arc<dyn LanguageModel>, Self), Failure> {
        let Some(file) = &args.record else {
            return Ok((model, Self::Off));
        };
        let mut notes = Values::from_iter([(MODELS.to_owned(), json!(models))]);
        if let Some(address) = address {
            notes.insert(ADDRESS.to_owned(), stored_address(address).into());
        }
        let recording = Recording::to_file(model, file)?
            .with_secrets(enact::secrets())
            .with_notes(notes);
        Ok((
            Arc::new(recording.clone()),
            Self::Records(Box::new(recording)),
        ))
    }

    /// Wraps a further model, under the name it has at its provider.
    pub(crate) fn beside(
        &self,
        name: &str,
        connect: impl FnOnce() -> Result<Arc<dyn LanguageModel>, Failure>,
    ) -> Result<Arc<dyn LanguageModel>, Failure> {
        match self {
            Self::Off => connect(),
            Self::Records(recording) => Ok(Arc::new(recording.beside(connect()?))),
            Self::Replays(replaying) => Ok(Arc::new(replaying.beside(at_provider(name))?)),
        }
    }

    /// A recorded model that may never be asked, such as that of a member; none
    /// without a replay.
    pub(crate) fn replayed(&self, name: &str) -> Result<Option<Arc<dyn LanguageModel>>, Failure> {
        let Self::Replays(replaying) = self else {
            return Ok(None);
        };
        Ok(Some(match replaying.beside(at_provider(name)) {
            Err(problem @ RecordingError::NoModel { .. }) => Arc::new(Unheard {
                name: at_provider(name).to_owned(),
                problem: problem.to_string(),
            }),
            known => Arc::new(known?),
        }))
    }
}

fn at_provider(name: &str) -> &str {
    enact_providers::split(name).map_or(name, |(_, model)| model)
}

/// A model without recorded replies: it fails.
#[derive(Debug)]
struct Unheard {
    name: String,
    problem: String,
}

impl LanguageModel for Unheard {
    fn info(&self) -> ModelInfo<'_> {
        ModelInfo::new(&self.name, Capabilities::TEXT)
    }

    fn stream(&self, _: Request) -> ReplyStream<'_> {
        let problem = ModelError::new(ModelErrorKind::InvalidRequest, self.problem.clone());
        Box::pin(stream::iter([Err(problem)]))
    }
}

/// The models of a recording, as they were named.
pub(crate) fn recorded_models(replaying: &Replaying) -> Result<Vec<Named>, Failure> {
    let named: Vec<Named> = match replaying.notes().get(MODELS) {
        Some(noted) => serde_json::from_value(noted.clone())
            .map_err(|error| Failure::failed("recording", format!("its notes: {error}")))?,
        None => Vec::new(),
    };
    if !named.is_empty() {
        return Ok(named);
    }
    Ok(vec![Named {
        name: replaying.name().to_owned(),
        base_url: replaying.base_url().map(str::to_owned),
    }])
}

/// The server for models without a provider at the time of the recording.
pub(crate) fn recorded_address(replaying: &Replaying) -> Option<String> {
    let address = replaying.notes().get(ADDRESS).and_then(Value::as_str);
    address.map(str::to_owned)
}

impl From<RecordingError> for Failure {
    fn from(error: RecordingError) -> Self {
        Self::usage("recording", error.to_string())
    }
}
