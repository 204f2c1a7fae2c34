//! Recordings: what was asked and answered, written down or given again.

use std::sync::Arc;

use enact::LanguageModel;
use enact::model::recording::RecordingError;
use enact::model::{Recording, Replaying};
use enact::signature::Values;
use serde_json::json;

use super::Named;
use crate::args::RecordingArgs;
use crate::exit::Failure;
use crate::secrets;

/// What the recording notes: the models by their names.
const MODELS: &str = "models";

/// What is done beside asking models, or instead of it.
#[derive(Debug)]
pub(crate) enum Tape {
    Off,
    Records(Box<Recording<Arc<dyn LanguageModel>>>),
    Replays(Replaying),
}

impl Tape {
    /// The recording to answer from, if there shall be one.
    pub(crate) fn to_replay(args: &RecordingArgs) -> Result<Option<Replaying>, Failure> {
        let file = args.replay.as_ref();
        Ok(file.map(Replaying::open).transpose()?)
    }

    /// A model, recorded if that is asked for.
    pub(crate) fn around(
        model: Arc<dyn LanguageModel>,
        models: &[Named],
        args: &RecordingArgs,
    ) -> Result<(Arc<dyn LanguageModel>, Self), Failure> {
        let Some(file) = &args.record else {
            return Ok((model, Self::Off));
        };
        let notes = Values::from_iter([(MODELS.to_owned(), json!(models))]);
        let recording = Recording::to_file(model, file)?
            .with_secrets(secrets::known()?)
            .with_notes(notes);
        Ok((
            Arc::new(recording.clone()),
            Self::Records(Box::new(recording)),
        ))
    }

    /// Another model beside the recorded one: under the name it has at its provider.
    pub(crate) fn beside(
        &self,
        name: &str,
        connect: impl FnOnce() -> Result<Arc<dyn LanguageModel>, Failure>,
    ) -> Result<Arc<dyn LanguageModel>, Failure> {
        match self {
            Self::Off => connect(),
            Self::Records(recording) => Ok(Arc::new(recording.beside(connect()?))),
            Self::Replays(replaying) => {
                let name = enact_genai::split(name).map_or(name, |(_, model)| model);
                Ok(Arc::new(replaying.beside(name)?))
            }
        }
    }
}

/// The models that a recording is of, as they were named.
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

impl From<RecordingError> for Failure {
    fn from(error: RecordingError) -> Self {
        Self::usage("recording", error.to_string())
    }
}
