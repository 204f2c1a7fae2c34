//! A request and its reply: sending, reading, and enforcing time limits.

use std::pin::pin;
use std::time::Duration;

use futures_util::poll;
use tokio::time::{Instant, timeout, timeout_at};

use super::Client;
use super::clock::Clock;
use super::protocol::{Decode as _, DecodeError, Protocol, SoFar};
use super::sse::{SseParser, TooLong};
use enact_core::model::failure::{Failures, Limit, retry_after};
use enact_core::model::{
    Chunk, FinishReason, ModelError, ModelErrorKind, Reply, ReplyStream, Request, Usage,
    cut_endless, max_reply_bytes, read_reply, whole_reply, write_reply,
};

/// How much of a stream is read: far more than any honest one, most of which is not the reply.
const MAX_STREAM_BYTES: usize = 64 * 1024 * 1024;
/// How much longer a non-streamed reply can be than its content: JSON has names and escapes.
const BODY_FACTOR: usize = 4;
/// The size that is always allowed for the structure of such a reply.
const BODY_FRAME: usize = 64 * 1024;
/// Enough for every error report; the rest of a longer one is ignored.
const MAX_REPORT_BYTES: usize = 64 * 1024;
/// The time limit for an error report: the status is the most important part.
const REPORT_PATIENCE: Duration = Duration::from_secs(10);
/// A connection can be reused only if its reply was read to the last byte, which normally arrives with
/// the last event.
const END_PATIENCE: Duration = Duration::from_millis(100);

/// A request and its reply.
pub struct Exchange<'a, P: Protocol> {
    client: &'a Client<P>,
    prompt_bytes: usize,
    max_bytes: usize,
    response: reqwest::Response,
    form: Form,
    decoder: P::Decoder,
    clock: Clock,
    /// The number of bytes received.
    bytes: usize,
    reply: SoFar,
    is_over: bool,
    /// Why the reply ends early. Available chunks are returned first.
    failure: Option<ModelError>,
}

/// The state of the reply.
enum Taken {
    /// More may arrive.
    Some,
    /// It is longer than any reply.
    TooMuch,
}

/// The actual form of the body. Content types can be wrong; the first byte isn't.
enum Form {
    Unknown,
    Events(SseParser),
    Whole(Vec<u8>),
}

impl<'a, P: Protocol> Exchange<'a, P> {
    /// Sends a request, and reads until its reply starts.
    pub(crate) async fn begin(client: &'a Client<P>, request: Request) -> Result<Self, ModelError> {
        let mut exchange = Self::ask(client, &request).await?;
        while !exchange.is_over && exchange.reply.ready.is_empty() {
            exchange.advance().await;
        }
        match exchange.failure.take() {
            Some(error) if exchange.reply.ready.is_empty() => Err(error),
            failure => Ok(Self {
                failure,
                ..exchange
            }),
        }
    }

    async fn ask(client: &'a Client<P>, request: &Request) -> Result<Self, ModelError> {
        let clock = Clock::start(client.timeouts, request.delivery);
        let body = P::body(client, request)?;
        let (http, asked) = client.request(body)?;
        let sent = http.execute(asked);
        let response = match timeout_at(clock.deadline(Instant::now()), sent).await {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => return Err(lost(client, error)),
            Err(_) => return Err(client.failing(|make| clock.expired(make))),
        };
        if !response.status().is_success() {
            return Err(refused(client, request, response).await);
        }
        let bound = || max_reply_bytes(request.options.max_tokens);
        Ok(Self {
            client,
            prompt_bytes: request.prompt.bytes(),
            max_bytes: client.max_reply_bytes.unwrap_or_else(bound),
            response,
            form: Form::Unknown,
            decoder: client.service.decoder(request),
            clock,
            bytes: 0,
            reply: SoFar::default(),
            is_over: false,
            failure: None,
        })
    }

    /// The reply, chunk by chunk.
    pub(crate) fn into_stream(mut self) -> ReplyStream<'a> {
        let (prompt_bytes, max_bytes) = (self.prompt_bytes, self.max_bytes);
        let reply = write_reply(|reply| async move {
            loop {
                while let Some(chunk) = self.reply.ready.pop_front() {
                    reply.write(chunk).await;
                }
                if self.is_over {
                    return self.failure.map_or(Ok(()), Err);
                }
                self.advance().await;
            }
        });
        cut_endless(reply, prompt_bytes, max_bytes)
    }

    /// The complete reply. A non-streamed one is not converted to a stream.
    pub(crate) async fn complete(self) -> Result<Reply, ModelError> {
        if self.is_over && self.failure.is_none() {
            return whole_reply(self.reply.ready, self.prompt_bytes, self.max_bytes).await;
        }
        read_reply(self.into_stream()).await
    }

    /// Reads the next bytes.
    async fn advance(&mut self) {
        // Yield to timers and other tasks even if the server always has more.
        tokio::task::consume_budget().await;
        let since = Instant::now();
        let deadline = self.clock.deadline(since);
        let client = self.client;
        let read = match timeout_at(deadline, self.response.chunk()).await {
            _ if deadline <= since => Err(client.failing(|make| self.clock.expired(make))),
            Ok(Ok(Some(bytes))) => self.take(&bytes, since),
            Ok(Ok(None)) => return self.end(),
            Ok(Err(error)) => Err(lost(client, error)),
            Err(_) => Err(client.failing(|make| self.clock.expired(make))),
        };
        match read {
            Ok(Taken::Some) if self.reply.is_done => {
                read_out(&mut self.response).await;
                self.end();
            }
            Ok(Taken::Some) => {}
            // Only the usage can still be missing, which is no reason to ask again.
            Ok(Taken::TooMuch) if self.reply.is_whole() => self.finish(),
            Ok(Taken::TooMuch) => {
                let usage = Usage::estimated(self.prompt_bytes, self.bytes);
                self.reply.push(Chunk::Usage(usage));
                self.reply.push(Chunk::Finish(FinishReason::Length));
                self.is_over = true;
            }
            Err(error) if error.is_retryable() && self.reply.is_whole() => self.finish(),
            Err(error) => self.fail(error),
        }
    }

    /// Takes the chunks that have arrived.
    fn take(&mut self, bytes: &[u8], since: Instant) -> Result<Taken, ModelError> {
        self.bytes += bytes.len();
        let said = self.max_bytes.saturating_mul(BODY_FACTOR);
        let max_body = said.saturating_add(BODY_FRAME);
        if matches!(self.form, Form::Unknown) {
            // A byte order mark may precede events, and white space anything.
            match bytes.trim_ascii_start().first() {
                None if self.bytes > max_body => return Ok(Taken::TooMuch),
                None => return Ok(Taken::Some),
                Some(b'd' | b'e' | b'i' | b'r' | b':' | 0xef) => {
                    self.form = Form::Events(SseParser::within(max_body));
                }
                Some(_) => self.form = Form::Whole(Vec::new()),
            }
        }
        let (reply, decoder) = (&mut self.reply, &mut self.decoder);
        match &mut self.form {
            Form::Unknown => {}
            Form::Whole(body) => {
                if body.len() + bytes.len() > max_body {
                    return Ok(Taken::TooMuch);
                }
                body.extend_from_slice(bytes);
                self.clock.goes_on();
            }
            Form::Events(parser) => {
                let known = reply.ready.len();
                let (had_events, kept) = (reply.has_events, reply.kept_bytes);
                let mut decoded = Ok(());
                let parsed = parser.push(bytes, |data| {
                    if decoded.is_ok() {
                        decoded = reply.event(decoder, data);
                    }
                });
                decoded.map_err(|error| self.client.failing(|make| error.told(make)))?;
                let is_long = self.bytes > MAX_STREAM_BYTES.max(max_body);
                if parsed == Err(TooLong) || is_long || reply.kept_bytes > max_body {
                    return Ok(Taken::TooMuch);
                }
                // Keep-alives are not the reply: a server can send them forever.
                let has_begun = reply.has_events && !had_events;
                match has_begun
                    || reply.kept_bytes > kept
                    || reply.ready.iter().skip(known).any(says_something)
                {
                    true => self.clock.goes_on(),
                    false => self.clock.stands_still(since),
                }
                if reply.is_whole() {
                    self.clock.awaits_cost();
                }
            }
        }
        Ok(Taken::Some)
    }

    /// The server has ended the body.
    fn end(&mut self) {
        match self.last_words() {
            Ok(()) => self.finish(),
            Err(error) => self.fail(error),
        }
    }

    fn last_words(&mut self) -> Result<(), ModelError> {
        let (client, reply, decoder) = (self.client, &mut self.reply, &mut self.decoder);
        match &mut self.form {
            Form::Unknown => return Err(client.failing(|make| make.protocol("is empty"))),
            Form::Whole(body) => {
                (reply.has_events, reply.is_done) = (true, true);
                if let Err(error) = decoder.whole(body, reply) {
                    let is_json = serde_json::from_slice::<serde::de::IgnoredAny>(body).is_ok();
                    return Err(client.failing(|make| match is_json {
                        true => error.told(make),
                        false => make.not_json(body),
                    }));
                }
            }
            Form::Events(parser) => {
                // An incomplete event doesn't count: the reply was cut off.
                if let Some(data) = parser.finish()
                    && let Err(error) = reply.event(decoder, &data)
                    && !matches!(error, DecodeError::Malformed(_))
                {
                    return Err(client.failing(|make| error.told(make)));
                }
            }
        }
        if !reply.has_events {
            return Err(client.failing(|make| make.protocol("holds no event")));
        }
        if !reply.is_whole() {
            return Err(client.failing(|make| DecodeError::CutOff.told(make)));
        }
        Ok(())
    }

    fn finish(&mut self) {
        self.reply.end(std::mem::take(&mut self.decoder));
        self.is_over = true;
    }

    fn fail(&mut self, error: ModelError) {
        self.failure = Some(error);
        self.is_over = true;
    }
}

/// The error for a status, with as much of the server's report as arrives in reasonable time.
async fn refused<P: Protocol>(
    client: &Client<P>,
    request: &Request,
    mut response: reqwest::Response,
) -> ModelError {
    let mut report = Vec::new();
    let patience = Instant::now() + REPORT_PATIENCE;
    while let Ok(Ok(Some(bytes))) = timeout_at(patience, response.chunk()).await {
        report.extend_from_slice(&bytes);
        if report.len() >= MAX_REPORT_BYTES {
            break;
        }
    }
    let status = response.status().as_u16();
    let wait = retry_after(|name| response.headers().get(name)?.to_str().ok());
    client.failing(|make| make.about(request).status(status, wait, &report))
}

/// Whether a chunk adds anything to a reply.
fn says_something(chunk: &Chunk) -> bool {
    match chunk {
        Chunk::Call {
            id,
            name,
            arguments,
            ..
        } => id.is_some() || name.is_some() || !arguments.is_empty(),
        Chunk::Text(text) | Chunk::Reasoning(text) => !text.is_empty(),
        _ => true,
    }
}

/// Reads a reply to its last byte, so that its connection can be reused.
async fn read_out(response: &mut reqwest::Response) {
    let mut rest = pin!(async { while let Ok(Some(_)) = response.chunk().await {} });
    // The connection's task usually has the end at hand. Yielding to it is cheaper than setting a timer,
    // and the next request finds the connection free.
    for _ in 0..2 {
        if poll!(rest.as_mut()).is_ready() {
            return;
        }
        tokio::task::yield_now().await;
    }
    let _ = timeout(END_PATIENCE, rest).await;
}

pub(super) fn lost<P: Protocol>(client: &Client<P>, error: reqwest::Error) -> ModelError {
    let error = error.without_url();
    let lost = client.failing(|make| transport(make, &error));
    lost.with_source(error)
}

/// The connection failed or broke. The error has no URL, which may contain a password.
pub(crate) fn transport(failures: Failures<'_>, error: &reqwest::Error) -> ModelError {
    if error.is_timeout() {
        // The only limit that is left to the HTTP library.
        return failures.timeout(Limit::Connect, None);
    }
    let mut cause: &dyn std::error::Error = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    let message = failures.connection(!error.is_connect(), &cause.to_string());
    ModelError::new(ModelErrorKind::Connection, message)
}
