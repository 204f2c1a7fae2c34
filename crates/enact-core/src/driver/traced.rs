//! The spans of a run, for `tracing` subscribers: see [`crate::telemetry`].

use std::collections::HashMap;
use std::sync::Arc;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use tracing::field::Empty;
use tracing::{Instrument as _, Span};

use super::content;
use super::drive::Stop;
use super::effects::{Acted, Answered, Asking, Doing, Effect, Effects, Stopped};
use crate::error::{Error, ErrorKind};
use crate::model::{LanguageModel, ResponseFormat, Secrets, Usage};
use crate::react::{RunState, ToolCall};
use crate::run::{Call, PredictorName, Run};
use crate::telemetry::*;

/// The error type of abandoned work.
const CANCELLED: &str = "cancelled";

/// The models of a run, for the names of spans.
pub(crate) type Models = HashMap<PredictorName, Arc<dyn LanguageModel>>;

/// Creates a span for each model request and each call.
pub struct Traced<E> {
    inner: E,
    models: Models,
    /// The secrets that spans with content leave out; `None` for spans without content.
    content: Option<Secrets>,
}

impl<E: Effects> Traced<E> {
    pub(crate) fn new(inner: E, models: Models, content: Option<Secrets>) -> Self {
        Self {
            inner,
            models,
            content,
        }
    }

    /// One request to a model.
    async fn chat(&self, asking: Asking<'_>) -> Result<Answered, Stopped> {
        let model = self.models.get(&asking.predictor).map(AsRef::as_ref);
        let span = chat_span(model, &asking);
        if span.is_disabled() {
            return self.inner.ask(asking).await;
        }
        if let Some(secrets) = &self.content {
            let (system, messages) = content::prompt(&asking.request.prompt);
            span.record(SYSTEM_INSTRUCTIONS, &*secrets.redact(&system));
            span.record(INPUT_MESSAGES, &*secrets.redact(&messages));
        }
        let asked = within(span.clone(), self.inner.ask(asking)).await;
        if asked.is_err() {
            fail(&span, CANCELLED);
        }
        let asked = asked?;
        match &asked.outcome {
            Ok(reply) => {
                record_usage(&span, reply.usage);
                span.record(FINISH_REASONS, reply.finish.as_str());
                if let Some(secrets) = &self.content {
                    let said = content::reply(reply);
                    span.record(OUTPUT_MESSAGES, &*secrets.redact(&said));
                }
            }
            Err(error) => {
                // These messages contain neither a key nor a prompt.
                span.record(STATUS_TEXT, error.to_string());
                fail(&span, error.kind().as_str());
            }
        }
        Ok(asked)
    }
}

impl<E: Effects> Effects for Traced<E> {
    fn ask<'a>(&'a self, asking: Asking<'a>) -> Effect<'a, Answered> {
        match is_heard() {
            true => Box::pin(self.chat(asking)),
            false => self.inner.ask(asking),
        }
    }

    /// The spans of calls start here, as siblings.
    fn act<'a>(&'a self, run: &Run, calls: Vec<ToolCall>) -> Doing<'a> {
        if !is_heard() {
            return self.inner.act(run, calls);
        }
        let calls = calls.into_iter().map(|call| {
            let span = tool_span(run, &call.call);
            let content = self.content.as_ref().filter(|_| !span.is_disabled());
            if content.is_some() {
                span.record(TOOL_ARGUMENTS, content::object(&call.call.args));
            }
            let mut work = self.inner.act(run, vec![call]);
            async move {
                let done = within(span.clone(), work.next()).await;
                match &done {
                    Some(Ok(acted)) => record_done(&span, acted, content),
                    _ => fail(&span, CANCELLED),
                }
                done
            }
        });
        let done = calls.collect::<FuturesUnordered<_>>();
        Box::pin(done.filter_map(std::future::ready))
    }

    crate::forward_effects!(self => (self.inner):
        now, proceed, append, abandon, check, ends, tools, wait, stepped);
}

fn record_done(span: &Span, acted: &Acted, content: Option<&Secrets>) {
    let Acted::Done { done, failure } = acted else {
        return;
    };
    if let Some(failure) = failure {
        fail(span, failure.as_str());
    }
    if let Some(secrets) = content {
        let observed = done.observation.text();
        span.record(TOOL_RESULT, &*secrets.redact(&observed));
    }
}

/// The work on a run, from a call or a resumption to its end or the next pause.
pub(crate) async fn in_span(
    state: &mut RunState,
    effects: &dyn Effects,
    model: Option<&dyn LanguageModel>,
    has_content: bool,
) -> Result<Stop, Error> {
    let span = agent_span(state, model);
    if span.is_disabled() {
        return super::drive(state, effects).await;
    }
    let (before, paid) = (state.run().usage(), state.run().cost());
    if has_content {
        span.record(
            INPUT_MESSAGES,
            content::inputs(&state.run().started().inputs),
        );
    }
    let stop = within(span.clone(), super::drive(state, effects)).await;
    // A resumed run has earlier usage.
    record_usage(&span, state.run().usage().since(before));
    if let (Some(paid), Some(cost)) = (paid, state.run().cost()) {
        span.record(COST, cost - paid);
    }
    match &stop {
        Ok(Stop::Paused(_)) => {
            span.record(ENDING, "paused");
        }
        Err(error) if error.kind() == ErrorKind::Interrupted => {
            span.record(ENDING, error.kind().as_str());
        }
        Ok(Stop::Finished) => {}
        Err(error) => fail(&span, error.kind().as_str()),
    }
    if let Some(reason) = state.run().termination() {
        span.record(ENDING, reason.as_str());
    }
    if let Some(outputs) = state.run().outputs().filter(|_| has_content) {
        span.record(OUTPUT_MESSAGES, content::outputs(outputs));
    }
    stop
}

/// Whether there is a subscriber. Fields are only computed for one.
pub(crate) fn is_heard() -> bool {
    tracing::enabled!(target: TARGET, tracing::Level::INFO)
}

fn agent_span(state: &RunState, model: Option<&dyn LanguageModel>) -> Span {
    if !is_heard() {
        return Span::none();
    }
    let agent = &state.run().started().agent;
    tracing::info_span!(
        target: TARGET,
        "invoke_agent",
        { SPAN_NAME } = named("invoke_agent", agent.signature.name()),
        { SPAN_KIND } = "internal",
        { OPERATION } = "invoke_agent",
        { AGENT_NAME } = agent.signature.name(),
        { RUN } = state.run().id(),
        { SIGNATURE } = agent.signature.arrow(),
        { PROVIDER } = model.and_then(LanguageModel::provider),
        { MODEL } = model.map(LanguageModel::name),
        { INPUT_TOKENS } = Empty,
        { OUTPUT_TOKENS } = Empty,
        { CACHED_TOKENS } = Empty,
        { REASONING_TOKENS } = Empty,
        { COST } = Empty,
        { ENDING } = Empty,
        { ERROR_TYPE } = Empty,
        { STATUS } = Empty,
        { INPUT_MESSAGES } = Empty,
        { OUTPUT_MESSAGES } = Empty,
    )
}

fn chat_span(model: Option<&dyn LanguageModel>, asking: &Asking<'_>) -> Span {
    let name = model.map(LanguageModel::name);
    let server = model.and_then(LanguageModel::base_url).and_then(server);
    let options = &asking.request.options;
    tracing::info_span!(
        target: TARGET,
        "chat",
        { SPAN_NAME } = named("chat", name),
        { SPAN_KIND } = "client",
        { OPERATION } = "chat",
        { RUN } = asking.run().id(),
        { PREDICTOR } = asking.predictor.as_str(),
        { PROVIDER } = model.and_then(LanguageModel::provider),
        { MODEL } = name,
        { SERVER_ADDRESS } = server.map(|(host, _)| host),
        { SERVER_PORT } = server.map(|(_, port)| i64::from(port)),
        { TEMPERATURE } = options.temperature,
        { MAX_TOKENS } = options.max_tokens.map(i64::from),
        { SEED } = options.seed.map(count),
        { OUTPUT_TYPE } = output_type(&asking.request.response_format),
        { FINISH_REASONS } = Empty,
        { INPUT_TOKENS } = Empty,
        { OUTPUT_TOKENS } = Empty,
        { CACHED_TOKENS } = Empty,
        { REASONING_TOKENS } = Empty,
        { ERROR_TYPE } = Empty,
        { STATUS } = Empty,
        { STATUS_TEXT } = Empty,
        { SYSTEM_INSTRUCTIONS } = Empty,
        { INPUT_MESSAGES } = Empty,
        { OUTPUT_MESSAGES } = Empty,
    )
}

fn tool_span(run: &Run, call: &Call) -> Span {
    tracing::info_span!(
        target: TARGET,
        "execute_tool",
        { SPAN_NAME } = named("execute_tool", Some(&call.name)),
        { SPAN_KIND } = "internal",
        { OPERATION } = "execute_tool",
        { RUN } = run.id(),
        { TOOL_NAME } = call.name,
        { TOOL_CALL_ID } = call.id,
        { TOOL_TYPE } = "function",
        { ERROR_TYPE } = Empty,
        { STATUS } = Empty,
        { TOOL_ARGUMENTS } = Empty,
        { TOOL_RESULT } = Empty,
    )
}

fn fail(span: &Span, kind: &str) {
    span.record(ERROR_TYPE, kind);
    span.record(STATUS, "ERROR");
}

/// Runs a future in its span. If it is dropped before it finishes, the span is marked as abandoned.
async fn within<F: Future>(span: Span, work: F) -> F::Output {
    let mut watch = GivenUp(Some(span.clone()));
    let done = work.instrument(span).await;
    watch.0 = None;
    done
}

struct GivenUp(Option<Span>);

impl Drop for GivenUp {
    fn drop(&mut self) {
        if let Some(span) = &self.0 {
            fail(span, CANCELLED);
        }
    }
}

fn record_usage(span: &Span, usage: Usage) {
    span.record(INPUT_TOKENS, count(usage.input_tokens));
    span.record(OUTPUT_TOKENS, count(usage.output_tokens));
    span.record(CACHED_TOKENS, count(usage.cached_input_tokens));
    span.record(REASONING_TOKENS, count(usage.reasoning_tokens));
}

/// The bridge to OpenTelemetry supports no other number types.
fn count(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn named(operation: &str, what: Option<&str>) -> String {
    match what {
        Some(what) => format!("{operation} {what}"),
        None => operation.to_owned(),
    }
}

fn output_type(format: &ResponseFormat) -> &'static str {
    match format {
        ResponseFormat::Text => "text",
        ResponseFormat::JsonObject | ResponseFormat::Schema { .. } => "json",
    }
}

/// Host and port of an address.
fn server(url: &str) -> Option<(&str, u16)> {
    let (scheme, rest) = url.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    // Anything before an `@` is private.
    let place = authority.rsplit('@').next()?;
    let usual = if scheme == "https" { 443 } else { 80 };
    match place.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => Some((host, port.parse().ok()?)),
        _ => Some((place, usual)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_its_host_and_port() {
        for (url, known) in [
            ("https://api.openai.com/v1", Some(("api.openai.com", 443))),
            ("http://localhost/v1", Some(("localhost", 80))),
            ("http://127.0.0.1:8080", Some(("127.0.0.1", 8080))),
            ("http://[::1]:8080/v1", Some(("[::1]", 8080))),
            ("http://[::1]/v1", Some(("[::1]", 80))),
            ("https://user:key@h:1/v1?k=@x", Some(("h", 1))),
            ("localhost", None),
            ("http://h:port/", None),
        ] {
            assert_eq!(server(url), known, "{url}");
        }
    }
}
