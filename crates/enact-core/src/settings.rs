//! The model and the adapter that modules use unless they are told otherwise.
//!
//! What is set on a module or a predictor wins over what is set for a [`scope`], which wins over
//! what was [`configure`]d for the program.

use std::sync::{Arc, LazyLock, PoisonError, RwLock};

use crate::adapter::AdapterChoice;
use crate::model::{LanguageModel, Secrets};
use crate::run::SealKey;
use crate::telemetry::CAPTURE_VARIABLE;

/// A model and an adapter for whoever has none of its own, what spans hold, what is kept out of runs,
/// and what seals them.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    pub(crate) model: Option<Arc<dyn LanguageModel>>,
    pub(crate) adapter: Option<AdapterChoice>,
    content_in_spans: Option<bool>,
    pub(crate) secrets: Option<Secrets>,
    pub(crate) seal_key: Option<SealKey>,
}

impl Settings {
    /// Nothing is set.
    pub fn new() -> Self {
        Self::default()
    }

    /// The same with a model.
    #[must_use]
    pub fn model(mut self, model: impl LanguageModel + 'static) -> Self {
        self.model = Some(Arc::new(model));
        self
    }

    /// The same with an adapter.
    #[must_use]
    pub fn adapter(mut self, adapter: impl Into<AdapterChoice>) -> Self {
        self.adapter = Some(adapter.into());
        self
    }

    /// The same, with or without prompts, arguments and observations in the
    /// [spans](crate::telemetry) of a run. Without unless set here or by
    /// [`CAPTURE_VARIABLE`](crate::telemetry::CAPTURE_VARIABLE).
    #[must_use]
    pub fn content_in_spans(mut self, is_wanted: bool) -> Self {
        self.content_in_spans = Some(is_wanted);
        self
    }

    /// The same with values that are kept out of runs: `[redacted]` stands in their place in logs,
    /// prompts, updates and [spans](crate::telemetry). They reach a run by its inputs, its tools, its
    /// people and its models. A tool that needs one takes it from elsewhere than its arguments.
    #[must_use]
    pub fn secrets(mut self, secrets: Secrets) -> Self {
        self.secrets = Some(secrets);
        self
    }

    /// The same with a key that seals every run that begins, so that
    /// [`Run::is_sealed_by`](crate::Run::is_sealed_by) recognises it later.
    #[must_use]
    pub fn seal_key(mut self, key: SealKey) -> Self {
        self.seal_key = Some(key);
        self
    }

    fn over(self, other: &Settings) -> Self {
        Self {
            model: self.model.or_else(|| other.model.clone()),
            adapter: self.adapter.or_else(|| other.adapter.clone()),
            content_in_spans: self.content_in_spans.or(other.content_in_spans),
            secrets: self.secrets.or_else(|| other.secrets.clone()),
            seal_key: self.seal_key.or_else(|| other.seal_key.clone()),
        }
    }
}

static GLOBAL: LazyLock<RwLock<Settings>> = LazyLock::new(RwLock::default);

tokio::task_local! {
    static SCOPED: Settings;
}

/// Sets what the whole program uses. The only global state of enact.
pub fn configure(settings: Settings) {
    *GLOBAL.write().unwrap_or_else(PoisonError::into_inner) = settings;
}

/// Runs a future with settings that win over those of the program and of outer scopes.
/// Tasks that the future spawns do not inherit them.
pub async fn scope<F: Future>(settings: Settings, future: F) -> F::Output {
    let settings = match SCOPED.try_with(Clone::clone) {
        Ok(outer) => settings.over(&outer),
        Err(_) => settings,
    };
    SCOPED.scope(settings, future).await
}

/// The future with the settings that are in force here, for a task of its own.
pub(crate) fn inherit<F: Future + Send>(future: F) -> impl Future<Output = F::Output> + Send {
    let scoped = SCOPED.try_with(Clone::clone).unwrap_or_default();
    SCOPED.scope(scoped, future)
}

/// The settings in force here.
pub(crate) fn current() -> Settings {
    let global = GLOBAL.read().unwrap_or_else(PoisonError::into_inner);
    match SCOPED.try_with(Clone::clone) {
        Ok(scoped) => scoped.over(&global),
        Err(_) => global.clone(),
    }
}

/// What is kept out of runs here, for whoever writes down something beside them.
pub fn secrets() -> Secrets {
    current().secrets.unwrap_or_default()
}

/// Whether spans hold content here.
pub(crate) fn has_content_in_spans() -> bool {
    static ASKED_FOR: LazyLock<bool> =
        LazyLock::new(|| std::env::var(CAPTURE_VARIABLE).is_ok_and(|text| is_yes(&text)));
    current().content_in_spans.unwrap_or_else(|| *ASKED_FOR)
}

/// The variable knows further words for where content goes; those that name spans are a yes.
fn is_yes(text: &str) -> bool {
    ["true", "span_only", "span_and_event"]
        .iter()
        .any(|word| text.trim().eq_ignore_ascii_case(word))
}
