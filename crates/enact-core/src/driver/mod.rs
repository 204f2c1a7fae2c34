//! Drives a run: the loop, its interface to the outside world, and the implementation.
//!
//! [`drive`] does what the [core](crate::react) says comes next. Everything that needs the outside
//! world goes through one trait, [`Effects`]: asking models, running tools, writing the log, the clock.
//! [`Local`] does it in this process; the other types of this module wrap effects:
//!
//! | type | what it adds |
//! | --- | --- |
//! | [`Stored`] | the log in a store, held by a lease |
//! | [`Redacted`] | keeps secrets out of everything that is written |
//! | [`Traced`] | spans of requests and calls, for `tracing` |
//!
//! # Write your own engine
//!
//! A durable engine implements [`Effects`] in its own crate, around the effects of a call or from scratch.
//! This one counts the appended records:
//!
//! ```
//! # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
//! use std::sync::Arc;
//! use std::sync::atomic::{AtomicUsize, Ordering};
//!
//! use enact::driver::{Durability, Effect, Effects};
//! use enact::model::{ScriptedModel, call};
//! use enact::run::Record;
//! use enact::{ReAct, forward_effects, values};
//! use serde_json::json;
//!
//! struct Counting {
//!     inner: Box<dyn Effects>,
//!     records: Arc<AtomicUsize>,
//! }
//!
//! impl Effects for Counting {
//!     fn append<'a>(&'a self, records: Vec<Record>, durability: Durability) -> Effect<'a, Vec<Record>> {
//!         self.records.fetch_add(records.len(), Ordering::Relaxed);
//!         self.inner.append(records, durability)
//!     }
//!
//!     forward_effects!(self => (self.inner):
//!         now, proceed, ask, act, abandon, check, ends, tools, wait, stepped);
//! }
//!
//! let records = Arc::new(AtomicUsize::new(0));
//! let model = ScriptedModel::new([call("submit", json!({"answer": "Paris"}))]);
//! let agent = ReAct::builder("question -> answer").model(model).build()?;
//! let counted = records.clone();
//! let done = agent
//!     .call(values! { question: "Capital of France?" })
//!     .through(move |inner| Box::new(Counting { inner, records: counted }))
//!     .await?
//!     .finished()?;
//! assert_eq!(records.load(Ordering::Relaxed), done.run().records().len());
//! # Ok::<_, enact::Error>(()) })?; Ok::<_, Box<dyn std::error::Error>>(())
//! ```

mod content;
mod drive;
mod effects;
mod forward;
mod hooks;
mod local;
mod redacted;
mod stored;
mod tools;
mod traced;
mod updates;
mod writing;

pub use drive::{Stop, drive};
pub(crate) use drive::{error_of, expire, record};
pub use effects::{
    Acted, Answer, Answered, Asking, Doing, Durability, Effect, Effects, Failure, Stopped,
};
pub(crate) use hooks::{AfterCall, BeforeCall, Condition};
pub use hooks::{HookCall, HookStep};
pub use local::Local;
pub(crate) use local::Program;
pub use redacted::Redacted;
pub(crate) use redacted::redacted;
pub use stored::Stored;
pub use traced::Traced;
pub(crate) use traced::{in_span, is_heard};
pub use updates::{Listener, Update};
