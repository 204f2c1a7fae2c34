//! Defaults for modules: the model, the adapter, and more.
//!
//! Settings of a module or predictor take precedence over those of a [`scope`], which take precedence
//! over the global ones set with [`configure`].

use std::sync::{Arc, LazyLock, PoisonError, RwLock};

use crate::adapter::AdapterChoice;
use crate::model::{LanguageModel, Secrets};
use crate::run::SealKey;
use crate::telemetry::CAPTURE_VARIABLE;

/// Defaults for modules: model and adapter, content in spans, secrets, and the key that seals
/// runs.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// use enact::adapter::Native;
/// use enact::model::{ScriptedModel, say};
/// use enact::{Predict, Settings, scope, values};
///
/// let qa = Predict::builder("question -> answer").build()?;
/// let settings = Settings::new().model(ScriptedModel::new([say("Paris")])).adapter(Native);
/// let done = scope(settings, async {
///     qa.call(values! { question: "Capital of France?" }).await?.finished()
/// });
/// assert_eq!(done.await?.outputs["answer"], "Paris");
/// # Ok::<_, enact::Error>(()) })?; Ok::<_, Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Settings {
    pub(crate) model: Option<Arc<dyn LanguageModel>>,
    pub(crate) adapter: Option<AdapterChoice>,
    content_in_spans: Option<bool>,
    pub(crate) secrets: Option<Secrets>,
    pub(crate) seal_key: Option<SealKey>,
}

impl Settings {
    /// Creates empty settings.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the model.
    #[must_use]
    pub fn model(mut self, model: impl LanguageModel + 'static) -> Self {
        self.model = Some(Arc::new(model));
        self
    }

    /// Sets the adapter.
    #[must_use]
    pub fn adapter(mut self, adapter: impl Into<AdapterChoice>) -> Self {
        self.adapter = Some(adapter.into());
        self
    }

    /// Includes prompts, arguments and observations in the [spans](crate::telemetry) of a run, or
    /// excludes them. Off by default, unless
    /// [`CAPTURE_VARIABLE`](crate::telemetry::CAPTURE_VARIABLE) turns it on.
    #[must_use]
    pub fn content_in_spans(mut self, is_wanted: bool) -> Self {
        self.content_in_spans = Some(is_wanted);
        self
    }

    /// Sets values to keep out of runs: logs, prompts, updates and [spans](crate::telemetry) contain
    /// `[redacted]` instead, wherever the values come from: inputs, tools, people or models. A tool that
    /// needs a secret must not get it from its arguments.
    #[must_use]
    pub fn secrets(mut self, secrets: Secrets) -> Self {
        self.secrets = Some(secrets);
        self
    }

    /// Sets a key that seals every new run, so that [`Run::is_sealed_by`](crate::Run::is_sealed_by)
    /// recognises it later.
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

/// Sets the global defaults of the program. This is enact's only global state.
pub fn configure(settings: Settings) {
    *GLOBAL.write().unwrap_or_else(PoisonError::into_inner) = settings;
}

/// Runs a future with settings that override the global ones and those of outer scopes. Tasks that
/// the future spawns don't inherit them.
pub async fn scope<F: Future>(settings: Settings, future: F) -> F::Output {
    let settings = match SCOPED.try_with(Clone::clone) {
        Ok(outer) => settings.over(&outer),
        Err(_) => settings,
    };
    SCOPED.scope(settings, future).await
}

/// The future with the current settings, for a separate task.
pub(crate) fn inherit<F: Future + Send>(future: F) -> impl Future<Output = F::Output> + Send {
    let scoped = SCOPED.try_with(Clone::clone).unwrap_or_default();
    SCOPED.scope(scoped, future)
}

/// The current settings.
pub(crate) fn current() -> Settings {
    let global = GLOBAL.read().unwrap_or_else(PoisonError::into_inner);
    match SCOPED.try_with(Clone::clone) {
        Ok(scoped) => scoped.over(&global),
        Err(_) => global.clone(),
    }
}

/// The current secrets, for code that writes files besides the log.
pub fn secrets() -> Secrets {
    current().secrets.unwrap_or_default()
}

/// Whether spans currently contain content.
pub(crate) fn has_content_in_spans() -> bool {
    static ASKED_FOR: LazyLock<bool> =
        LazyLock::new(|| std::env::var(CAPTURE_VARIABLE).is_ok_and(|text| is_yes(&text)));
    current().content_in_spans.unwrap_or_else(|| *ASKED_FOR)
}

/// The variable has further values for where content goes; those that include spans mean yes.
fn is_yes(text: &str) -> bool {
    ["true", "span_only", "span_and_event"]
        .iter()
        .any(|word| text.trim().eq_ignore_ascii_case(word))
}
