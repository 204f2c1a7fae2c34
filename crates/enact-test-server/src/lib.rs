//! A scripted OpenAI-compatible server: exact requests in, exact bytes out.
//!
//! It listens on a free port of 127.0.0.1 and answers each `POST /v1/chat/completions` with the next
//! [`Turn`] of its script, or with the result of a function of the request: as server-sent events if the
//! request contains `"stream": true`, as one JSON body otherwise. HTTP is implemented by hand, so that a
//! test determines where bytes are split, where a connection breaks and what is left out.
//!
//! ```
//! use enact_test_server::{TestServer, Turn};
//! use serde_json::json;
//!
//! let server = TestServer::start_blocking([
//!     Turn::call("weather", json!({"city": "Paris"})).thinking("I need the weather first."),
//!     Turn::text("It is mild."),
//! ]);
//! assert!(server.base_url().starts_with("http://127.0.0.1:"));
//!
//! let echo = TestServer::answering_blocking(|received| Turn::text(received.text()));
//! ```
//!
//! With the feature `otlp` there is also a collector of OpenTelemetry traces.

#[cfg(feature = "otlp")]
mod collector;
mod gate;
mod http;
mod reply;
mod server;
mod turn;

#[cfg(feature = "otlp")]
pub use collector::{Collected, Collector};
pub use gate::Gate;
pub use http::Received;
pub use server::TestServer;
pub use turn::Turn;
