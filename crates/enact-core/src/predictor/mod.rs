//! Predictors: a request to a model as two pure functions, rendering and parsing.
//!
//! `Predict` and `ChainOfThought` hold one predictor, `ReAct` holds three by name: `step`,
//! `extract` and `summarise`. Instructions, demonstrations, adapter, model and sampling can be set
//! on each.

mod demo;
mod saved;

use std::sync::Arc;

use crate::adapter::{Adapter, AdapterChoice, Task, Tooling};
use crate::model::{Capabilities, LanguageModel, ModelOptions, Prompt, Request};
use crate::run::Entry;
use crate::signature::{SchemaError, Signature, Validator};

pub use demo::Demo;
pub use saved::{SavedModule, SavedPredictor, SavedTools, StateError};

/// A predictor: a task with its examples, adapter and model.
///
/// ```
/// use enact::{Module as _, ReAct};
///
/// let mut agent = ReAct::builder("question -> answer").build()?;
/// let step = agent.predictor_mut("step").expect("each agent has one");
/// step.set_instructions("Answer in one sentence.");
/// # Ok::<_, enact::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Predictor {
    task: Task,
    /// The original instructions.
    built_in: String,
    demos: Vec<Demo>,
    adapter: Option<AdapterChoice>,
    model: Option<Arc<dyn LanguageModel>>,
    options: ModelOptions,
    note: Option<String>,
}

impl Predictor {
    /// Creates a predictor for a signature, with tools if it chooses calls.
    pub fn new(signature: Signature, tooling: Option<Tooling>) -> Result<Self, SchemaError> {
        let outputs = Arc::new(Validator::new(signature.output_schema())?);
        Ok(Self::with_outputs(signature, tooling, outputs))
    }

    /// The same with a check of the outputs that is known already.
    pub(crate) fn with_outputs(
        signature: Signature,
        tooling: Option<Tooling>,
        outputs: Arc<Validator>,
    ) -> Self {
        Self {
            built_in: signature.instructions().to_owned(),
            task: Task {
                signature,
                outputs,
                tooling,
            },
            demos: Vec::new(),
            adapter: None,
            model: None,
            options: ModelOptions::default(),
            note: None,
        }
    }

    /// The same of a signature whose types enact chose, or that were compiled before.
    pub(crate) fn on_demand(signature: Signature, tooling: Option<Tooling>) -> Self {
        let outputs = Validator::on_demand(signature.output_schema());
        Self::with_outputs(signature, tooling, Arc::new(outputs))
    }

    /// The signature of the request.
    pub fn signature(&self) -> &Signature {
        &self.task.signature
    }

    /// The task, including tools.
    pub fn task(&self) -> &Task {
        &self.task
    }

    /// The demonstrations.
    pub fn demos(&self) -> &[Demo] {
        &self.demos
    }

    /// The adapter set on this predictor, if any.
    pub fn adapter(&self) -> Option<&AdapterChoice> {
        self.adapter.as_ref()
    }

    /// The model set on this predictor, if any.
    pub fn model(&self) -> Option<&Arc<dyn LanguageModel>> {
        self.model.as_ref()
    }

    /// Replaces the instructions.
    pub fn set_instructions(&mut self, instructions: impl Into<String>) {
        self.task.signature = self.task.signature.with_instructions(instructions);
    }

    /// The instructions, if they differ from the original ones.
    pub(crate) fn tuned_instructions(&self) -> Option<&str> {
        let current = self.task.signature.instructions();
        (current != self.built_in).then_some(current)
    }

    /// Restores the original instructions.
    pub(crate) fn restore_instructions(&mut self) {
        if self.tuned_instructions().is_some() {
            self.set_instructions(self.built_in.clone());
        }
    }

    pub(crate) fn set_signature(&mut self, signature: Signature) {
        self.task.signature = signature;
    }

    /// The additional system part; `None` for nothing.
    pub(crate) fn set_note(&mut self, note: Option<String>) {
        self.note = note;
    }

    /// Replaces the demonstrations.
    pub fn set_demos(&mut self, demos: Vec<Demo>) {
        self.demos = demos;
    }

    /// Sets the adapter of this predictor, overriding other settings.
    pub fn set_adapter(&mut self, adapter: impl Into<AdapterChoice>) {
        self.adapter = Some(adapter.into());
    }

    /// Sets the model of this predictor, overriding other settings.
    pub fn set_model(&mut self, model: impl LanguageModel + 'static) {
        self.model = Some(Arc::new(model));
    }

    /// Sets the sampling options.
    pub fn set_options(&mut self, options: ModelOptions) {
        self.options = options;
    }

    /// The sampling options.
    pub fn options(&self) -> &ModelOptions {
        &self.options
    }

    /// The prompt: system part, demonstrations, then these entries.
    pub fn render<'a>(
        &self,
        adapter: &dyn Adapter,
        entries: impl IntoIterator<Item = &'a Entry>,
    ) -> Prompt {
        let mut prompt = Prompt::new();
        let mut text = adapter.system(&self.task);
        if let Some(note) = &self.note {
            text.push_str("\n\n");
            text.push_str(note);
        }
        prompt.push(crate::model::Message::System { text });
        for (number, demo) in self.demos.iter().enumerate() {
            self.render_onto(adapter, &demo.numbered(number), &mut prompt);
        }
        self.render_onto(adapter, entries, &mut prompt);
        prompt
    }

    /// Appends entries to a prompt of this predictor.
    pub fn render_onto<'a>(
        &self,
        adapter: &dyn Adapter,
        entries: impl IntoIterator<Item = &'a Entry>,
        prompt: &mut Prompt,
    ) {
        for entry in entries {
            prompt.extend(adapter.render(&self.task, entry));
        }
    }

    /// The request with a prompt of this predictor.
    pub fn request(
        &self,
        adapter: &dyn Adapter,
        capabilities: Capabilities,
        prompt: Prompt,
    ) -> Request {
        let request = Request::new(prompt).with_options(self.options.clone());
        adapter.shape(&self.task, capabilities, request)
    }
}

impl Predictor {
    /// Copies the settings of another predictor, except its signature.
    pub(crate) fn take_settings(&mut self, other: Predictor) {
        let Self { task, built_in, .. } = self.clone();
        *self = Self {
            task,
            built_in,
            ..other
        };
    }
}
