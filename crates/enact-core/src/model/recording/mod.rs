//! Records exchanges with models, and replays them.
//!
//! A [`Recording`] asks a model and writes every exchange to a file; a [`Replaying`] replies from such
//! a file, offline and free of charge. A recorded run replays to the same log, if its tools return
//! the same results.
//!
//! ```
//! use enact::model::{Recording, Replaying, ScriptedModel, call};
//! use enact::{ReAct, values};
//! use serde_json::json;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let file = folder.path().join("answer.jsonl");
//! let real = ScriptedModel::new([call("submit", json!({"answer": 42}))]);
//! let agent = ReAct::builder("question -> answer: int");
//! let recorded = agent.clone().model(Recording::to_file(real, &file)?).build()?;
//! recorded.call(values! { question: "6 * 7?" }).await?.finished()?;
//!
//! let replayed = agent.clone().model(Replaying::open(&file)?).build()?;
//! let done = replayed.call(values! { question: "6 * 7?" }).await?.finished()?;
//! assert_eq!(done.outputs["answer"], 42);
//!
//! // Another question was not recorded.
//! let replayed = agent.model(Replaying::open(&file)?).build()?;
//! let other = replayed.call(values! { question: "6 * 8?" }).await.unwrap_err();
//! assert!(other.to_string().contains("recorded: … * 7?"), "{other}");
//! # Ok(())
//! # }
//! ```

mod difference;
mod error;
mod file;
mod matching;
mod record;
mod replay;

pub use error::RecordingError;
pub use record::Recording;
pub use replay::Replaying;

/// The version of the format that this release writes.
pub const FORMAT: u32 = 1;
