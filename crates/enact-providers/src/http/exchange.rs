//! One request and its reply: sending, reading, and watching the clock.

use std::collections::VecDeque;
use std::pin::pin;
use std::time::Duration;

use futures_util::{StreamExt as _, poll, stream};
use tokio::time::{Instant, timeout, timeout_at};

use super::protocol::{Decode, DecodeError, Protocol};
use super::sse::{SseParser, TooLong};
use enact_core::model::failure::{Failures, Limit, retry_after};
use enact_core::model::{
    Chunk, Delivery, FinishReason, ModelError, ModelErrorKind, Reply, ReplyBuilder, ReplyStream,
    Request, Usage, cut_endless, max_reply_bytes, whole_reply,
};

/// How much of a stream is read: far above any honest one, most of which is not the reply.
const MAX_STREAM_BYTES: usize = 64 * 1024 * 1024;
/// How much longer than what it says a reply in one piece may be: JSON has names and escapes.
const BODY_FACTOR: usize = 4;
/// What such a reply may always have around what it says.
const BODY_FRAME: usize = 64 * 1024;
/// Enough for every error report; the rest of a longer one is not waited for.
const MAX_REPORT_BYTES: usize = 64 * 1024;
/// An error report that takes longer is given up: the status says the most.
const REPORT_PATIENCE: Duration = Duration::from_secs(10);
/// Behind the reason for stopping only the cost can follow; it is not worth a long wait.
const COST_PATIENCE: Duration = Duration::from_secs(5);
/// A connection can be used again only if its reply was read to the last byte, which normally
/// comes along with the last event.
const END_PATIENCE: Duration = Duration::from_millis(100);

/// Asks a server, and reads what it answers.
pub(crate) fn stream<P: Protocol>(client: &P, request: Request) -> ReplyStream<'_> {
    Exchange::new(client, request).into_stream()
}

/// The same for who wants the whole reply. One that comes in one piece takes no detour by a stream.
pub(crate) async fn complete<P: Protocol>(
    client: &P,
    request: Request,
) -> Result<Reply, ModelError> {
    let mut exchange = Exchange::new(client, request);
    while exchange.is_in_one_piece() {
        if let State::Ended(error) = &mut exchange.state {
            if let Some(error) = error.take() {
                return Err(error);
            }
            return whole_reply(exchange.ready, exchange.prompt_bytes, exchange.max_bytes).await;
        }
        exchange.advance().await;
    }
    let mut reply = exchange.into_stream();
    let mut builder = ReplyBuilder::default();
    while let Some(chunk) = reply.next().await {
        builder.push(chunk?);
    }
    builder.finish()
}

struct Exchange<'a, P: Protocol> {
    client: &'a P,
    prompt_bytes: usize,
    max_bytes: usize,
    state: State<P::Decoder>,
    ready: VecDeque<Chunk>,
}

enum State<D> {
    Asking(Box<Request>),
    Reading(Box<Reading<D>>),
    /// The reply has ended in this way; what is ready comes first.
    Ended(Option<ModelError>),
}

struct Reading<D> {
    response: reqwest::Response,
    form: Form,
    decoder: D,
    clock: Clock,
    bytes: usize,
    max_bytes: usize,
}

/// How much of the reply there is.
enum Taken {
    /// More may come.
    Some,
    /// More than any reply has.
    TooMuch,
}

/// What the body turns out to be. Content types lie; the first byte does not.
enum Form {
    Unknown,
    Events(SseParser),
    Whole(Vec<u8>),
}

/// The limits of one request.
struct Clock {
    first_byte: Instant,
    total: Instant,
    has_begun: bool,
    /// How long it was waited for more of the reply, whatever else came.
    silent: Duration,
    /// Until when the cost may follow, once the reply is whole.
    cost: Option<Instant>,
}

impl<'a, P: Protocol> Exchange<'a, P> {
    fn new(client: &'a P, request: Request) -> Self {
        let max_bytes = client.server().max_reply_bytes;
        let max_bytes = max_bytes.unwrap_or_else(|| max_reply_bytes(request.options.max_tokens));
        Self {
            client,
            prompt_bytes: request.prompt.bytes(),
            max_bytes,
            state: State::Asking(Box::new(request)),
            ready: VecDeque::new(),
        }
    }

    fn into_stream(self) -> ReplyStream<'a> {
        let (prompt_bytes, max_bytes) = (self.prompt_bytes, self.max_bytes);
        let reply = Box::pin(stream::unfold(self, Self::next));
        cut_endless(reply, prompt_bytes, max_bytes)
    }

    async fn next(mut self) -> Option<(Result<Chunk, ModelError>, Self)> {
        loop {
            if let Some(chunk) = self.ready.pop_front() {
                return Some((Ok(chunk), self));
            }
            if let State::Ended(error) = &mut self.state {
                return error.take().map(|error| (Err(error), self));
            }
            self.advance().await;
        }
    }

    /// Whether the reply is no stream of events, as far as is known.
    fn is_in_one_piece(&self) -> bool {
        match &self.state {
            State::Reading(reading) => !matches!(reading.form, Form::Events(_)),
            _ => true,
        }
    }

    /// Asks, or reads more.
    async fn advance(&mut self) {
        let state = std::mem::replace(&mut self.state, State::Ended(None));
        self.state = match state {
            State::Asking(request) => match ask(self.client, &request).await {
                Ok(mut reading) => {
                    reading.max_bytes = self.max_bytes;
                    State::Reading(Box::new(reading))
                }
                Err(error) => State::Ended(Some(error)),
            },
            State::Reading(reading) => {
                let bytes = reading.bytes;
                match reading.advance(self.client, &mut self.ready).await {
                    Some(state) => state,
                    None => {
                        let usage = Usage::estimated(self.prompt_bytes, bytes);
                        self.ready.push_back(Chunk::Usage(usage));
                        self.ready.push_back(Chunk::Finish(FinishReason::Length));
                        State::Ended(None)
                    }
                }
            }
            ended => ended,
        };
    }
}

async fn ask<P: Protocol>(
    client: &P,
    request: &Request,
) -> Result<Reading<P::Decoder>, ModelError> {
    let server = client.server();
    let clock = Clock::start(client, request.delivery);
    let body = client.body(request)?;
    let line = server.line()?;
    let sent = line
        .client
        .post(line.endpoint.clone())
        .headers(client.headers()?)
        .body(body)
        .send();
    let response = match timeout_at(clock.deadline(client, Instant::now()), sent).await {
        Ok(Ok(response)) => response,
        Ok(Err(error)) => return Err(client.failing(|make| transport(make, error))),
        Err(_) => return Err(clock.expired(client)),
    };
    if !response.status().is_success() {
        return Err(refused(client, request, response).await);
    }
    Ok(Reading {
        response,
        form: Form::Unknown,
        decoder: client.decoder(request),
        clock,
        bytes: 0,
        max_bytes: 0,
    })
}

/// The error behind a status, with as much of the server's report as comes in reasonable time.
async fn refused<P: Protocol>(
    client: &P,
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

impl<D: Decode> Reading<D> {
    /// Reads the next bytes; `None` when the reply is longer than any.
    async fn advance<P>(
        mut self: Box<Self>,
        client: &P,
        ready: &mut VecDeque<Chunk>,
    ) -> Option<State<D>>
    where
        P: Protocol<Decoder = D>,
    {
        // A server that always has more ready holds up no clock and nobody else.
        tokio::task::consume_budget().await;
        let since = Instant::now();
        let deadline = self.clock.deadline(client, since);
        let next = self.response.chunk();
        let read = match timeout_at(deadline, next).await {
            _ if deadline <= since => Err(self.clock.expired(client)),
            Ok(Ok(Some(bytes))) => self.take(client, &bytes, since, ready),
            Ok(Ok(None)) => return Some(State::Ended(self.end(client, ready).err())),
            Ok(Err(error)) => Err(client.failing(|make| transport(make, error))),
            Err(_) => Err(self.clock.expired(client)),
        };
        Some(match read {
            Ok(Taken::Some) if self.decoder.is_done() => {
                read_out(&mut self.response).await;
                State::Ended(self.end(client, ready).err())
            }
            Ok(Taken::TooMuch) if !self.decoder.is_whole() => return None,
            Ok(Taken::Some) => State::Reading(self),
            // All that can still be missing is the cost, and that is no reason to ask again.
            Ok(Taken::TooMuch) => {
                self.decoder.finish(ready);
                State::Ended(None)
            }
            Err(error) if error.is_retryable() && self.decoder.is_whole() => {
                self.decoder.finish(ready);
                State::Ended(None)
            }
            Err(error) => State::Ended(Some(error)),
        })
    }

    /// Takes what was waited for since then.
    fn take<P: Protocol>(
        &mut self,
        client: &P,
        bytes: &[u8],
        since: Instant,
        ready: &mut VecDeque<Chunk>,
    ) -> Result<Taken, ModelError> {
        self.bytes += bytes.len();
        if matches!(self.form, Form::Unknown) {
            // A byte order mark may stand before events, and white space before anything.
            match bytes.trim_ascii_start().first() {
                None if self.bytes > self.max_body() => return Ok(Taken::TooMuch),
                None => return Ok(Taken::Some),
                Some(b'd' | b'e' | b'i' | b'r' | b':' | 0xef) => {
                    self.form = Form::Events(SseParser::within(self.max_body()));
                }
                Some(_) => self.form = Form::Whole(Vec::new()),
            }
        }
        let (max_body, known) = (self.max_body(), ready.len());
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
                let mut decoded = Ok(());
                let decoder = &mut self.decoder;
                let (had_events, kept) = (decoder.has_events(), decoder.kept_bytes());
                let parsed = parser.push(bytes, |data| {
                    if decoded.is_ok() {
                        decoded = decoder.event(data, ready);
                    }
                });
                decoded.map_err(|error| client.failing(|make| error.told(make)))?;
                let is_long = self.bytes > MAX_STREAM_BYTES.max(max_body);
                if parsed == Err(TooLong) || is_long || decoder.kept_bytes() > max_body {
                    return Ok(Taken::TooMuch);
                }
                // Signs of life are not the reply: a server can give them for ever.
                let has_begun = decoder.has_events() && !had_events;
                match has_begun
                    || decoder.kept_bytes() > kept
                    || ready.iter().skip(known).any(says_something)
                {
                    true => self.clock.goes_on(),
                    false => self.clock.silent += since.elapsed(),
                }
                if decoder.is_whole() {
                    let cost = Instant::now() + COST_PATIENCE;
                    self.clock.cost.get_or_insert(cost);
                }
            }
        }
        Ok(Taken::Some)
    }

    fn max_body(&self) -> usize {
        let said = self.max_bytes.saturating_mul(BODY_FACTOR);
        said.saturating_add(BODY_FRAME)
    }

    /// The server has said all it wants to say.
    fn end<P: Protocol>(self, client: &P, ready: &mut VecDeque<Chunk>) -> Result<(), ModelError> {
        let mut decoder = self.decoder;
        match self.form {
            Form::Unknown => return Err(client.failing(|make| make.protocol("is empty"))),
            Form::Whole(body) => {
                if let Err(error) = decoder.whole(&body, ready) {
                    let is_json = serde_json::from_slice::<serde::de::IgnoredAny>(&body).is_ok();
                    return Err(client.failing(|make| match is_json {
                        true => error.told(make),
                        false => make.not_json(&body),
                    }));
                }
            }
            Form::Events(mut parser) => {
                // Half an event is no event: the reply counts as cut off.
                if let Some(data) = parser.finish()
                    && let Err(error) = decoder.event(&data, ready)
                    && !matches!(error, DecodeError::Malformed(_))
                {
                    return Err(client.failing(|make| error.told(make)));
                }
            }
        }
        if !decoder.has_events() {
            return Err(client.failing(|make| make.protocol("holds no event")));
        }
        if !decoder.is_whole() {
            let what = "was cut off: it ended without a reason for stopping";
            return Err(client.failing(|make| make.protocol(what)));
        }
        decoder.finish(ready);
        Ok(())
    }
}

impl Clock {
    fn start<P: Protocol>(client: &P, delivery: Delivery) -> Self {
        let now = Instant::now();
        let timeouts = &client.server().timeouts;
        let total = later(now, timeouts.total);
        Self {
            first_byte: match delivery {
                Delivery::Streamed => later(now, timeouts.first_byte),
                // It comes when all is written.
                Delivery::Whole => total,
            },
            total,
            has_begun: false,
            silent: Duration::ZERO,
            cost: None,
        }
    }

    /// Until when more of the reply has to come.
    fn deadline<P: Protocol>(&self, client: &P, now: Instant) -> Instant {
        let idle = client.server().timeouts.idle;
        let next = match (self.cost, self.has_begun) {
            (Some(cost), _) => cost,
            (None, true) => later(now, idle.saturating_sub(self.silent)),
            (None, false) => self.first_byte,
        };
        next.min(self.total)
    }

    /// More of the reply has come.
    fn goes_on(&mut self) {
        self.has_begun = true;
        self.silent = Duration::ZERO;
    }

    /// The error of the limit that has run out.
    fn expired<P: Protocol>(&self, client: &P) -> ModelError {
        let timeouts = &client.server().timeouts;
        let (limit, after) = if Instant::now() >= self.total {
            (Limit::Total, timeouts.total)
        } else if self.has_begun {
            (Limit::Idle, timeouts.idle)
        } else {
            (Limit::FirstByte, timeouts.first_byte)
        };
        client.failing(|make| make.timeout(limit, Some(after)))
    }
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

/// Reads a reply to its last byte, so that its connection can be used again.
async fn read_out(response: &mut reqwest::Response) {
    let mut rest = pin!(async { while let Ok(Some(_)) = response.chunk().await {} });
    // The task of the connection most often has the end at hand. To let it speak is cheaper than
    // to set a clock, and the next request finds the connection free.
    for _ in 0..2 {
        if poll!(rest.as_mut()).is_ready() {
            return;
        }
        tokio::task::yield_now().await;
    }
    let _ = timeout(END_PATIENCE, rest).await;
}

/// The connection could not be made or broke.
fn transport(failures: Failures<'_>, error: reqwest::Error) -> ModelError {
    if error.is_timeout() {
        // The only limit that is left to the HTTP library.
        return failures.timeout(Limit::Connect, None);
    }
    let is_made = !error.is_connect();
    // The URL may hold a password; the message names the server without it.
    let error = error.without_url();
    let mut cause: &dyn std::error::Error = &error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    let message = failures.connection(is_made, &cause.to_string());
    ModelError::new(ModelErrorKind::Connection, message).with_source(error)
}

/// A duration beyond what the clock can say means never, or as good as.
fn later(from: Instant, duration: Duration) -> Instant {
    const FAR: Duration = Duration::from_secs(365 * 24 * 3600);
    from.checked_add(duration).unwrap_or_else(|| from + FAR)
}
