//! The adapters of a run's predictors.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::adapter::{Adapter, AdapterChoice};
use crate::model::Capabilities;
use crate::run::PredictorName;

/// The adapters of a run's predictors, and the capabilities of their models.
#[derive(Debug, Clone)]
pub struct Wording {
    usual: Voice,
    others: BTreeMap<PredictorName, Voice>,
}

#[derive(Debug, Clone)]
struct Voice {
    adapter: Arc<dyn Adapter>,
    capabilities: Capabilities,
    /// Whether another adapter can replace it.
    is_auto: bool,
}

impl Voice {
    fn new(choice: &AdapterChoice, capabilities: Capabilities) -> Self {
        Self {
            adapter: choice.resolve(capabilities),
            capabilities,
            is_auto: matches!(choice, AdapterChoice::Auto),
        }
    }

    /// With a model that turned out to do no more than this, and the adapter for it.
    fn lower(&mut self, adapter: &str, capabilities: Capabilities) {
        self.capabilities = capabilities;
        if self.is_auto {
            let named = adapter.parse().unwrap_or(AdapterChoice::Auto);
            self.adapter = named.resolve(capabilities);
        }
    }
}

impl Wording {
    /// One adapter for all predictors.
    pub fn new(choice: &AdapterChoice, capabilities: Capabilities) -> Self {
        Self {
            usual: Voice::new(choice, capabilities),
            others: BTreeMap::new(),
        }
    }

    /// Sets another adapter for this predictor.
    #[must_use]
    pub fn with(
        mut self,
        predictor: PredictorName,
        choice: &AdapterChoice,
        capabilities: Capabilities,
    ) -> Self {
        self.others
            .insert(predictor, Voice::new(choice, capabilities));
        self
    }

    fn of(&self, predictor: PredictorName) -> &Voice {
        self.others.get(&predictor).unwrap_or(&self.usual)
    }

    fn of_mut(&mut self, predictor: PredictorName) -> &mut Voice {
        self.others.get_mut(&predictor).unwrap_or(&mut self.usual)
    }

    pub(super) fn adapter(&self, predictor: PredictorName) -> &dyn Adapter {
        &*self.of(predictor).adapter
    }

    pub(super) fn capabilities(&self, predictor: PredictorName) -> Capabilities {
        self.of(predictor).capabilities
    }

    /// Whether a predictor with `auto` calls natively, and could do so in text.
    pub(super) fn may_write_calls(&self, predictor: PredictorName) -> bool {
        let voice = self.of(predictor);
        voice.is_auto && voice.capabilities.tools
    }

    /// The adapter of a predictor for a model with only these capabilities.
    pub(super) fn adapter_with(&self, predictor: PredictorName, can: Capabilities) -> String {
        let voice = self.of(predictor);
        match voice.is_auto {
            true => AdapterChoice::Auto.resolve(can).name().to_owned(),
            false => voice.adapter.name().to_owned(),
        }
    }

    /// A predictor's model does no more than this; neither does that of others with the same words.
    pub(super) fn lower(
        &mut self,
        predictor: PredictorName,
        adapter: &str,
        capabilities: Capabilities,
    ) {
        let before = self.of(predictor).adapter.name().to_owned();
        for voice in self.others.values_mut() {
            if voice.is_auto && voice.adapter.name() == before {
                voice.lower(adapter, capabilities);
            }
        }
        self.of_mut(predictor).lower(adapter, capabilities);
    }

    /// Stops enforcing a response schema for a predictor.
    pub(super) fn drop_schema(&mut self, predictor: PredictorName) {
        let voice = self.of_mut(predictor);
        voice.capabilities = voice.capabilities.with_response_schema(false);
    }
}
