//! Programs composed of modules, built-in or your own.

use std::pin::Pin;
use std::sync::Arc;

use serde_json::Value;

use super::prediction::Prediction;
use crate::driver::Program;
use crate::error::{Error, ErrorKind};
use crate::model::{ModelError, ModelErrorKind, Reply, Usage};
use crate::predictor::{Predictor, SavedModule, SavedTools};
use crate::signature::{Signature, Values};

/// The result of a program, in the future.
pub type Forward<'a> = Pin<Box<dyn Future<Output = Result<Completed, Error>> + Send + 'a>>;

/// A program: turns the inputs of a signature into its outputs.
///
/// [`Predict`](crate::Predict), [`ChainOfThought`](crate::ChainOfThought) and
/// [`ReAct`](crate::ReAct) are programs. Compose your own from them or from anything else: return its
/// parts, and their predictors are named, tuned, saved and loaded through it. A program can be the
/// [extraction](crate::Builder::extraction) or the [compaction](crate::Builder::compaction) of an
/// agent, and a [tool](crate::ModuleTool).
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// use enact::model::{ScriptedModel, say};
/// use enact::module::{Completed, Forward, Module};
/// use enact::{Predict, Signature, Values, values};
///
/// /// Drafts, then shortens the draft.
/// #[derive(Clone)]
/// struct Brief {
///     draft: Predict,
///     shorten: Predict,
///     signature: Signature,
/// }
///
/// impl Module for Brief {
///     fn signature(&self) -> &Signature {
///         &self.signature
///     }
///
///     fn forward(&self, inputs: Values) -> Forward<'_> {
///         Box::pin(async move {
///             let draft = self.draft.forward(inputs).await?;
///             let short = self.shorten.forward(draft.outputs.clone()).await?;
///             Ok(short.after(&draft))
///         })
///     }
///
///     fn parts(&self) -> Vec<(&str, &dyn Module)> {
///         vec![("draft", &self.draft), ("shorten", &self.shorten)]
///     }
///
///     fn parts_mut(&mut self) -> Vec<(&str, &mut dyn Module)> {
///         vec![("draft", &mut self.draft), ("shorten", &mut self.shorten)]
///     }
/// }
///
/// let model = std::sync::Arc::new(ScriptedModel::new([say("A long text."), say("Text.")]));
/// let mut brief = Brief {
///     draft: Predict::builder("topic -> text").model(model.clone()).build()?,
///     shorten: Predict::builder("text -> short").model(model).build()?,
///     signature: Signature::parse("topic -> short")?,
/// };
/// let done = brief.forward(values! { topic: "Rust" }).await?;
/// assert_eq!(done.outputs["short"], "Text.");
/// assert_eq!(done.usage.requests, 2);
///
/// let shorten = brief.predictor_mut("shorten.predict").expect("a part has it");
/// shorten.set_instructions("Ten words at most.");
/// let saved = brief.save();
/// brief.load(&saved)?;
/// # Ok::<_, enact::Error>(()) })?; Ok::<_, Box<dyn std::error::Error>>(())
/// ```
pub trait Module: CloneModule + Send + Sync {
    /// The signature: inputs and outputs.
    fn signature(&self) -> &Signature;

    /// Runs the program.
    fn forward(&self, inputs: Values) -> Forward<'_>;

    /// The kind of program, as named in saved state.
    fn kind(&self) -> &str {
        "program"
    }

    /// The programs that this one consists of, by name.
    fn parts(&self) -> Vec<(&str, &dyn Module)> {
        Vec::new()
    }

    /// Mutable access to the parts.
    fn parts_mut(&mut self) -> Vec<(&str, &mut dyn Module)> {
        Vec::new()
    }

    /// The predictors that belong to no part, by name.
    fn own_predictors(&self) -> Vec<(&str, &Predictor)> {
        Vec::new()
    }

    /// Mutable access to these predictors.
    fn own_predictors_mut(&mut self) -> Vec<(&str, &mut Predictor)> {
        Vec::new()
    }

    /// The tools of this program, besides those of its parts.
    fn own_tools(&self) -> Option<SavedTools> {
        None
    }

    /// All predictors by name. A predictor of a part is named `part.predictor`.
    fn predictors(&self) -> Vec<(String, &Predictor)> {
        let own = self.own_predictors().into_iter();
        let mut all: Vec<_> = own.map(|(name, own)| (name.to_owned(), own)).collect();
        for (part, module) in self.parts() {
            let inner = module.predictors().into_iter();
            all.extend(inner.map(|(name, inner)| (format!("{part}.{name}"), inner)));
        }
        all
    }

    /// The predictor with this name, for tuning.
    fn predictor_mut(&mut self, name: &str) -> Option<&mut Predictor> {
        if let Some((part, rest)) = name.split_once('.') {
            let mut parts = self.parts_mut().into_iter();
            let (_, module) = parts.find(|(known, _)| *known == part)?;
            return module.predictor_mut(rest);
        }
        let mut own = self.own_predictors_mut().into_iter();
        own.find(|(known, _)| *known == name)
            .map(|(_, predictor)| predictor)
    }

    /// Returns the tuned state of this program and its parts, to be stored as JSON.
    fn save(&self) -> SavedModule {
        let mut saved = SavedModule::of(self.kind(), &self.own_predictors(), self.own_tools());
        for (name, part) in self.parts() {
            saved.parts.insert(name.to_owned(), part.save());
        }
        saved
    }

    /// Loads saved state. On failure nothing is changed, and the error names what doesn't
    /// fit.
    fn load(&mut self, saved: &SavedModule) -> Result<(), Error> {
        self.check_saved(saved)?;
        self.take_saved(saved)
    }

    /// Checks whether saved state fits.
    #[doc(hidden)]
    fn check_saved(&self, saved: &SavedModule) -> Result<(), Error> {
        saved.restore(self.kind(), &self.own_predictors(), self.own_tools())?;
        let parts = self.parts();
        saved.check_parts(parts.iter().map(|(name, _)| *name))?;
        for (name, part) in parts {
            if let Some(saved) = saved.parts.get(name) {
                part.check_saved(saved)?;
            }
        }
        Ok(())
    }

    #[doc(hidden)]
    fn take_saved(&mut self, saved: &SavedModule) -> Result<(), Error> {
        let restored = saved.restore(self.kind(), &self.own_predictors(), self.own_tools())?;
        let own = self.own_predictors_mut().into_iter();
        for ((_, predictor), restored) in own.zip(restored) {
            *predictor = restored;
        }
        for (name, part) in self.parts_mut() {
            if let Some(saved) = saved.parts.get(name) {
                part.take_saved(saved)?;
            }
        }
        Ok(())
    }
}

/// The result of a program.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Completed {
    /// Its outputs by name.
    pub outputs: Values,
    /// Tokens and requests spent.
    pub usage: Usage,
    /// Their cost, as far as prices are known.
    pub cost: f64,
}

impl Completed {
    /// Outputs without usage or cost.
    pub fn new(outputs: Values) -> Self {
        Self {
            outputs,
            ..Self::default()
        }
    }

    /// Adds the usage and cost of an earlier part.
    #[must_use]
    pub fn after(mut self, earlier: &Self) -> Self {
        self.usage += earlier.usage;
        self.cost += earlier.cost;
        self
    }
}

impl<O> From<Prediction<O>> for Completed {
    fn from(prediction: Prediction<O>) -> Self {
        Self {
            usage: prediction.usage,
            cost: prediction.run().cost().unwrap_or_default(),
            outputs: prediction.values().clone(),
        }
    }
}

/// Cloning behind a trait object: implemented for every program that is `Clone`.
pub trait CloneModule {
    #[doc(hidden)]
    fn clone_module(&self) -> Arc<dyn Module>;
}

impl<M: Module + Clone + 'static> CloneModule for M {
    fn clone_module(&self) -> Arc<dyn Module> {
        Arc::new(self.clone())
    }
}

/// A program inside another. Clones share it until one of them changes it.
#[derive(Clone)]
pub(super) struct Part(Arc<dyn Module>);

impl Part {
    pub(super) fn new(module: impl Module + 'static) -> Self {
        Self(Arc::new(module))
    }

    pub(super) fn get(&self) -> &Arc<dyn Module> {
        &self.0
    }

    /// The program in the form that the driver uses.
    pub(super) fn as_program(&self) -> Arc<Program> {
        let module = Arc::clone(&self.0);
        Arc::new(move |inputs| {
            let module = Arc::clone(&module);
            Box::pin(async move { reply_of(&*module, inputs).await })
        })
    }

    pub(super) fn make_mut(&mut self) -> Option<&mut dyn Module> {
        if Arc::get_mut(&mut self.0).is_none() {
            self.0 = self.0.clone_module();
        }
        Arc::get_mut(&mut self.0).map(|module| module as &mut dyn Module)
    }
}

/// Runs a program, and returns its outputs as a model's reply.
async fn reply_of(module: &dyn Module, mut inputs: Values) -> Result<Reply, ModelError> {
    let fields = module.signature().inputs();
    inputs.retain(|name, _| fields.iter().any(|field| field.name == *name));
    match module.forward(inputs).await {
        Ok(done) => {
            let mut reply = Reply::text(Value::Object(done.outputs).to_string());
            reply.usage = done.usage;
            // A program whose models have no known price is priced by the agent, like a model.
            reply.cost = (done.cost > 0.0).then_some(done.cost);
            Ok(reply)
        }
        Err(error) => {
            let kind = match error.kind() {
                ErrorKind::Model(kind) => kind,
                _ => ModelErrorKind::Protocol,
            };
            Err(ModelError::new(kind, error.to_string()).with_source(error))
        }
    }
}

impl std::fmt::Debug for Part {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Part")
            .field(&self.0.signature().arrow())
            .finish()
    }
}
