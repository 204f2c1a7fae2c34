//! Converts requests for genai.

use enact_core::model::{
    Image, ImageSource, Message, ModelError, ModelErrorKind, ModelOptions, Part, RawCall, Request,
    ResponseFormat, ToolChoice,
};
use genai::adapter::AdapterKind;
use genai::chat::{
    ChatMessage, ChatOptions, ChatRequest, ChatResponseFormat, ContentPart, JsonSpec,
    MessageContent, ReasoningEffort, Tool, ToolCall, ToolResponse,
};
use serde_json::{Map, Value};

use crate::portable::{call_id, images, portable_arguments, shown_by};

/// The field of an assistant message with data that the provider requires unchanged.
pub(crate) const OPAQUE: &str = "genai";

/// The request and its options.
pub(crate) fn encode(
    kind: AdapterKind,
    request: &Request,
) -> Result<(ChatRequest, ChatOptions), ModelError> {
    let mut chat = ChatRequest::new(messages(kind, request));
    if !request.tools.is_empty() {
        chat = chat.with_tools(request.tools.list().iter().map(|function| {
            Tool::new(function.name.as_str())
                .with_description(function.description.as_str())
                .with_schema(function.parameters.clone())
        }));
    }
    Ok((chat, options(kind, request)?))
}

fn messages(kind: AdapterKind, request: &Request) -> Vec<ChatMessage> {
    let mut out: Vec<ChatMessage> = Vec::new();
    let mut results: Vec<ToolResponse> = Vec::new();
    let mut pictures: Vec<ContentPart> = Vec::new();
    for message in request.prompt.iter() {
        if let Message::Tool {
            call_id,
            name,
            parts,
        } = message
        {
            let result = ToolResponse::new(call_id.as_str(), message.text());
            results.push(result.with_fn_name(name.as_str()));
            let mut images = images(parts).peekable();
            if images.peek().is_some() {
                pictures.push(ContentPart::from_text(shown_by(name, call_id)));
                pictures.extend(images.map(picture));
            }
            continue;
        }
        flush(&mut out, &mut results, &mut pictures);
        out.push(match message {
            Message::System { text } => ChatMessage::system(text.as_str()),
            Message::Assistant {
                text,
                calls,
                opaque,
            } => ChatMessage::assistant(assistant(kind, text, calls, opaque.as_ref())),
            Message::User { parts } => ChatMessage::user(MessageContent::from_parts(
                parts.iter().map(part).collect::<Vec<_>>(),
            )),
            Message::Tool { .. } => continue,
        });
    }
    flush(&mut out, &mut results, &mut pictures);
    out
}

/// The results of one turn form one message. Providers reject images in it, and other messages
/// between the results: those follow.
fn flush(
    out: &mut Vec<ChatMessage>,
    results: &mut Vec<ToolResponse>,
    pictures: &mut Vec<ContentPart>,
) {
    if !results.is_empty() {
        out.push(ChatMessage::from(std::mem::take(results)));
    }
    if !pictures.is_empty() {
        let pictures = MessageContent::from_parts(std::mem::take(pictures));
        out.push(ChatMessage::user(pictures));
    }
}

fn assistant(
    kind: AdapterKind,
    text: &str,
    calls: &[RawCall],
    opaque: Option<&Value>,
) -> MessageContent {
    // Signatures of another provider are meaningless here.
    let kept = opaque.and_then(|opaque| opaque.get(OPAQUE));
    let kept = kept.filter(|kept| kept["provider"] == kind.as_lower_str());
    let thoughts = kept.and_then(|kept| kept["thoughts"].as_array());
    let thoughts = thoughts.into_iter().flatten();
    let mut parts: Vec<ContentPart> = thoughts
        .filter_map(|part| serde_json::from_value(part.clone()).ok())
        .collect();
    if !text.is_empty() || calls.is_empty() {
        parts.push(ContentPart::from_text(text));
    }
    for (index, call) in calls.iter().enumerate() {
        let signatures = kept.and_then(|kept| kept["calls"].get(index));
        let signatures = signatures.and_then(|list| serde_json::from_value(list.clone()).ok());
        parts.push(ContentPart::ToolCall(ToolCall {
            call_id: call_id(call, index).into_owned(),
            fn_name: call.name.clone(),
            fn_arguments: serde_json::from_str(portable_arguments(&call.arguments))
                .unwrap_or_default(),
            thought_signatures: signatures,
        }));
    }
    MessageContent::from_parts(parts)
}

fn part(part: &Part) -> ContentPart {
    match part {
        Part::Text(text) => ContentPart::from_text(text.as_str()),
        Part::Image(image) => picture(image),
    }
}

fn picture(image: &Image) -> ContentPart {
    let media_type = image.media_type.as_str();
    match &image.source {
        ImageSource::Url(url) => ContentPart::from_binary_url(media_type, url.as_str(), None),
        ImageSource::Base64(data) => {
            ContentPart::from_binary_base64(media_type, data.as_str(), None)
        }
    }
}

fn options(kind: AdapterKind, request: &Request) -> Result<ChatOptions, ModelError> {
    let ModelOptions {
        temperature,
        max_tokens,
        seed,
        reasoning_effort,
        extra,
        ..
    } = &request.options;
    let mut options = ChatOptions::default()
        .with_capture_usage(true)
        .with_capture_content(true)
        .with_capture_reasoning_content(true)
        .with_capture_tool_calls(true)
        .with_stop_sequences(request.stop.clone());
    options.temperature = temperature.filter(|value| value.is_finite());
    options.max_tokens = *max_tokens;
    options.seed = *seed;
    if let Some(effort) = reasoning_effort {
        let known: ReasoningEffort = effort.trim().parse().map_err(|_| {
            invalid(format!(
                "`{effort}` is no reasoning effort here: give `none`, `low`, `medium`, `high`, \
                 `max`, or a number of tokens"
            ))
        })?;
        options.reasoning_effort = Some(known);
    }
    options.response_format = match &request.response_format {
        ResponseFormat::Text => None,
        ResponseFormat::JsonObject => Some(ChatResponseFormat::JsonMode),
        ResponseFormat::Schema { name, schema } => {
            let spec = JsonSpec::new(name.as_str(), Value::clone(schema));
            Some(ChatResponseFormat::JsonSpec(spec))
        }
    };
    if !request.tools.is_empty() {
        use genai::chat::ToolChoice as Choice;
        options.tool_choice = match &request.tool_choice {
            // The default of providers.
            ToolChoice::Auto => None,
            ToolChoice::Required => Some(Choice::Required),
            ToolChoice::None => Some(Choice::None),
            ToolChoice::Named(name) => Some(Choice::tool(name.as_str())),
        };
    }
    let extra: Map<String, Value> = extra
        .iter()
        .filter(|(_, value)| !value.is_null())
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    if !extra.is_empty() {
        if takes_no_extra(kind) {
            return Err(invalid(format!(
                "`{}` takes no extra model options: empty `ModelOptions::extra`",
                kind.as_lower_str()
            )));
        }
        options.extra_body = Some(Value::Object(extra));
    }
    Ok(options)
}

/// Whether genai would silently drop further fields.
fn takes_no_extra(kind: AdapterKind) -> bool {
    matches!(
        kind,
        AdapterKind::BedrockApi
            | AdapterKind::Cohere
            | AdapterKind::Ollama
            | AdapterKind::OllamaCloud
    )
}

fn invalid(message: String) -> ModelError {
    ModelError::new(ModelErrorKind::InvalidRequest, message)
}
