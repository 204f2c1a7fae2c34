//! A trace collector: accepts OTLP over HTTP and stores every span.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::{AnyValue, any_value};
use opentelemetry_proto::tonic::trace::v1::{Span, status::StatusCode};
use prost::Message as _;
use serde_json::{Value, json};

use crate::{Received, TestServer, Turn};

/// A span as it arrived.
#[derive(Debug, Clone, PartialEq)]
pub struct Collected {
    /// The name, such as `chat gpt`.
    pub name: String,
    /// The id of its trace.
    pub trace: Vec<u8>,
    /// Its id.
    pub id: Vec<u8>,
    /// The id of its parent; empty for a root.
    pub parent: Vec<u8>,
    /// The kind of span in OTLP: 1 internal, 3 client.
    pub kind: i32,
    /// When it started, in nanoseconds since 1970.
    pub start: u64,
    /// When it ended.
    pub end: u64,
    /// The attributes, an object.
    pub attributes: Value,
    /// The attributes of the process that sent it, an object.
    pub resource: Value,
    /// Whether its status is an error.
    pub is_error: bool,
    /// The message of its status.
    pub status_message: String,
    /// The number of events.
    pub events: usize,
}

impl Collected {
    /// Whether it is a child of another span.
    pub fn is_below(&self, other: &Collected) -> bool {
        self.trace == other.trace && self.parent == other.id
    }
}

/// A trace collector on its own thread. It stops when it is dropped.
#[derive(Debug)]
pub struct Collector {
    server: TestServer,
    spans: Arc<Mutex<Vec<Collected>>>,
}

impl Collector {
    /// Starts a collector.
    ///
    /// # Panics
    /// If no port can be opened or no thread can be started.
    pub fn start() -> Self {
        let spans = Arc::default();
        let kept = Arc::clone(&spans);
        let server = TestServer::answering_anywhere(move |received| take(received, &kept));
        Self { server, spans }
    }

    /// The address for `OTEL_EXPORTER_OTLP_ENDPOINT`.
    pub fn endpoint(&self) -> &str {
        self.server.base_url().trim_end_matches("/v1")
    }

    /// All requests so far, in order of arrival.
    pub fn requests(&self) -> Vec<Received> {
        self.server.requests()
    }

    /// All spans so far, in order of their start.
    pub fn spans(&self) -> Vec<Collected> {
        let mut spans = self
            .spans
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone();
        spans.sort_by_key(|span| span.start);
        spans
    }

    /// The spans, once there are this many.
    ///
    /// # Panics
    /// If they don't arrive within ten seconds.
    #[expect(clippy::panic, reason = "a test assertion")]
    pub fn wait_for(&self, count: usize) -> Vec<Collected> {
        let began = Instant::now();
        loop {
            let spans = self.spans();
            if spans.len() >= count {
                return spans;
            }
            if began.elapsed() > Duration::from_secs(10) {
                panic!("{} of {count} spans came: {spans:#?}", spans.len());
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

fn take(received: &Received, spans: &Mutex<Vec<Collected>>) -> Turn {
    let is_trace = received.path == "/v1/traces"
        && received.header("content-type") == Some("application/x-protobuf");
    let Some(request) = ExportTraceServiceRequest::decode(received.body.as_slice())
        .ok()
        .filter(|_| is_trace)
    else {
        return Turn::status(400);
    };
    let mut spans = spans.lock().unwrap_or_else(PoisonError::into_inner);
    for group in request.resource_spans {
        let resource = group.resource.unwrap_or_default().attributes;
        let resource = object(resource.into_iter().map(|pair| (pair.key, pair.value)));
        for span in group.scope_spans.into_iter().flat_map(|scope| scope.spans) {
            spans.push(collect(span, &resource));
        }
    }
    Turn::status(200)
}

fn collect(span: Span, resource: &Value) -> Collected {
    let status = span.status.unwrap_or_default();
    Collected {
        name: span.name,
        trace: span.trace_id,
        id: span.span_id,
        parent: span.parent_span_id,
        kind: span.kind,
        start: span.start_time_unix_nano,
        end: span.end_time_unix_nano,
        attributes: object(
            span.attributes
                .into_iter()
                .map(|pair| (pair.key, pair.value)),
        ),
        resource: resource.clone(),
        is_error: status.code == StatusCode::Error as i32,
        status_message: status.message,
        events: span.events.len(),
    }
}

/// The attributes as an object. Duplicates become a list under `twice`, so that no test overlooks
/// them.
fn object(pairs: impl Iterator<Item = (String, Option<AnyValue>)>) -> Value {
    let mut object = serde_json::Map::new();
    for (key, value) in pairs {
        let value = json(value);
        if object.insert(key.clone(), value).is_some() {
            object.insert("twice".to_owned(), key.into());
        }
    }
    Value::Object(object)
}

fn json(value: Option<AnyValue>) -> Value {
    match value.and_then(|value| value.value) {
        Some(any_value::Value::StringValue(text)) => text.into(),
        Some(any_value::Value::BoolValue(is_true)) => is_true.into(),
        Some(any_value::Value::IntValue(number)) => number.into(),
        Some(any_value::Value::DoubleValue(number)) => json!(number),
        Some(any_value::Value::ArrayValue(list)) => list
            .values
            .into_iter()
            .map(|value| json(Some(value)))
            .collect(),
        _ => Value::Null,
    }
}
