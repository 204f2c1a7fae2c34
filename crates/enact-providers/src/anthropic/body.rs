//! Request bodies in the messages format.
//!
//! The body is written by hand to control its order: tools and instructions come first, so that a longer
//! prompt shares as long a prefix as possible with a shorter one.

use std::fmt::Write as _;

use serde::Serialize;
use serde_json::{Value, json};

use super::blocks::{self, Role};
use crate::http::json::{Fields, encoded, push_value};
use enact_core::model::{
    Delivery, Function, Message, ModelError, ModelErrorKind, ModelOptions, Request, ResponseFormat,
    ToolChoice,
};

const DIALECT: &str = "anthropic";
const RESERVED: [&str; 3] = ["messages", "stream", "tools"];
/// The protocol requires a token limit. Every current model can write this many.
const DEFAULT_MAX_TOKENS: u32 = 8192;
/// The tool that replaces a response format.
pub(super) const ANSWER_TOOL: &str = "answer_as_json";
const ANSWER_DESCRIPTION: &str = "Gives the answer. Call it once, with the whole answer.";
const BREAKPOINT: &str = ",\"cache_control\":{\"type\":\"ephemeral\"}";
/// The number of user turns with a cache breakpoint after them: the newest, which the next request
/// reads, and the one before, which the last request wrote.
const BREAKPOINT_TURNS: usize = 2;

/// The differences between clients.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape<'a> {
    pub(super) model: &'a str,
    pub(super) has_breakpoints: bool,
}

/// Whether the reply's text arrives as the arguments of [`ANSWER_TOOL`].
pub(super) fn is_answer_forced(request: &Request) -> bool {
    request.response_format != ResponseFormat::Text
}

/// The whole body of a request.
pub(super) fn write_body(shape: Shape<'_>, request: &Request) -> Result<String, ModelError> {
    let options = &request.options;
    let thinking = match is_answer_forced(request) {
        true => Thinking::Unsaid,
        false => Thinking::of(options),
    };
    let mut fields = Fields::new(request, &RESERVED)?;
    fields.put("model", Some(shape.model));
    let is_streamed = request.delivery == Delivery::Streamed;
    fields.put("stream", is_streamed.then_some(true));
    fields.put("max_tokens", Some(thinking.max_tokens(options.max_tokens)));
    let temperature = options.temperature.filter(|value| value.is_finite());
    fields.put("temperature", temperature.filter(|_| !thinking.is_on()));
    fields.put("thinking", thinking.field());
    fields.put("output_config", thinking.output_config());
    let stop = Some(&request.stop).filter(|stop| !stop.is_empty());
    fields.put("stop_sequences", stop);
    let system = system_text(request);
    let is_marked = shape.has_breakpoints && system.is_empty();
    put_tools(&mut fields, request, is_marked)?;
    fields.put("tool_choice", tool_choice(request, thinking.is_on()));
    let system = (!system.is_empty()).then(|| {
        let mut block = json!({"type": "text", "text": system});
        if shape.has_breakpoints {
            block["cache_control"] = json!({"type": "ephemeral"});
        }
        [block]
    });
    fields.put("system", system);
    let mut out = fields.finish();
    out.push_str(",\"messages\":[");
    push_turns(&mut out, shape, request);
    out.push_str("]}");
    Ok(out)
}

/// The instructions at the start of the prompt.
fn system_text(request: &Request) -> String {
    let leading = request.prompt.iter().map_while(|message| match message {
        Message::System { text } => Some(text.as_str()),
        _ => None,
    });
    let texts: Vec<&str> = leading.filter(|text| !text.trim().is_empty()).collect();
    texts.join("\n\n")
}

/// Writes the conversation: consecutive messages of one role form one turn.
fn push_turns(out: &mut String, shape: Shape<'_>, request: &Request) {
    let messages = request.prompt.encoded(DIALECT, blocks::encode);
    let said = messages.skip_while(|(message, _)| matches!(message, Message::System { .. }));
    let mut turns: Vec<(Role, String)> = Vec::new();
    for (message, encoded) in said {
        let role = Role::of(message);
        match turns.last_mut() {
            Some((last, turn)) if *last == role => {
                turn.push(',');
                turn.push_str(&encoded);
            }
            _ => turns.push((role, encoded.into_owned())),
        }
    }
    if shape.has_breakpoints {
        let of_user = turns
            .iter_mut()
            .rev()
            .filter(|(role, _)| *role == Role::User);
        for (_, turn) in of_user.take(BREAKPOINT_TURNS) {
            mark(turn);
        }
    }
    for (index, (role, turn)) in turns.iter().enumerate() {
        let (comma, role) = (if index > 0 { "," } else { "" }, role.as_str());
        // Writing to a string cannot fail.
        let _ = write!(out, r#"{comma}{{"role":"{role}","content":[{turn}]}}"#);
    }
}

/// Sets a breakpoint after the last block.
fn mark(blocks: &mut String) {
    if blocks.ends_with('}') {
        blocks.truncate(blocks.len() - 1);
        blocks.push_str(BREAKPOINT);
        blocks.push('}');
    }
}

fn put_tools(
    fields: &mut Fields<'_>,
    request: &Request,
    is_marked: bool,
) -> Result<(), ModelError> {
    let answer = match &request.response_format {
        ResponseFormat::Text => None,
        ResponseFormat::JsonObject => Some(json!({"type": "object"})),
        ResponseFormat::Schema { schema, .. } => Some(Value::clone(schema)),
    };
    let has_answer = answer.is_some();
    let names = request.tools.list().iter().map(|tool| tool.name.as_str());
    if has_answer && names.into_iter().any(|name| name == ANSWER_TOOL) {
        return Err(ModelError::new(
            ModelErrorKind::InvalidRequest,
            format!("a tool cannot be called `{ANSWER_TOOL}` beside a response format: rename it"),
        ));
    }
    if !has_answer && request.tools.is_empty() {
        return Ok(());
    }
    let out = fields.begin("tools");
    out.push('[');
    request.tools.write_wire(DIALECT, out, encode_functions);
    if let Some(input_schema) = &answer {
        if !request.tools.is_empty() {
            out.push(',');
        }
        push_value(
            out,
            &Tool {
                name: ANSWER_TOOL,
                description: ANSWER_DESCRIPTION,
                input_schema,
            },
        );
    }
    if is_marked {
        mark(out);
    }
    out.push(']');
    Ok(())
}

#[derive(Serialize)]
struct Tool<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    description: &'a str,
    input_schema: &'a Value,
}

fn encode_functions(functions: &[Function]) -> String {
    let tools = functions.iter().map(|function| Tool {
        name: &function.name,
        description: &function.description,
        input_schema: &function.parameters,
    });
    let list = encoded(&tools.collect::<Vec<_>>());
    list[1..list.len() - 1].to_owned()
}

fn tool_choice(request: &Request, is_thinking: bool) -> Option<Value> {
    let answer = json!({"type": "tool", "name": ANSWER_TOOL});
    let has_tools = !request.tools.is_empty();
    if is_answer_forced(request) {
        return Some(match &request.tool_choice {
            ToolChoice::Auto | ToolChoice::Required if has_tools => json!({"type": "any"}),
            ToolChoice::Named(name) if has_tools => json!({"type": "tool", "name": name}),
            _ => answer,
        });
    }
    // Servers reject a choice without tools, and `auto` is the default.
    match &request.tool_choice {
        _ if !has_tools => None,
        ToolChoice::None => Some(json!({"type": "none"})),
        // With thinking, a tool can't be demanded; the prompt still asks for one.
        _ if is_thinking => None,
        ToolChoice::Auto => None,
        ToolChoice::Required => Some(json!({"type": "any"})),
        ToolChoice::Named(name) => Some(json!({"type": "tool", "name": name})),
    }
}

/// How much the model should think.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Thinking<'a> {
    Unsaid,
    Off,
    Tokens(u32),
    Effort(&'a str),
}

impl<'a> Thinking<'a> {
    fn of(options: &'a ModelOptions) -> Self {
        match options.reasoning_effort.as_deref().map(str::trim) {
            None | Some("") => Self::Unsaid,
            Some("none") => Self::Off,
            Some(effort) => match effort.parse() {
                Ok(tokens) => Self::Tokens(tokens),
                Err(_) => Self::Effort(effort),
            },
        }
    }

    fn is_on(self) -> bool {
        matches!(self, Self::Tokens(_) | Self::Effort(_))
    }

    /// The token limit includes thinking, and has to be larger.
    fn max_tokens(self, asked: Option<u32>) -> u32 {
        match (self, asked) {
            (_, Some(asked)) => asked,
            (Self::Tokens(tokens), None) => tokens.saturating_add(DEFAULT_MAX_TOKENS),
            (_, None) => DEFAULT_MAX_TOKENS,
        }
    }

    fn field(self) -> Option<Value> {
        match self {
            Self::Unsaid => None,
            Self::Off => Some(json!({"type": "disabled"})),
            Self::Tokens(tokens) => Some(json!({"type": "enabled", "budget_tokens": tokens})),
            Self::Effort(_) => Some(json!({"type": "adaptive"})),
        }
    }

    fn output_config(self) -> Option<Value> {
        match self {
            Self::Effort(effort) => Some(json!({"effort": effort})),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(effort: &str, max_tokens: Option<u32>) -> ModelOptions {
        let mut options = ModelOptions::default();
        options.reasoning_effort = Some(effort.into());
        options.max_tokens = max_tokens;
        options
    }

    #[test]
    fn effort_is_a_number_a_word_or_none() {
        let number = options("2000", None);
        assert_eq!(Thinking::of(&number), Thinking::Tokens(2000));
        assert_eq!(Thinking::of(&number).max_tokens(None), 10_192);
        assert_eq!(Thinking::of(&number).max_tokens(Some(4000)), 4000);
        assert_eq!(
            Thinking::of(&options("high", None)),
            Thinking::Effort("high")
        );
        assert_eq!(Thinking::of(&options("none", None)), Thinking::Off);
        assert!(!Thinking::of(&options("none", None)).is_on());
    }
}
