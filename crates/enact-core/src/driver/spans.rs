//! The spans of a run, for whoever listens with `tracing`: see [`crate::telemetry`].

use tracing::field::Empty;
use tracing::{Instrument as _, Span};

use super::writing::Writing;
use super::{Stop, World, content, tools};
use crate::error::{Error, ErrorKind};
use crate::model::{LanguageModel, ModelError, Reply, ResponseFormat, Usage};
use crate::react::{ModelCall, RunState, ToolCall};
use crate::run::{Call, PredictorName, Run};
use crate::telemetry::*;

/// Work on a run, from a call or a resumption to its end or the next pause.
pub(super) async fn agent(state: &mut RunState, world: &World) -> Result<Stop, Error> {
    let span = agent_span(state, world);
    if span.is_disabled() {
        return super::work(state, world).await;
    }
    let (before, paid) = (state.run().usage(), state.run().cost());
    if world.has_content_in_spans {
        span.record(
            INPUT_MESSAGES,
            content::inputs(&state.run().started().inputs),
        );
    }
    let stop = within(span.clone(), super::work(state, world)).await;
    record_usage(&span, since(state.run().usage(), before));
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
    if let Some(outputs) = state.run().outputs().filter(|_| world.has_content_in_spans) {
        span.record(OUTPUT_MESSAGES, content::outputs(outputs));
    }
    stop
}

/// Whether anybody listens. What spans say is put together only then.
fn is_heard() -> bool {
    tracing::enabled!(target: TARGET, tracing::Level::INFO)
}

fn agent_span(state: &RunState, world: &World) -> Span {
    if !is_heard() {
        return Span::none();
    }
    let agent = &state.run().started().agent;
    let steps = world.models.get(&PredictorName::Step);
    tracing::info_span!(
        target: TARGET,
        "invoke_agent",
        { SPAN_NAME } = named("invoke_agent", agent.signature.name()),
        { SPAN_KIND } = "internal",
        { OPERATION } = "invoke_agent",
        { AGENT_NAME } = agent.signature.name(),
        { RUN } = state.run().id(),
        { SIGNATURE } = agent.signature.arrow(),
        { PROVIDER } = steps.and_then(|model| model.provider()),
        { MODEL } = steps.map(|model| model.name()),
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

/// One request to a model.
pub(super) async fn chat(
    world: &World,
    run: &str,
    call: ModelCall,
    writing: Option<&mut Writing<'_>>,
) -> Result<Reply, ModelError> {
    let model = world.models.get(&call.predictor).map(AsRef::as_ref);
    let span = chat_span(model, run, &call);
    if span.is_disabled() {
        return super::ask(world, call, writing).await;
    }
    if world.has_content_in_spans {
        let (system, messages) = content::prompt(&call.request.prompt);
        span.record(SYSTEM_INSTRUCTIONS, &*world.secrets.redact(&system));
        span.record(INPUT_MESSAGES, &*world.secrets.redact(&messages));
    }
    let asked = within(span.clone(), super::ask(world, call, writing)).await;
    match &asked {
        Ok(reply) => {
            record_usage(&span, reply.usage);
            span.record(FINISH_REASONS, reply.finish.as_str());
            if world.has_content_in_spans {
                let said = content::reply(reply);
                span.record(OUTPUT_MESSAGES, &*world.secrets.redact(&said));
            }
        }
        Err(error) => {
            // Such a message holds neither a key nor a prompt.
            span.record(STATUS_TEXT, error.to_string());
            fail(&span, error.kind().as_str());
        }
    }
    asked
}

fn chat_span(model: Option<&dyn LanguageModel>, run: &str, call: &ModelCall) -> Span {
    if !is_heard() {
        return Span::none();
    }
    let name = model.map(LanguageModel::name);
    let server = model.and_then(LanguageModel::base_url).and_then(server);
    let options = &call.request.options;
    tracing::info_span!(
        target: TARGET,
        "chat",
        { SPAN_NAME } = named("chat", name),
        { SPAN_KIND } = "client",
        { OPERATION } = "chat",
        { RUN } = run,
        { PREDICTOR } = call.predictor.as_str(),
        { PROVIDER } = model.and_then(LanguageModel::provider),
        { MODEL } = name,
        { SERVER_ADDRESS } = server.map(|(host, _)| host),
        { SERVER_PORT } = server.map(|(_, port)| i64::from(port)),
        { TEMPERATURE } = options.temperature,
        { MAX_TOKENS } = options.max_tokens.map(i64::from),
        { SEED } = options.seed.map(count),
        { OUTPUT_TYPE } = output_type(&call.request.response_format),
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

/// One tool call. The span begins here, as a sibling of those of the calls beside it.
pub(super) fn tool(
    world: &World,
    run: &Run,
    planned: ToolCall,
) -> impl Future<Output = tools::Outcome> + Send + use<> {
    let call = &planned.call;
    let span = tool_span(run, call);
    let has_content = world.has_content_in_spans && !span.is_disabled();
    if has_content {
        span.record(TOOL_ARGUMENTS, content::arguments(&call.args));
    }
    let secrets = has_content.then(|| world.secrets.clone());
    let work = tools::run(world, run, planned);
    async move {
        if span.is_disabled() {
            return work.await;
        }
        let outcome = within(span.clone(), work).await;
        if let (tools::Outcome::Finished { observation, .. }, Some(secrets)) = (&outcome, secrets) {
            let observed = content::observation(observation);
            span.record(TOOL_RESULT, &*secrets.redact(&observed));
        }
        outcome
    }
}

fn tool_span(run: &Run, call: &Call) -> Span {
    if !is_heard() {
        return Span::none();
    }
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

/// Marks the span of the tool call that is running here as failed.
pub(super) fn fail_here(kind: &str) {
    fail(&Span::current(), kind);
}

fn fail(span: &Span, kind: &str) {
    span.record(ERROR_TYPE, kind);
    span.record(STATUS, "ERROR");
}

/// Does work inside its span. Work that is dropped before it is over is marked as given up.
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
            fail(span, "cancelled");
        }
    }
}

fn record_usage(span: &Span, usage: Usage) {
    span.record(INPUT_TOKENS, count(usage.input_tokens));
    span.record(OUTPUT_TOKENS, count(usage.output_tokens));
    span.record(CACHED_TOKENS, count(usage.cached_input_tokens));
    span.record(REASONING_TOKENS, count(usage.reasoning_tokens));
}

/// What was spent since then. A resumed run has spent before.
fn since(now: Usage, before: Usage) -> Usage {
    let mut spent = Usage::of_request(
        now.input_tokens.saturating_sub(before.input_tokens),
        now.output_tokens.saturating_sub(before.output_tokens),
    );
    spent.cached_input_tokens = now
        .cached_input_tokens
        .saturating_sub(before.cached_input_tokens);
    spent.reasoning_tokens = now.reasoning_tokens.saturating_sub(before.reasoning_tokens);
    spent
}

/// The bridge to OpenTelemetry knows no other numbers.
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
    // Whatever stands before an `@` is not for others to see.
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
