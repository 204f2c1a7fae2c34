//! Configures and starts the export of traces.

use std::env;
use std::time::Duration;

use opentelemetry::trace::TracerProvider as _;
use opentelemetry_otlp::{SpanExporter, WithExportConfig as _};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{SdkTracer, SdkTracerProvider};
use tracing::Subscriber;
use tracing_opentelemetry::OpenTelemetryLayer;
use tracing_subscriber::filter::{Filtered, LevelFilter, Targets};
use tracing_subscriber::layer::{Layered, SubscriberExt as _};
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::{Layer as _, Registry};

use crate::export::{Destination, Guard, Shaped, Trouble};
use crate::open::OpenSpans;

const ENDPOINT: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";
const TRACES_ENDPOINT: &str = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT";
const PROTOCOL: &str = "OTEL_EXPORTER_OTLP_PROTOCOL";
const TRACES_PROTOCOL: &str = "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL";
const DEFAULT_ENDPOINT: &str = "http://localhost:4318";

/// The targets of the exporter itself: exporting its spans would cause more of them.
const OWN_TRAFFIC: [&str; 7] = [
    "h2",
    "hyper",
    "hyper_util",
    "opentelemetry",
    "opentelemetry_sdk",
    "opentelemetry-otlp",
    "reqwest",
];

/// A layer that sends spans.
pub type TracesLayer<S> =
    Filtered<Layered<OpenSpans, OpenTelemetryLayer<S, SdkTracer>, S>, Targets, S>;

/// Sends traces to a collector. Call [`Traces::install`] or [`Traces::layer`] to start.
///
/// ```no_run
/// use enact_otel::Traces;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let guard = Traces::from_env()
///     .endpoint("http://127.0.0.1:4318")
///     .service_name("my-agent")
///     .install()?;
/// // … run agents …
/// guard.finish()?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
#[must_use = "nothing is sent before `install` or `layer`"]
pub struct Traces {
    endpoint: Option<String>,
    service_name: Option<String>,
    flush_within: Duration,
}

/// Why traces cannot be sent.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SetupError {
    /// The protocol for the collector is not supported.
    #[error("traces are sent as `http/protobuf`, not as `{0}`: set {PROTOCOL}=http/protobuf")]
    Protocol(String),
    /// An address, a header or another setting is invalid.
    #[error("the settings for traces are wrong: {0}")]
    Settings(String),
    /// The program already has a subscriber.
    #[error("there is a tracing subscriber already: add `Traces::layer` to it")]
    Installed,
}

impl Traces {
    /// Sends to the collector in the environment. Default: `http://localhost:4318`.
    pub fn from_env() -> Self {
        Self {
            endpoint: None,
            service_name: None,
            flush_within: Duration::from_secs(2),
        }
    }

    /// Whether the environment sets a collector and doesn't disable sending.
    pub fn is_wanted() -> bool {
        let names_collector = read(TRACES_ENDPOINT).or_else(|| read(ENDPOINT)).is_some();
        let is_disabled =
            read("OTEL_SDK_DISABLED").is_some_and(|it| it.eq_ignore_ascii_case("true"));
        let is_none = read("OTEL_TRACES_EXPORTER").is_some_and(|it| it == "none");
        names_collector && !is_disabled && !is_none
    }

    /// Sets the collector, overriding the environment: `http://host:4318`, without the path.
    pub fn endpoint(mut self, url: impl Into<String>) -> Self {
        self.endpoint = Some(url.into());
        self
    }

    /// Sets the service name, unless the environment sets one.
    pub fn service_name(mut self, name: impl Into<String>) -> Self {
        self.service_name = Some(name.into());
        self
    }

    /// Sets how long the end can wait for the remaining spans. Default: 2 seconds.
    pub fn flush_within(mut self, time: Duration) -> Self {
        self.flush_within = time;
        self
    }

    /// Starts sending every span of the level `INFO` or above.
    pub fn install(self) -> Result<Guard, SetupError> {
        let (layer, guard) = self.layer()?;
        let subscriber = Registry::default().with(layer);
        tracing::subscriber::set_global_default(subscriber).map_err(|_| SetupError::Installed)?;
        Ok(guard)
    }

    /// A layer for your own subscriber, and a guard that sends the remaining spans at the end.
    pub fn layer<S>(self) -> Result<(TracesLayer<S>, Guard), SetupError>
    where
        S: Subscriber + for<'span> LookupSpan<'span>,
    {
        if let Some(protocol) = read(TRACES_PROTOCOL).or_else(|| read(PROTOCOL))
            && protocol != "http/protobuf"
        {
            return Err(SetupError::Protocol(protocol));
        }
        let destination = Destination::of(&self.address());
        let mut exporter = SpanExporter::builder().with_http();
        if self.endpoint.is_some() {
            exporter = exporter.with_endpoint(self.address());
        }
        let exporter = exporter.build();
        let exporter = exporter.map_err(|error| {
            SetupError::Settings(destination.without_secrets(error.to_string()))
        })?;
        let trouble = Trouble {
            destination,
            last: Default::default(),
        };
        let shaped = Shaped {
            exporter,
            trouble: trouble.clone(),
        };
        let provider = SdkTracerProvider::builder()
            .with_resource(self.resource())
            .with_batch_exporter(shaped)
            .build();
        let open = OpenSpans::default();
        let layer = tracing_opentelemetry::layer()
            .with_tracer(provider.tracer("enact"))
            .with_location(false)
            .with_threads(false)
            .with_target(false)
            .with_tracked_inactivity(false)
            // Called after the span has been passed on.
            .and_then(open.clone())
            .with_filter(filter());
        let guard = Guard {
            provider: Some(provider),
            trouble,
            open,
            flush_within: self.flush_within,
        };
        Ok((layer, guard))
    }

    /// The destination of spans, with the path.
    fn address(&self) -> String {
        let base = match (&self.endpoint, read(TRACES_ENDPOINT)) {
            (Some(base), _) => base.clone(),
            (None, Some(whole)) => return whole,
            (None, None) => read(ENDPOINT).unwrap_or_else(|| DEFAULT_ENDPOINT.to_owned()),
        };
        format!("{}/v1/traces", base.trim_end_matches('/'))
    }

    fn resource(&self) -> Resource {
        let resource = Resource::builder();
        let attributes = read("OTEL_RESOURCE_ATTRIBUTES").unwrap_or_default();
        let is_named = read("OTEL_SERVICE_NAME").is_some()
            || attributes
                .split(',')
                .any(|pair| pair.trim_start().starts_with("service.name="));
        match &self.service_name {
            Some(name) if !is_named => resource.with_service_name(name.clone()).build(),
            _ => resource.build(),
        }
    }
}

fn filter() -> Targets {
    let own = OWN_TRAFFIC.map(|target| (target, LevelFilter::OFF));
    Targets::new()
        .with_default(LevelFilter::INFO)
        .with_targets(own)
}

/// The value of a variable; an empty one counts as not set.
fn read(name: &str) -> Option<String> {
    env::var(name).ok().filter(|text| !text.trim().is_empty())
}
