//! Sends traces of enact agents to an OpenTelemetry collector.
//!
//! enact describes its runs as `tracing` spans ([`enact_core::telemetry`]); this crate sends them over
//! OTLP/HTTP. The standard OpenTelemetry environment variables configure the
//! export:
//!
//! | variable | meaning |
//! | --- | --- |
//! | `OTEL_EXPORTER_OTLP_ENDPOINT` | the collector, such as `http://localhost:4318` |
//! | `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT` | the same for traces only, with the full path |
//! | `OTEL_EXPORTER_OTLP_HEADERS` | headers, such as `authorization=Bearer%20…` |
//! | `OTEL_EXPORTER_OTLP_TIMEOUT` | timeout in milliseconds |
//! | `OTEL_SERVICE_NAME`, `OTEL_RESOURCE_ATTRIBUTES` | description of this process |
//! | `OTEL_TRACES_SAMPLER`, `OTEL_TRACES_SAMPLER_ARG` | sampling of traces |
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
//! A program with its own `tracing` subscriber uses [`Traces::layer`] instead.

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
