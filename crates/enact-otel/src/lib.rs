//! Sends what enact agents do to an OpenTelemetry collector.
//!
//! enact describes its runs as `tracing` spans ([`enact_core::telemetry`]); this crate sends them over
//! OTLP/HTTP. Where to, and under which name, comes from the environment variables that all of
//! OpenTelemetry knows:
//!
//! | variable | meaning |
//! | --- | --- |
//! | `OTEL_EXPORTER_OTLP_ENDPOINT` | the collector, such as `http://localhost:4318` |
//! | `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT` | the same for traces alone, with the whole path |
//! | `OTEL_EXPORTER_OTLP_HEADERS` | headers, such as `authorization=Bearer%20…` |
//! | `OTEL_EXPORTER_OTLP_TIMEOUT` | milliseconds that sending may take |
//! | `OTEL_SERVICE_NAME`, `OTEL_RESOURCE_ATTRIBUTES` | what is known of this process |
//! | `OTEL_TRACES_SAMPLER`, `OTEL_TRACES_SAMPLER_ARG` | which traces are kept |
//! | `OTEL_SDK_DISABLED`, `OTEL_TRACES_EXPORTER=none` | send nothing |
//!
//! ```no_run
//! # fn main() -> Result<(), enact_otel::SetupError> {
//! let traces = enact_otel::Traces::from_env().service_name("shop").install()?;
//! // … run agents …
//! if let Err(problem) = traces.finish() {
//!     eprintln!("{problem}");
//! }
//! # Ok(())
//! # }
//! ```
//!
//! A program with a `tracing` subscriber of its own takes [`Traces::layer`] instead.

mod export;
mod open;
mod traces;

pub use export::{ExportError, Guard};
pub use open::OpenSpans;
pub use traces::{SetupError, Traces, TracesLayer};

/// The pages of the book that need this crate.
#[cfg(doctest)]
#[doc = include_str!(concat!("../../../", "docs/guide/observability.md"))]
struct GuideObservability;
