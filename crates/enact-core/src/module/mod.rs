//! Modules, which users build and call. [`Predict`] asks once, [`ChainOfThought`] reasons before
//! it answers, [`ReAct`] uses tools until the outputs are committed.

mod builder;
mod call;
mod compose;
mod confirmations;
mod core;
mod delegate;
mod handover;
mod module_tool;
mod prediction;
mod prompts;
mod start;
mod stream;

use std::marker::PhantomData;
use std::sync::Arc;

pub use builder::Builder;
pub use call::{
    Answerable, Call, New, ResumeCall, ResumeStoredCall, Resumed, ResumedStored, StartFrom,
};
pub use compose::{CloneModule, Completed, Forward, Module};
pub use confirmations::Confirmations;
pub use delegate::AgentTool;
pub use handover::HandOver;
pub use module_tool::ModuleTool;
pub use prediction::{Outcome, PauseContext, Paused, Prediction};
pub use prompts::Asked;
pub use stream::RunStream;

use self::core::Core;
use crate::error::Error;
use crate::predictor::{Predictor, SavedTools};
use crate::run::Run;
use crate::run::store::Store;
use crate::signature::{Dynamic, Shape, Signature, Values};
use crate::tool::{ToolSpec, Tools};

macro_rules! module {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        pub struct $name<S: Shape = Dynamic> {
            core: Core,
            shape: PhantomData<fn() -> S>,
        }

        impl<S: Shape> $name<S> {
            fn of(core: Core) -> Self {
                Self { core, shape: PhantomData }
            }

            /// The signature: inputs and outputs.
            pub fn signature(&self) -> &Signature {
                &self.core.program().declared
            }

            /// Starts a call. Nothing happens until it is awaited.
            pub fn call(&self, input: S::Input) -> Call<'_, S> {
                Call::new(&self.core, input)
            }

            /// Resumes a run that was paused or interrupted, from its log.
            pub fn resume(&self, run: impl Into<Run>) -> ResumeCall<'_, S> {
                Call::resume(&self.core, run.into())
            }

            /// Resumes a run from a store.
            pub fn resume_stored(
                &self,
                store: impl Store + 'static,
                run_id: impl Into<String>,
            ) -> ResumeStoredCall<'_, S> {
                Call::resume_stored(&self.core, Arc::new(store), run_id.into())
            }
        }

        impl<S: Shape> $name<S> {
            /// Recomputes the requests that a run sent to models, verbatim, from its log. The module has to be
            /// the one that made the run: the log doesn't contain tuned state, demonstrations or
            /// adapters. Secrets are redacted, as in the log.
            ///
            /// # Errors
            /// If the run was made by another module.
            pub fn prompts(&self, run: &Run) -> Result<Vec<Asked>, Error> {
                self.core.prompts(run)
            }
        }

        impl<S: Shape> Module for $name<S> {
            fn signature(&self) -> &Signature {
                &self.core.program().declared
            }

            fn forward(&self, inputs: Values) -> Forward<'_> {
                Box::pin(async move {
                    let call = Call::<Dynamic>::new(&self.core, inputs);
                    Ok(call.await?.finished()?.into())
                })
            }

            fn kind(&self) -> &str {
                self.core.kind()
            }

            fn parts(&self) -> Vec<(&str, &dyn Module)> {
                self.core.parts()
            }

            fn parts_mut(&mut self) -> Vec<(&str, &mut dyn Module)> {
                self.core.parts_mut()
            }

            fn own_predictors(&self) -> Vec<(&str, &Predictor)> {
                self.core.predictors()
            }

            fn own_predictors_mut(&mut self) -> Vec<(&str, &mut Predictor)> {
                self.core.predictors_mut()
            }

            fn own_tools(&self) -> Option<SavedTools> {
                self.core.saved_tools()
            }
        }

        impl<S: Shape> Clone for $name<S> {
            fn clone(&self) -> Self {
                Self::of(self.core.clone())
            }
        }

        impl<S: Shape> std::fmt::Debug for $name<S> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_tuple(stringify!($name)).field(&self.signature().arrow()).finish()
            }
        }
    };
}

module! {
    /// Asks a model once for the outputs of a signature.
    ///
    /// ```
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
    /// use enact::model::{ScriptedModel, say};
    /// use enact::{Predict, values};
    ///
    /// let qa = Predict::builder("question -> answer")
    ///     .model(ScriptedModel::new([say("Paris")]))
    ///     .build()?;
    /// let prediction = qa.call(values! { question: "Capital of France?" }).await?.finished()?;
    /// assert_eq!(prediction.outputs["answer"], "Paris");
    /// # Ok::<_, enact::Error>(()) })?; Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    Predict
}

module! {
    /// Asks a model to reason, then for the outputs of a signature.
    ///
    /// The reasoning is the output `reasoning` of the reply; read it with
    /// [`Prediction::reasoning`].
    ChainOfThought
}

module! {
    /// An agent: thinks, calls tools and observes until the outputs are committed.
    ///
    /// ```
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
    /// use enact::model::{ScriptedModel, call};
    /// use enact::{ReAct, ToolError, tool, tools, values};
    /// use serde_json::json;
    ///
    /// /// Adds two numbers.
    /// #[tool(read_only)]
    /// async fn add(a: i64, b: i64) -> Result<i64, ToolError> {
    ///     Ok(a + b)
    /// }
    ///
    /// let agent = ReAct::builder("question -> answer: int")
    ///     .tools(tools![add])
    ///     .model(ScriptedModel::new([
    ///         call("add", json!({"a": 2, "b": 40})).thinking("I add them."),
    ///         call("submit", json!({"answer": 42})),
    ///     ]))
    ///     .build()?;
    /// let done = agent.call(values! { question: "2 + 40?" }).await?.finished()?;
    /// assert_eq!(done.outputs["answer"], 42);
    /// assert_eq!(done.trajectory().steps()[0].observation, 42);
    /// # Ok::<_, enact::Error>(()) })?; Ok::<_, Box<dyn std::error::Error>>(())
    /// ```
    ReAct
}

impl<S: Shape> ReAct<S> {
    /// Converts to an agent with values by name instead of types.
    pub fn untyped(self) -> ReAct<Dynamic> {
        ReAct::of(self.core)
    }

    /// The tools that the model sees; `submit` or `finish` is last. A server can change its tools during
    /// a run: [`Run::tools`] returns the current tools of a run.
    pub fn tools(&self) -> &[ToolSpec] {
        self.core.program().shown_tools()
    }

    /// The set of tools that the agent was built with, for building another agent with them.
    pub fn tool_set(&self) -> &Tools {
        self.core.tools()
    }
}
