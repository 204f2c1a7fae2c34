//! How the predictors of a run are put into words.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::adapter::Adapter;
use crate::model::Capabilities;
use crate::run::PredictorName;

/// How the predictors of a run are put into words, and what their models can do.
#[derive(Debug, Clone)]
pub struct Wording {
    usual: (Arc<dyn Adapter>, Capabilities),
    others: BTreeMap<PredictorName, (Arc<dyn Adapter>, Capabilities)>,
}

impl Wording {
    /// All in the same words.
    pub fn new(adapter: Arc<dyn Adapter>, capabilities: Capabilities) -> Self {
        Self {
            usual: (adapter, capabilities),
            others: BTreeMap::new(),
        }
    }

    /// The same, with other words for this predictor.
    #[must_use]
    pub fn with(
        mut self,
        predictor: PredictorName,
        adapter: Arc<dyn Adapter>,
        capabilities: Capabilities,
    ) -> Self {
        self.others.insert(predictor, (adapter, capabilities));
        self
    }

    fn of(&self, predictor: PredictorName) -> &(Arc<dyn Adapter>, Capabilities) {
        self.others.get(&predictor).unwrap_or(&self.usual)
    }

    pub(super) fn adapter(&self, predictor: PredictorName) -> &dyn Adapter {
        &*self.of(predictor).0
    }

    pub(super) fn capabilities(&self, predictor: PredictorName) -> Capabilities {
        self.of(predictor).1
    }
}
