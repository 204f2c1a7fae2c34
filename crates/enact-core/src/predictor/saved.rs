//! Saved state: the tuned parts of a module, as JSON.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::{Demo, Predictor};
use crate::model::ModelOptions;
use crate::run::canonical_json;
use crate::signature::{SignatureError, SignatureState};
use crate::tool::ToolSpec;

/// The version of saved state that this release writes.
const VERSION: u32 = 1;

/// The saved state of a module. It doesn't contain the descriptions of tools: they come from the current
/// tools, and a fingerprint identifies the tools that the state was made with.
///
/// ```
/// use enact::{Module as _, Predict};
///
/// let qa = Predict::builder("question -> answer").instructions("Answer briefly.").build()?;
/// let saved = serde_json::to_string(&qa.save())?;
///
/// let restored = Predict::builder("question -> answer").load(serde_json::from_str(&saved)?).build()?;
/// assert_eq!(serde_json::to_string(&restored.save())?, saved);
/// # Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SavedModule {
    /// The version of the format.
    pub version: u32,
    /// The kind of module: `predict`, `chain_of_thought` or `react`, or the kind of a custom program.
    pub module: String,
    /// The state of each predictor by name.
    pub predictors: BTreeMap<String, SavedPredictor>,
    /// The tools that the state was made with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tools: Option<SavedTools>,
    /// The state of the module's parts, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub parts: BTreeMap<String, SavedModule>,
}

/// The saved state of a predictor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SavedPredictor {
    /// Instructions and field descriptions.
    pub signature: SignatureState,
    /// Demonstrations.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub demos: Vec<Demo>,
    /// The sampling options.
    #[serde(default)]
    pub options: ModelOptions,
}

/// The tools that a saved state was made with: name to fingerprint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SavedTools(BTreeMap<String, String>);

/// Saved state that doesn't fit the module.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StateError {
    /// The state was written by a newer release.
    #[error("the saved state has version {0}; this enact reads up to {VERSION}: use a newer one")]
    Version(u32),
    /// The state belongs to another kind of module.
    #[error("the saved state is of a `{found}` module, not of `{expected}`")]
    Module {
        /// The kind in the state.
        found: String,
        /// The kind of the module.
        expected: String,
    },
    /// The predictors differ.
    #[error("the saved state has the predictors {found:?}, the module has {expected:?}")]
    Predictors {
        /// The predictors in the state.
        found: Vec<String>,
        /// The predictors of the module.
        expected: Vec<String>,
    },
    /// The parts differ.
    #[error("the saved state has the parts {found:?}, the module has {expected:?}")]
    Parts {
        /// The parts in the state.
        found: Vec<String>,
        /// The parts of the module.
        expected: Vec<String>,
    },
    /// The fields differ.
    #[error("predictor `{predictor}`: {source}")]
    Signature {
        /// The predictor.
        predictor: String,
        /// The difference.
        source: SignatureError,
    },
    /// The tools differ.
    #[error("the saved state was made with other tools: {0}")]
    Tools(String),
}

impl SavedTools {
    /// The fingerprints of these tools.
    pub fn of<'a>(specs: impl IntoIterator<Item = &'a ToolSpec>) -> Self {
        Self(
            specs
                .into_iter()
                .map(|spec| (spec.name.clone(), fingerprint(spec)))
                .collect(),
        )
    }

    fn compare(&self, current: &Self) -> Result<(), StateError> {
        let mut differences = Vec::new();
        for (name, print) in &self.0 {
            match current.0.get(name) {
                None => differences.push(format!("`{name}` is gone")),
                Some(other) if other != print => differences.push(format!("`{name}` has changed")),
                Some(_) => {}
            }
        }
        let new = current.0.keys().filter(|name| !self.0.contains_key(*name));
        differences.extend(new.map(|name| format!("`{name}` is new")));
        if differences.is_empty() {
            Ok(())
        } else {
            Err(StateError::Tools(differences.join(", ")))
        }
    }
}

fn fingerprint(spec: &ToolSpec) -> String {
    let text = canonical_json(&Value::Array(vec![
        Value::String(spec.name.clone()),
        Value::String(spec.description.clone()),
        spec.parameters.clone(),
    ]));
    Sha256::digest(text.as_bytes())
        .iter()
        .take(8)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

impl SavedModule {
    /// The state of a module. Instructions are only included if they were tuned, so that improved
    /// built-in ones reach modules that load the state later.
    pub(crate) fn of(
        module: &str,
        predictors: &[(&str, &Predictor)],
        tools: Option<SavedTools>,
    ) -> Self {
        let predictors = predictors
            .iter()
            .map(|(name, predictor)| {
                let mut signature = predictor.signature().state();
                signature.instructions = predictor.tuned_instructions().map(str::to_owned);
                let saved = SavedPredictor {
                    signature,
                    demos: predictor.demos.clone(),
                    options: predictor.options.clone(),
                };
                ((*name).to_owned(), saved)
            })
            .collect();
        Self {
            version: VERSION,
            module: module.to_owned(),
            predictors,
            tools,
            parts: BTreeMap::new(),
        }
    }

    /// Whether these are the parts of the state.
    pub(crate) fn check_parts<'a>(
        &self,
        expected: impl Iterator<Item = &'a str>,
    ) -> Result<(), StateError> {
        let expected: BTreeSet<&str> = expected.collect();
        let found: BTreeSet<&str> = self.parts.keys().map(String::as_str).collect();
        if found == expected {
            return Ok(());
        }
        let owned = |names: BTreeSet<&str>| names.into_iter().map(str::to_owned).collect();
        Err(StateError::Parts {
            found: owned(found),
            expected: owned(expected),
        })
    }

    /// Predictors with this state, or the mismatch. Nothing is changed on failure.
    pub(crate) fn restore(
        &self,
        module: &str,
        predictors: &[(&str, &Predictor)],
        tools: Option<SavedTools>,
    ) -> Result<Vec<Predictor>, StateError> {
        if self.version > VERSION {
            return Err(StateError::Version(self.version));
        }
        if self.module != module {
            return Err(StateError::Module {
                found: self.module.clone(),
                expected: module.to_owned(),
            });
        }
        let expected = predictors.iter().map(|(name, _)| *name);
        let is_known = |name| self.predictors.contains_key(name);
        if !expected.clone().all(is_known) || predictors.len() != self.predictors.len() {
            return Err(StateError::Predictors {
                found: self.predictors.keys().cloned().collect(),
                expected: expected.map(str::to_owned).collect(),
            });
        }
        if let (Some(saved), Some(current)) = (&self.tools, &tools) {
            saved.compare(current)?;
        }
        let restored = predictors.iter().filter_map(|(name, predictor)| {
            let saved = self.predictors.get(*name)?;
            Some(
                saved
                    .restore(predictor)
                    .map_err(|source| StateError::Signature {
                        predictor: (*name).to_owned(),
                        source,
                    }),
            )
        });
        restored.collect()
    }
}

impl SavedPredictor {
    /// The predictor with this state.
    fn restore(&self, predictor: &Predictor) -> Result<Predictor, SignatureError> {
        let mut restored = predictor.clone();
        restored.set_signature(predictor.signature().load_state(&self.signature)?);
        match &self.signature.instructions {
            Some(tuned) => restored.set_instructions(tuned),
            None => restored.restore_instructions(),
        }
        restored.set_demos(self.demos.clone());
        restored.set_options(self.options.clone());
        Ok(restored)
    }
}
