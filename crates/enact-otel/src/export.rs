//! Exports spans in the form of the conventions, and tracks failures.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use enact_core::telemetry::FINISH_REASONS;
use opentelemetry::{Array, StringValue, Value};
use opentelemetry_otlp::SpanExporter;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{SdkTracerProvider, SpanData, SpanExporter as Export};

use crate::open::OpenSpans;

/// Spans could not be sent. Runs are not affected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("traces could not be sent to {}: {cause}", destination.shown)]
#[non_exhaustive]
pub struct ExportError {
    destination: Destination,
    cause: String,
}

/// The destination of spans, without secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Destination {
    shown: String,
    /// Whether nothing was left out.
    may_be_quoted: bool,
}

impl Destination {
    pub(crate) fn of(address: &str) -> Self {
        let open = address.split(['?', '#']).next().unwrap_or_default();
        let shown = match open.split_once("://") {
            Some((scheme, rest)) => {
                let (authority, path) = rest.split_once('/').unwrap_or((rest, ""));
                let place = authority.rsplit('@').next().unwrap_or_default();
                format!("{scheme}://{place}/{path}")
            }
            None => open.rsplit('@').next().unwrap_or_default().to_owned(),
        };
        Self {
            may_be_quoted: shown == address,
            shown,
        }
    }

    /// A cause that can be shown: some quote the whole address.
    pub(crate) fn without_secrets(&self, cause: String) -> String {
        if self.may_be_quoted {
            cause
        } else {
            "look at its address and at the collector".to_owned()
        }
    }
}

/// The last failure, shared between the exporter and the guard.
#[derive(Debug, Clone)]
pub(crate) struct Trouble {
    pub(crate) destination: Destination,
    pub(crate) last: Arc<Mutex<Option<String>>>,
}

impl Trouble {
    fn note(&self, cause: String) {
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(cause);
    }

    fn take(&self) -> Result<(), ExportError> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        match last.take() {
            None => Ok(()),
            Some(cause) => Err(ExportError {
                cause: self.destination.without_secrets(cause),
                destination: self.destination.clone(),
            }),
        }
    }
}

/// An exporter that corrects what `tracing` can't express, and remembers failures.
#[derive(Debug)]
pub(crate) struct Shaped {
    pub(crate) exporter: SpanExporter,
    pub(crate) trouble: Trouble,
}

impl Export for Shaped {
    async fn export(&self, mut batch: Vec<SpanData>) -> OTelSdkResult {
        for attribute in batch.iter_mut().flat_map(|span| &mut span.attributes) {
            if attribute.key.as_str() == FINISH_REASONS
                && let Value::String(reason) = &attribute.value
            {
                let reasons: Vec<StringValue> = vec![reason.clone()];
                attribute.value = Value::Array(Array::String(reasons));
            }
        }
        let sent = self.exporter.export(batch).await;
        if let Err(error) = &sent {
            self.trouble.note(error.to_string());
        }
        sent
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.exporter.shutdown_with_timeout(timeout)
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.exporter.force_flush()
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.exporter.set_resource(resource);
    }
}

/// Sends the remaining spans when it is dropped, within its time limit. This blocks: drop it at the end of
/// the program.
#[derive(Debug)]
#[must_use = "what is not sent yet is sent when this is dropped"]
pub struct Guard {
    /// None once it has ended.
    pub(crate) provider: Option<SdkTracerProvider>,
    pub(crate) trouble: Trouble,
    pub(crate) open: OpenSpans,
    pub(crate) flush_within: Duration,
}

impl Guard {
    /// Sends the remaining spans, and returns an error if some could not be sent.
    pub fn finish(mut self) -> Result<(), ExportError> {
        self.end();
        self.trouble.take()
    }

    fn end(&mut self) {
        let Some(provider) = self.provider.take() else {
            return;
        };
        let began = Instant::now();
        self.open.wait(self.flush_within);
        let left = self.flush_within.saturating_sub(began.elapsed());
        if let Err(error) = provider.shutdown_with_timeout(left) {
            self.trouble.note(error.to_string());
        }
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.end();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_destination_is_shown_without_its_secrets() {
        for (address, shown, may_be_quoted) in [
            ("http://h:4318/v1/traces", "http://h:4318/v1/traces", true),
            ("https://u:p@h/v1/traces?k=1", "https://h/v1/traces", false),
            ("https://h/t?token=a@b", "https://h/t", false),
            ("u:p@h", "h", false),
        ] {
            let destination = Destination::of(address);
            assert_eq!(destination.shown, shown);
            assert_eq!(destination.may_be_quoted, may_be_quoted, "{address}");
        }
    }
}
