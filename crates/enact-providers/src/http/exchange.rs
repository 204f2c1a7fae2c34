//! One request and its reply: sending, reading, and watching the clock.

use std::collections::VecDeque;
use std::pin::pin;
use std::time::Duration;

use futures_util::{poll, stream};
use tokio::time::{Instant, timeout, timeout_at};

use super::protocol::{Decode, DecodeError, Protocol};
use super::sse::SseParser;
use enact_core::model::failure::{Failures, Limit, retry_after};
use enact_core::model::{
    Chunk, Delivery, ModelError, ModelErrorKind, ReplyStream, Request, cut_repetition,
};

/// A bound on what a broken server can make us keep.
const MAX_REPLY_BYTES: usize = 64 * 1024 * 1024;
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
    let prompt_bytes = request.prompt.bytes();
    let exchange = Exchange {
        client,
        state: State::Asking(Box::new(request)),
        ready: VecDeque::new(),
    };
    let reply = Box::pin(stream::unfold(exchange, Exchange::next));
    cut_repetition(reply, prompt_bytes)
}

struct Exchange<'a, P: Protocol> {
    client: &'a P,
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
}

impl<P: Protocol> Exchange<'_, P> {
    async fn next(mut self) -> Option<(Result<Chunk, ModelError>, Self)> {
        loop {
            if let Some(chunk) = self.ready.pop_front() {
                return Some((Ok(chunk), self));
            }
            self.state = match self.state {
                State::Asking(request) => match ask(self.client, &request).await {
                    Ok(reading) => State::Reading(Box::new(reading)),
                    Err(error) => State::Ended(Some(error)),
                },
                State::Reading(reading) => reading.advance(self.client, &mut self.ready).await,
                State::Ended(error) => {
                    self.state = State::Ended(None);
                    return error.map(|error| (Err(error), self));
                }
            };
        }
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
    let response = match timeout_at(clock.deadline(client), sent).await {
        Ok(Ok(response)) => response,
        Ok(Err(error)) => return Err(client.failing(|make| transport(make, error))),
        Err(_) => return Err(clock.expired(client)),
    };
    if !response.status().is_success() {
        return Err(refused(client, response).await);
    }
    Ok(Reading {
        response,
        form: Form::Unknown,
        decoder: client.decoder(request),
        clock,
        bytes: 0,
    })
}

/// The error behind a status, with as much of the server's report as comes in reasonable time.
async fn refused<P: Protocol>(client: &P, mut response: reqwest::Response) -> ModelError {
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
    client.failing(|make| make.status(status, wait, &report))
}

impl<D: Decode> Reading<D> {
    /// Reads the next bytes.
    async fn advance<P>(mut self: Box<Self>, client: &P, ready: &mut VecDeque<Chunk>) -> State<D>
    where
        P: Protocol<Decoder = D>,
    {
        let mut deadline = self.clock.deadline(client);
        if self.decoder.is_whole() {
            deadline = deadline.min(Instant::now() + COST_PATIENCE);
        }
        let next = self.response.chunk();
        let read = match timeout_at(deadline, next).await {
            Ok(Ok(Some(bytes))) => self.take(client, &bytes, ready),
            Ok(Ok(None)) => return State::Ended(self.end(client, ready).err()),
            Ok(Err(error)) => Err(client.failing(|make| transport(make, error))),
            Err(_) => Err(self.clock.expired(client)),
        };
        match read {
            Ok(()) if self.decoder.is_done() => {
                read_out(&mut self.response).await;
                State::Ended(self.end(client, ready).err())
            }
            Ok(()) => State::Reading(self),
            // All that can still be missing is the cost, and that is no reason to ask again.
            Err(error) if error.is_retryable() && self.decoder.is_whole() => {
                self.decoder.finish(ready);
                State::Ended(None)
            }
            Err(error) => State::Ended(Some(error)),
        }
    }

    fn take<P: Protocol>(
        &mut self,
        client: &P,
        bytes: &[u8],
        ready: &mut VecDeque<Chunk>,
    ) -> Result<(), ModelError> {
        self.clock.has_begun = true;
        self.bytes += bytes.len();
        if self.bytes > MAX_REPLY_BYTES {
            let what = format!("is longer than {MAX_REPLY_BYTES} bytes");
            return Err(client.failing(|make| make.protocol(&what)));
        }
        if matches!(self.form, Form::Unknown) {
            // A byte order mark may stand before events, and white space before anything.
            match bytes.trim_ascii_start().first() {
                None => return Ok(()),
                Some(b'd' | b'e' | b'i' | b'r' | b':' | 0xef) => {
                    self.form = Form::Events(SseParser::default());
                }
                Some(_) => self.form = Form::Whole(Vec::new()),
            }
        }
        match &mut self.form {
            Form::Unknown => Ok(()),
            Form::Whole(body) => {
                body.extend_from_slice(bytes);
                Ok(())
            }
            Form::Events(parser) => {
                let mut decoded = Ok(());
                let decoder = &mut self.decoder;
                let parsed = parser.push(bytes, |data| {
                    if decoded.is_ok() {
                        decoded = decoder.event(data, ready);
                    }
                });
                decoded.map_err(|error| client.failing(|make| error.told(make)))?;
                parsed.map_err(|_| {
                    client.failing(|make| make.protocol("has an event without an end"))
                })
            }
        }
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
        }
    }

    /// Until when the next bytes have to come.
    fn deadline<P: Protocol>(&self, client: &P) -> Instant {
        let next = if self.has_begun {
            later(Instant::now(), client.server().timeouts.idle)
        } else {
            self.first_byte
        };
        next.min(self.total)
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
