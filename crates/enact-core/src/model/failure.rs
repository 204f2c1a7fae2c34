//! Error messages that say what to do, without the secrets involved.
//!
//! For authors of clients: all clients in enact create errors with [`Failures`], so that kinds and
//! messages are the same for all providers.

mod words;

use std::time::Duration;

use serde_json::Value;

pub use self::words::{KeyOrigin, Words};
use super::{ModelError, ModelErrorKind, Request, ResponseFormat};

/// The maximum length of a quote from the server.
const MAX_EXCERPT_CHARACTERS: usize = 300;
/// Shorter texts are not secrets, and replacing them would garble the message.
const MIN_SECRET_LENGTH: usize = 4;

const CONTEXT_LENGTH_WORDS: [&str; 13] = [
    "context_length_exceeded",
    "context length",
    "context_length",
    "context window",
    "context limit",
    "maximum context",
    "exceed_context_size",
    "available context size",
    "prompt is too long",
    "prompt too long",
    "input is too long",
    "reduce the length of the messages",
    "exceeds the maximum number of tokens",
];
const CONTENT_FILTER_WORDS: [&str; 4] = [
    "content_filter",
    "content_policy_violation",
    "responsibleaipolicyviolation",
    "content management policy",
];
/// Words for the response format in rejections.
const FORMAT_WORDS: [&str; 8] = [
    "response_format",
    "response format",
    "json_schema",
    "json schema",
    "structured output",
    "guided_json",
    "guided decoding",
    "grammar",
];
const TOOL_WORDS: [&str; 3] = ["tool", "function call", "functions"];
/// Phrases for something that isn't supported at all, rather than used wrongly.
const REFUSING_WORDS: [&str; 14] = [
    "not support",
    "n't support",
    "unsupported",
    "that support",
    "requires",
    "not enabled",
    "not available",
    "not allowed",
    "not permitted",
    "unrecognized",
    "unknown parameter",
    "unknown field",
    "no tool support",
    "not implemented",
];
/// Without "exceeded your current quota": some providers use that for a limit per minute.
const QUOTA_WORDS: [&str; 2] = ["insufficient_quota", "insufficient balance"];

/// The limit of [`Timeouts`](super::Timeouts) that was exceeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// Until the connection is established.
    Connect,
    /// Until the first byte of the reply.
    FirstByte,
    /// Between two parts of the reply.
    Idle,
    /// For the whole request.
    Total,
}

/// Makes errors about requests to one server.
#[derive(Debug, Clone, Copy)]
pub struct Failures<'a> {
    model: &'a str,
    base_url: &'a str,
    words: Words<'a>,
    key: Option<KeyOrigin<'a>>,
    secrets: &'a [&'a str],
    /// What a server probably rejects if it gives no reason.
    suspect: Option<ModelErrorKind>,
}

impl<'a> Failures<'a> {
    /// Errors about a model at a server. `base_url` is shown, and so is where the key comes from if one
    /// is sent; `secrets` are never repeated.
    pub fn new(
        model: &'a str,
        base_url: &'a str,
        words: Words<'a>,
        key: Option<KeyOrigin<'a>>,
        secrets: &'a [&'a str],
    ) -> Self {
        Self {
            model,
            base_url,
            words,
            key,
            secrets,
            suspect: None,
        }
    }

    /// Sets the request: a server that rejects it without a reason probably doesn't support tools, or
    /// the response format if there are no tools.
    #[must_use]
    pub fn about(self, request: &Request) -> Self {
        let suspect = match (request.tools.is_empty(), &request.response_format) {
            (false, _) => Some(ModelErrorKind::ToolsRefused),
            (true, ResponseFormat::Text) => None,
            (true, _) => Some(ModelErrorKind::FormatRefused),
        };
        Self { suspect, ..self }
    }

    /// The server responded with an error status.
    /// `wait` is how long it asks to [wait](retry_after).
    pub fn status(&self, status: u16, wait: Option<Duration>, body: &[u8]) -> ModelError {
        let text = String::from_utf8_lossy(body);
        let report = match serde_json::from_str::<Value>(&text) {
            Ok(value) => Report::read(&value),
            Err(_) => Report::plain(&text),
        };
        let told = format!(" (status {status})");
        let is_silent = status == 400 && text.trim().is_empty();
        let error = match self.suspect.filter(|_| is_silent) {
            Some(kind) => {
                let message = self.refused(kind, &told) + "; the server did not say why";
                ModelError::new(kind, message)
            }
            None => self.classify(status, &told, &report),
        };
        let error = error.with_status(status);
        match wait {
            Some(delay) => error.with_retry_after(delay),
            None => error,
        }
    }

    /// The server reported an error inside a reply: its error object.
    pub fn reported(&self, error: &Value) -> ModelError {
        let report = Report::read(error);
        self.classify(report.status().unwrap_or(500), "", &report)
    }

    /// The provider's filter stopped the reply.
    pub fn filtered(&self) -> ModelError {
        ModelError::new(ModelErrorKind::ContentFilter, self.stopped_by_filter())
    }

    /// The reply violates the protocol.
    pub fn protocol(&self, what: &str) -> ModelError {
        let message = format!(
            "the reply of `{}` {what}; check that the base URL is that of {}",
            self.base_url, self.words.server
        );
        ModelError::new(ModelErrorKind::Protocol, message)
    }

    /// The reply is not JSON; the message quotes it.
    pub fn not_json(&self, body: &[u8]) -> ModelError {
        let said = self.said(&String::from_utf8_lossy(body));
        self.protocol(&format!("is not JSON{said}"))
    }

    /// The message for a connection that failed or broke, for this cause.
    pub fn connection(&self, is_made: bool, cause: &str) -> String {
        let (what, to_do) = if is_made {
            ("lost the connection to", "try again")
        } else {
            (
                "could not connect to",
                "check that the server runs and that the base URL is right",
            )
        };
        let cause = self.redact(cause);
        format!("{what} `{}` ({cause}): {to_do}", self.base_url)
    }

    /// A time limit was exceeded.
    pub fn timeout(&self, limit: Limit, after: Option<Duration>) -> ModelError {
        let base_url = self.base_url;
        let within = after.map_or_else(String::new, |after| format!(" within {after:?}"));
        let message = match limit {
            Limit::Connect => format!(
                "no connection to `{base_url}` in time: check that the server runs, or raise \
                 `Timeouts::connect`"
            ),
            Limit::FirstByte => format!(
                "`{base_url}` did not begin to reply{within}: the server may be overloaded; \
                 raise `Timeouts::first_byte` for slow models"
            ),
            Limit::Idle => format!(
                "`{base_url}` fell silent in the middle of a reply, nothing came{within}: raise \
                 `Timeouts::idle` for slow models"
            ),
            Limit::Total => format!(
                "the reply of `{base_url}` was not complete{within}: raise `Timeouts::total`, or \
                 bound the reply with `max_tokens`"
            ),
        };
        ModelError::new(ModelErrorKind::Timeout, message)
    }

    fn stopped_by_filter(&self) -> String {
        let base_url = self.base_url;
        format!("the content filter of `{base_url}` stopped the reply: change what is asked")
    }

    /// The error for a status, or for the equivalent failure inside a reply. `told` shows the
    /// status if there was one.
    fn classify(&self, status: u16, told: &str, report: &Report) -> ModelError {
        let Self {
            model, base_url, ..
        } = self;
        let is_refusal = (400..500).contains(&status) && status != 429;
        // Some servers use 404 or 500 where others use 400.
        let may_refuse = matches!(status, 400 | 404 | 405 | 415 | 422 | 500 | 501);
        let refuses_tools = report.mentions(&TOOL_WORDS) && report.mentions(&REFUSING_WORDS);
        use ModelErrorKind as Kind;
        let (kind, message) = match status {
            // Some servers use 500 for a prompt that is too long.
            _ if (is_refusal || status == 500) && report.mentions(&CONTEXT_LENGTH_WORDS) => (
                Kind::ContextLength,
                format!(
                    "the prompt does not fit into the context of `{model}` at `{base_url}`: \
                     shorten it, or take a model with a larger context"
                ),
            ),
            _ if is_refusal && report.mentions(&CONTENT_FILTER_WORDS) => {
                (Kind::ContentFilter, self.stopped_by_filter())
            }
            _ if report.mentions(&QUOTA_WORDS) => (
                Kind::InvalidRequest,
                format!(
                    "the account at `{base_url}` has no credit left: check its plan and billing"
                ),
            ),
            _ if may_refuse && report.mentions(&FORMAT_WORDS) => {
                (Kind::FormatRefused, self.refused(Kind::FormatRefused, told))
            }
            _ if may_refuse && refuses_tools => {
                (Kind::ToolsRefused, self.refused(Kind::ToolsRefused, told))
            }
            401 | 403 => (Kind::Authentication, self.refused_key(status, told)),
            404 => (
                Kind::NotFound,
                format!(
                    "`{base_url}` has no model `{model}`, or is not {}{told}: check the model's \
                     name, and that the base URL is right, usually up to `/v1`",
                    self.words.server
                ),
            ),
            408 | 504 => (
                Kind::Timeout,
                format!("`{base_url}` did not get the reply in time{told}: try again"),
            ),
            429 => (
                Kind::RateLimit,
                format!("`{base_url}` gets too many requests{told}: wait, then try again"),
            ),
            300..400 => (
                Kind::NotFound,
                format!(
                    "`{base_url}` redirects elsewhere{told}: set the base URL to the \
                     final address"
                ),
            ),
            400..500 => (
                Kind::InvalidRequest,
                format!(
                    "`{base_url}` refused the request to `{model}`{told}: check that \
                     the model takes these options and tools"
                ),
            ),
            _ => (
                Kind::Server,
                format!("`{base_url}` failed{told}: try again later"),
            ),
        };
        ModelError::new(kind, message + &self.said(&report.message))
    }

    /// The message for a server that doesn't support tools, or doesn't enforce a schema.
    fn refused(&self, kind: ModelErrorKind, told: &str) -> String {
        let Self {
            model, base_url, ..
        } = self;
        match kind {
            ModelErrorKind::ToolsRefused => format!(
                "`{base_url}` takes no tools with `{model}`{told}: use an adapter that writes \
                 calls as text, such as `--adapter json`, or `adapter(Json)` in Rust"
            ),
            _ => format!(
                "`{base_url}` does not hold `{model}` to a response schema{told}: use an adapter \
                 that needs none, such as `--adapter chat`, or `adapter(Chat)` in Rust"
            ),
        }
    }

    fn refused_key(&self, status: u16, told: &str) -> String {
        let base_url = self.base_url;
        let Some(origin) = self.key else {
            return format!(
                "`{base_url}` wants an API key and none was sent{told}: {}",
                self.words.to_give_a_key()
            );
        };
        let (key, to_do) = (self.words.key_from(origin), self.words.to_replace(origin));
        match status {
            403 => format!(
                "`{base_url}` does not allow this with {key}{told}: check what the key may do, or \
                 {to_do}"
            ),
            _ => format!("`{base_url}` refused {key}{told}: {to_do}"),
        }
    }

    /// A quote from the server: truncated, on one line and without secrets.
    fn said(&self, message: &str) -> String {
        let words: Vec<String> = self
            .redact(message)
            .split(|character: char| character.is_whitespace() || character.is_control())
            .filter(|word| !word.is_empty())
            // Some servers quote the key with its middle masked; that is still too much.
            .map(|word| match word.contains("***") {
                true => "[redacted]".to_owned(),
                false => word.to_owned(),
            })
            .collect();
        let line = words.join(" ");
        if line.is_empty() {
            return String::new();
        }
        let mut excerpt: String = line.chars().take(MAX_EXCERPT_CHARACTERS).collect();
        if excerpt.len() < line.len() {
            // Between words: part of a word may be part of a secret that is unknown here, but redacted
            // by the caller.
            excerpt.truncate(excerpt.rfind(' ').map_or(0, |space| space + 1));
            excerpt.push('…');
        }
        format!("; the server said: {excerpt}")
    }

    fn redact(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for secret in self.secrets {
            if secret.len() >= MIN_SECRET_LENGTH {
                text = text.replace(secret, "[redacted]");
            }
        }
        text
    }
}

/// What a server reports about a failure.
#[derive(Debug, Default)]
struct Report {
    message: String,
    /// Code, type and message in lower case, for classification.
    words: String,
    code: Option<u16>,
}

impl Report {
    fn plain(text: &str) -> Self {
        Self {
            message: text.to_owned(),
            words: text.to_lowercase(),
            code: None,
        }
    }

    fn read(value: &Value) -> Self {
        let value = value.get(0).unwrap_or(value);
        let error = value
            .get("error")
            .filter(|error| !error.is_null())
            .unwrap_or(value);
        let text = |key: &str| match error.get(key) {
            Some(Value::String(text)) => text.clone(),
            None | Some(Value::Null) => String::new(),
            Some(other) => other.to_string(),
        };
        let message = match error {
            Value::String(message) => message.clone(),
            _ => ["message", "detail", "error_description"]
                .into_iter()
                .map(text)
                .find(|message| !message.is_empty())
                .unwrap_or_else(|| error.to_string()),
        };
        let words = format!("{} {} {message}", text("code"), text("type")).to_lowercase();
        let code = error.get("code").and_then(|code| match code {
            Value::String(code) => code.parse().ok(),
            other => other.as_u64().and_then(|code| u16::try_from(code).ok()),
        });
        Self {
            message,
            words,
            code,
        }
    }

    fn mentions(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.words.contains(word))
    }

    /// The status that the failure would have had before the reply started.
    fn status(&self) -> Option<u16> {
        if let Some(code) = self.code.filter(|code| (400..600).contains(code)) {
            return Some(code);
        }
        let known: [(&[&str], u16); 7] = [
            (&["rate_limit", "rate limit", "too many requests"], 429),
            (&["overloaded"], 529),
            (&["timeout", "timed out"], 504),
            (&["authentication_error", "invalid_api_key"], 401),
            (&["permission_error"], 403),
            (&["not_found_error", "model_not_found"], 404),
            (&["invalid_request", "badrequest"], 400),
        ];
        let context = self.mentions(&CONTEXT_LENGTH_WORDS) || self.mentions(&CONTENT_FILTER_WORDS);
        if context {
            return Some(400);
        }
        known
            .into_iter()
            .find(|(words, _)| self.mentions(words))
            .map(|(_, status)| status)
    }
}

/// How long the server asks to wait: in milliseconds, seconds or as a date.
/// `header` looks up a header of the reply.
pub fn retry_after<'h>(header: impl Fn(&str) -> Option<&'h str>) -> Option<Duration> {
    let text = |name: &str| header(name).map(str::trim);
    let seconds = |text: &str| {
        let seconds: f64 = text.parse().ok()?;
        Duration::try_from_secs_f64(seconds.max(0.0)).ok()
    };
    if let Some(milliseconds) = text("retry-after-ms").and_then(seconds) {
        return Some(milliseconds / 1000);
    }
    let text = text("retry-after")?;
    seconds(text).or_else(|| {
        let at = jiff::fmt::rfc2822::DateTimeParser::new()
            .parse_timestamp(text)
            .ok()?;
        let wait = at.duration_since(jiff::Timestamp::now());
        Some(Duration::try_from(wait).unwrap_or_default())
    })
}

#[cfg(test)]
mod tests;
