//! Probes the actual capabilities of a model.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use enact_core::model::{
    Capabilities, FinishReason, Function, Functions, LanguageModel, Message, ModelError,
    ModelErrorKind, ModelInfo, Part, Prompt, RawCall, Reply, ReplyStream, Request, ResponseFormat,
    ToolChoice,
};

/// The time limit for all requests of a probe.
const PATIENCE: Duration = Duration::from_secs(120);
/// Enough tokens for a call after some thinking.
const MAX_TOKENS: u32 = 1024;

const LOOK_UP: &str = "look_up";
const SUBMIT: &str = "submit";
const CALCULATE: &str = "calculate";
const INSTRUCTIONS: &str = "Answer the question with the help of the tools. Every reply has to call a tool. \
                            Once the results show the answer, call `submit` with it, alone.";
/// A model may believe that it knows this. One that doesn't look it up won't do so in tasks either.
const QUESTION: &str = "What is the population of Konstanz?";
const TOWN: &str = "konstanz";
const FOUND: &str = "84446";

/// Doesn't mention JSON: a model that answers with it was forced to.
const SMALL_TALK: &str = "Describe the sea in one short sentence.";
const COLOURS: [&str; 3] = ["red", "green", "blue"];

/// Words in rejections of tools or schemas. Some servers return a status without a reason.
const TOOL_WORDS: [&str; 4] = ["tool", "function", "jinja", "template"];
const SCHEMA_WORDS: [&str; 5] = ["response_format", "schema", "json", "grammar", "format"];
/// How an error starts to quote the server.
const SERVER_SAID: &str = "; the server said: ";

/// Finds out what a model really does, by two to four short requests: whether it answers with tool
/// calls unasked and goes on from their results, whether it is held to a JSON Schema, and, if it calls
/// tools, whether it makes a call that is demanded.
///
/// A server that claims to support tools may leave them to the model, which then writes calls as text;
/// and a small model may call the same tool forever. [`Capabilities::tools`] is only set if a call arrives
/// as a call, without being demanded, and the next step is a different one.
///
/// What the server rejects, it doesn't support. Any other failure is an error, and says nothing about the
/// model: no connection, no key, too many requests, a model that is still loading, endless thinking, or
/// more than two minutes in total.
///
/// ```no_run
/// # async fn f() -> Result<(), enact::model::ModelError> {
/// use enact::model::{OpenAi, probe};
///
/// let model = OpenAi::new("qwen3").with_base_url("http://localhost:8080/v1")?;
/// let found = probe(&model).await?;
/// let model = model.with_capabilities(found);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// If the capabilities can't be determined.
pub async fn probe(model: &(impl LanguageModel + ?Sized)) -> Result<Capabilities, ModelError> {
    let found = async {
        let calls = refusable(calls(model).await)?;
        let schema = refusable(schema(model).await)?;
        let (calls, schema) = match (calls, schema) {
            // Refused both, and not for what they are about: nothing was found out.
            (Err(error), Err(_)) => return Err(error),
            (calls, schema) => (calls.unwrap_or(false), schema.unwrap_or(false)),
        };
        let found = Capabilities::TEXT
            .with_tools(calls)
            .with_response_schema(schema);
        Ok(match calls {
            true => found.with_tool_choice(obeys(model).await?),
            false => found,
        })
    };
    match tokio::time::timeout(PATIENCE, found).await {
        Ok(found) => found,
        Err(_) => Err(ModelError::new(
            ModelErrorKind::Timeout,
            format!("the model did not answer within {PATIENCE:?}"),
        )),
    }
}

/// The conclusion. A request that is rejected without a reason also counts.
fn refusable(found: Result<bool, ModelError>) -> Result<Result<bool, ModelError>, ModelError> {
    match found {
        Err(error) if error.kind() != ModelErrorKind::InvalidRequest => Err(error),
        found => Ok(found),
    }
}

/// Whether calls arrive as calls, and an answered call is not repeated.
async fn calls(model: &(impl LanguageModel + ?Sized)) -> Result<bool, ModelError> {
    let tools = tools();
    let mut prompt: Prompt = [
        Message::System {
            text: INSTRUCTIONS.to_owned(),
        },
        Message::user(QUESTION),
    ]
    .into_iter()
    .collect();
    let asked = |prompt: &Prompt| request(prompt.clone()).with_tools(Arc::clone(&tools));
    let Some(reply) = ask(model, asked(&prompt), &TOOL_WORDS).await? else {
        return Ok(false);
    };
    let Some(call) = only_call(&reply, LOOK_UP, |args| {
        let term = args["term"].as_str().unwrap_or_default();
        term.to_lowercase().contains(TOWN)
    }) else {
        return Ok(false);
    };
    let call_id = call.id.clone().unwrap_or_else(|| "call_0".to_owned());
    prompt.push(Message::Assistant {
        text: reply.text.clone(),
        calls: vec![RawCall {
            id: Some(call_id.clone()),
            ..call.clone()
        }],
        opaque: reply.opaque.clone(),
    });
    prompt.push(Message::Tool {
        call_id,
        name: LOOK_UP.to_owned(),
        parts: vec![Part::Text(FOUND.to_owned())],
    });
    let Some(reply) = ask(model, asked(&prompt), &TOOL_WORDS).await? else {
        return Ok(false);
    };
    let submitted = only_call(&reply, SUBMIT, |args| {
        let answer = args["answer"].as_str().unwrap_or_default();
        let digits: String = answer.chars().filter(char::is_ascii_digit).collect();
        digits.contains(FOUND)
    });
    Ok(submitted.is_some())
}

/// Whether the model makes the call that is demanded of it. Nobody would make this one otherwise: the
/// tool does not help, and nothing in the prompt speaks of tools.
async fn obeys(model: &(impl LanguageModel + ?Sized)) -> Result<bool, ModelError> {
    let prompt = [Message::user(SMALL_TALK)].into_iter().collect();
    let request = request(prompt)
        .with_tools(tools())
        .with_tool_choice(ToolChoice::Named(CALCULATE.to_owned()));
    match ask(model, request, &TOOL_WORDS).await {
        Ok(Some(reply)) => {
            let is_wanted = |call: &RawCall| call.name == CALCULATE;
            Ok(!reply.calls.is_empty() && reply.calls.iter().all(is_wanted))
        }
        Ok(None) => Ok(false),
        // It takes calls, as is known by now.
        Err(error) if is_refusal(error.kind()) => Ok(false),
        // Still thinking: nobody knows, and a demand does no harm.
        Err(error) if error.kind() == ModelErrorKind::Protocol => Ok(true),
        Err(error) => Err(error),
    }
}

fn tools() -> Arc<Functions> {
    Arc::new(Functions::new(vec![
        function(LOOK_UP, "Looks a term up in a table of facts.", "term"),
        function(CALCULATE, "Calculates an expression.", "expression"),
        function(SUBMIT, "Hands the answer in. Ends the task.", "answer"),
    ]))
}

/// Whether the model is held to a schema that it was not told of.
async fn schema(model: &(impl LanguageModel + ?Sized)) -> Result<bool, ModelError> {
    let schema = json!({
        "type": "object",
        "properties": {
            "colour": {"type": "string", "enum": COLOURS},
            "is_deep": {"type": "boolean"},
        },
        "required": ["colour", "is_deep"],
        "additionalProperties": false,
    });
    let format = ResponseFormat::Schema {
        name: "sea".to_owned(),
        schema: Arc::new(schema),
    };
    let prompt = [Message::user(SMALL_TALK)].into_iter().collect();
    let request = request(prompt).with_response_format(format);
    let Some(reply) = ask(model, request, &SCHEMA_WORDS).await? else {
        return Ok(false);
    };
    Ok(
        serde_json::from_str::<HashMap<String, Value>>(reply.text.trim()).is_ok_and(|sea| {
            let colour = sea.get("colour").and_then(Value::as_str);
            sea.len() == 2
                && colour.is_some_and(|colour| COLOURS.contains(&colour))
                && sea.get("is_deep").is_some_and(Value::is_boolean)
        }),
    )
}

fn request(prompt: Prompt) -> Request {
    let mut request = Request::new(prompt);
    request.options.max_tokens = Some(MAX_TOKENS);
    request
}

fn function(name: &str, description: &str, argument: &str) -> Function {
    Function {
        name: name.to_owned(),
        description: description.to_owned(),
        parameters: json!({
            "type": "object",
            "properties": {argument: {"type": "string"}},
            "required": [argument],
            "additionalProperties": false,
        }),
    }
}

/// The reply, or `None` if the feature is rejected. `words` are the names of the feature.
async fn ask(
    model: &(impl LanguageModel + ?Sized),
    request: Request,
    words: &[&str],
) -> Result<Option<Reply>, ModelError> {
    match model.complete(request).await {
        Ok(reply) if thinks_on(&reply) => Err(ModelError::new(
            ModelErrorKind::Protocol,
            format!("the model still thinks after {MAX_TOKENS} tokens"),
        )),
        Ok(reply) => Ok(Some(reply)),
        Err(error) => match error.kind() {
            ModelErrorKind::ToolsRefused | ModelErrorKind::FormatRefused => Ok(None),
            kind if is_refusal(kind) && names(&error, words, model.name()) => Ok(None),
            _ => Err(error),
        },
    }
}

/// Whether a failure of this kind can mean that a feature isn't supported.
fn is_refusal(kind: ModelErrorKind) -> bool {
    matches!(
        kind,
        ModelErrorKind::InvalidRequest | ModelErrorKind::NotFound | ModelErrorKind::Server
    )
}

/// Whether the server mentions the feature. Our own words don't count, nor does the name of the
/// model.
fn names(error: &ModelError, words: &[&str], model: &str) -> bool {
    let message = error.to_string();
    let said = match message.split_once(SERVER_SAID) {
        Some((_, said)) => said,
        // Errors of other clients have other words.
        None if error.status().is_none() => &message,
        None => return false,
    };
    let said = said.replace(model, "").to_lowercase();
    words.iter().any(|word| said.contains(word))
}

/// Whether the reply was cut off before it started: that says nothing about its content.
fn thinks_on(reply: &Reply) -> bool {
    let text = reply.text.trim_start();
    let is_thinking = text.starts_with("<think") && !text.contains("</think");
    let has_begun = !reply.calls.is_empty() || !(text.is_empty() || is_thinking);
    reply.finish == FinishReason::Length
        && !reply.repeats
        && !has_begun
        && (is_thinking || !reply.reasoning.is_empty())
}

/// The only call of a reply, if it is a complete call of this tool with correct arguments.
fn only_call<'a>(
    reply: &'a Reply,
    name: &str,
    is_right: impl Fn(&Value) -> bool,
) -> Option<&'a RawCall> {
    let [call] = &reply.calls[..] else {
        return None;
    };
    let args: Value = serde_json::from_str(&call.arguments).ok()?;
    let is_whole = reply.finish != FinishReason::Length && args.is_object();
    (is_whole && call.name == name && is_right(&args)).then_some(call)
}

/// A model with other capabilities than it claims, such as those found by [`probe`].
///
/// ```
/// use enact::model::{Capabilities, LanguageModel, ScriptedModel, WithCapabilities};
///
/// let model = WithCapabilities::new(ScriptedModel::new([]), Capabilities::TEXT);
/// assert_eq!(model.capabilities(), Capabilities::TEXT);
/// ```
#[derive(Debug, Clone)]
pub struct WithCapabilities<M> {
    model: M,
    capabilities: Capabilities,
}

impl<M> WithCapabilities<M> {
    /// Sets the capabilities of the model.
    pub fn new(model: M, capabilities: Capabilities) -> Self {
        Self {
            model,
            capabilities,
        }
    }
}

impl<M: LanguageModel> LanguageModel for WithCapabilities<M> {
    fn info(&self) -> ModelInfo<'_> {
        let mut info = self.model.info();
        info.capabilities = self.capabilities;
        info
    }

    fn stream(&self, request: Request) -> ReplyStream<'_> {
        self.model.stream(request)
    }
}
