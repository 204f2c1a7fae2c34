//! Evaluates enact agents on datasets.
//!
//! | module | contents |
//! | --- | --- |
//! | [`dataset`] | inputs and expectations: JSON lines or CSV |
//! | [`metric`] | compare an answer with what is expected |
//! | [`figures`], [`coherence`] | counts from one run: functions of its log |
//! | [`criteria`] | the five criteria, over all runs |
//! | [`Evaluator`] | runs examples concurrently, and scores the results |
//! | [`results`] | the file from which an evaluation is resumed |
//! | [`Report`], [`compare`], [`html`] | the results, a comparison of two reports, HTML |
//!
//! ```
//! use enact::model::{ScriptedModel, call};
//! use enact::{ReAct, Values};
//! use enact_eval::dataset::{Columns, Dataset, Reading};
//! use enact_eval::results::Results;
//! use enact_eval::{Evaluator, Metric, Report, Tried};
//! use futures_util::StreamExt as _;
//! use serde_json::json;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! let model = ScriptedModel::new([call("submit", json!({"answer": 42}))]);
//! let agent = ReAct::builder("question -> answer: int").model(model).build()?;
//! let lines = r#"{"inputs": {"question": "6 * 7?"}, "expected": {"answer": 42}}"#;
//! let reading = Reading {
//!     signature: agent.signature(),
//!     metric: &Metric::Exact,
//!     has_judge: false,
//!     columns: &Columns::default(),
//! };
//! let dataset = Dataset::read(lines, &reading).map_err(|problems| problems[0].to_string())?;
//!
//! let Results { heading, known, mut writer } =
//!     Results::open(&folder.path().join("results.jsonl"), Values::new())?;
//! let evaluator = Evaluator::new(&agent);
//! let mut trials = Vec::new();
//! {
//!     let tried = evaluator.trials(&dataset, &heading, |id| known.get(id), 4);
//!     let mut tried = std::pin::pin!(tried);
//!     while let Some((_, tried)) = tried.next().await {
//!         if let Tried::Now(trial) = tried {
//!             writer.append(&trial)?;
//!             trials.push(trial);
//!         }
//!     }
//! }
//! let report = Report::new(&heading, "questions", 1, trials, None);
//! assert_eq!(report.accuracy.map(|accuracy| accuracy.value), Some(1.0));
//! # Ok(())
//! # }
//! ```

pub mod coherence;
mod columns;
pub mod compare;
pub mod criteria;
mod csv;
pub mod dataset;
mod error;
mod evaluator;
pub mod figures;
pub mod html;
mod judge;
pub mod metric;
mod report;
pub mod results;
pub mod statistics;
mod trial;

pub use error::MetricError;
pub use evaluator::{Evaluator, Tried};
pub use judge::Judge;
pub use metric::{Metric, Score};
pub use report::{Accuracy, Counts, Latency, Line, Report, percent};
pub use statistics::Share;
pub use trial::{Fault, Status, Trial};
