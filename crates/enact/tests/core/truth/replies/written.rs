//! Outputs as models write them down.

use serde_json::{Value, json};

use super::values::Outputs;

/// A form in which a model may hand over its outputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Object,
    ObjectWithReasoning,
    Fenced,
    Nested,
    PythonDict,
    Tags,
    CData,
    Markers,
    Labels,
    BoldLabels,
    Bullets,
    /// Nothing but the value.
    Bare,
    FinalAnswer,
    // From here on it is a call.
    NativeCall,
    CallObject,
    CallUnderName,
    OpenAiCall,
    StepObject,
    ToolCallTags,
    FunctionTags,
    Invoke,
    MarkedStep,
    TaggedStep,
    Code,
    PythonCode,
    FencedCode,
    Action,
    ActionInput,
    ActionBrackets,
}

impl Form {
    pub(super) const ALL: [Self; 29] = [
        Self::Object,
        Self::ObjectWithReasoning,
        Self::Fenced,
        Self::Nested,
        Self::PythonDict,
        Self::Tags,
        Self::CData,
        Self::Markers,
        Self::Labels,
        Self::BoldLabels,
        Self::Bullets,
        Self::Bare,
        Self::FinalAnswer,
        Self::NativeCall,
        Self::CallObject,
        Self::CallUnderName,
        Self::OpenAiCall,
        Self::StepObject,
        Self::ToolCallTags,
        Self::FunctionTags,
        Self::Invoke,
        Self::MarkedStep,
        Self::TaggedStep,
        Self::Code,
        Self::PythonCode,
        Self::FencedCode,
        Self::Action,
        Self::ActionInput,
        Self::ActionBrackets,
    ];

    /// Whether it calls `submit` or `finish`.
    pub(super) fn is_call(self) -> bool {
        self as usize >= Self::NativeCall as usize
    }
}

/// A text where nothing but its place says what it is: in quotes if it would not be read back.
fn plain(ty: &str, value: &Value) -> String {
    let Value::String(text) = value else {
        return value.to_string();
    };
    let needs_quotes = |text: &str| text.is_empty() || text.trim() != text;
    let parsed = serde_json::from_str::<Value>(text).ok();
    let is_quoted = match ty {
        "str" => {
            let inner = parsed.as_ref().and_then(Value::as_str);
            inner.is_some_and(needs_quotes)
        }
        _ => text == "None" || parsed.is_some_and(|value| value.is_string() || value.is_null()),
    };
    match is_quoted || needs_quotes(text) {
        true => value.to_string(),
        false => text.clone(),
    }
}

fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;");
    text.replace('<', "&lt;").replace('>', "&gt;")
}

/// As Python shows it.
fn python(value: &Value) -> String {
    let list = |parts: Vec<String>| parts.join(", ");
    match value {
        Value::Null => "None".to_owned(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::String(text) => {
            let quote = match text.contains('\'') && !text.contains('"') {
                true => '"',
                false => '\'',
            };
            let text = text.replace('\\', "\\\\").replace('\n', "\\n");
            let text = text.replace('\t', "\\t").replace('\r', "\\r");
            format!(
                "{quote}{}{quote}",
                text.replace(quote, &format!("\\{quote}"))
            )
        }
        Value::Array(items) => format!("[{}]", list(items.iter().map(python).collect())),
        Value::Object(fields) => {
            let fields = fields
                .iter()
                .map(|(name, value)| format!("{}: {}", python(&json!(name)), python(value)));
            format!("{{{}}}", list(fields.collect()))
        }
        Value::Number(number) => number.to_string(),
    }
}

/// The text of a reply in this form, with `name` for the tool that ends the task. A native call
/// has none.
pub(super) fn written(form: Form, outputs: &Outputs, name: &str) -> String {
    let object = Value::Object(outputs.values.clone());
    let each = |between: &str, write: &dyn Fn(&str, String) -> String| {
        let parts = outputs.typed();
        let parts = parts.map(|(name, ty, value)| write(name, plain(ty, value)));
        parts.collect::<Vec<_>>().join(between)
    };
    let arguments = |write: &dyn Fn(&Value) -> String| {
        let args = outputs.values.iter();
        let args = args.map(|(name, value)| format!("{name}={}", write(value)));
        args.collect::<Vec<_>>().join(", ")
    };
    let json_of = |value: &Value| value.to_string();
    let only = || {
        outputs
            .only()
            .map(|(ty, value)| plain(ty, value))
            .unwrap_or_default()
    };
    match form {
        Form::Object => object.to_string(),
        Form::ObjectWithReasoning => {
            let mut with = enact::Values::from_iter([("reasoning".to_owned(), json!("so"))]);
            with.extend(outputs.values.clone());
            Value::Object(with).to_string()
        }
        Form::Fenced => format!(
            "```json\n{}\n```",
            serde_json::to_string_pretty(&object).unwrap()
        ),
        Form::Nested => json!({"outputs": object}).to_string(),
        Form::PythonDict => python(&object),
        Form::Tags => each("\n", &|name, text| {
            format!("<{name}>{}</{name}>", escaped(&text))
        }),
        Form::CData => each("\n", &|name, text| {
            format!("<{name}><![CDATA[{text}]]></{name}>")
        }),
        Form::Markers => {
            each("\n", &|name, text| format!("[[ ## {name} ## ]]\n{text}\n"))
                + "\n[[ ## completed ## ]]"
        }
        Form::Labels => each("\n", &|name, text| format!("{name}: {text}")),
        Form::BoldLabels => each("\n", &|name, text| {
            format!("**{}:** {text}", name.replace('_', " ").to_uppercase())
        }),
        Form::Bullets => each("\n", &|name, text| format!("- {name}: {text}")),
        Form::Bare => only(),
        Form::FinalAnswer => format!("Final Answer: {}", only()),
        Form::NativeCall => String::new(),
        Form::CallObject => json!({"name": name, "arguments": object}).to_string(),
        Form::CallUnderName => json!({name: object}).to_string(),
        Form::OpenAiCall => {
            let function = json!({"name": name, "arguments": object.to_string()});
            json!({"tool_calls": [{"id": "call_9", "type": "function", "function": function}]})
                .to_string()
        }
        Form::StepObject => json!({
            "next_thought": "I know it.",
            "next_tool_name": name,
            "next_tool_args": object,
        })
        .to_string(),
        Form::ToolCallTags => format!(
            "<tool_call>\n{}\n</tool_call>",
            json!({"name": name, "arguments": object})
        ),
        Form::FunctionTags => format!("<function={name}>{object}</function>"),
        Form::Invoke => {
            let parameters = outputs.values.iter().map(|(name, value)| {
                let text = value
                    .as_str()
                    .map_or_else(|| value.to_string(), str::to_owned);
                format!("<parameter name=\"{name}\">{text}</parameter>")
            });
            let parameters = parameters.collect::<Vec<_>>().join("\n");
            format!(
                "<function_calls>\n<invoke name=\"{name}\">\n{parameters}\n</invoke>\n</function_calls>"
            )
        }
        Form::MarkedStep => format!(
            "[[ ## next_thought ## ]]\nI know it.\n\n[[ ## next_tool_name ## ]]\n{name}\n\n\
             [[ ## next_tool_args ## ]]\n{object}\n\n[[ ## completed ## ]]"
        ),
        Form::TaggedStep => format!(
            "<next_thought>I know it.</next_thought>\n<next_tool_name>{name}</next_tool_name>\n\
             <next_tool_args>{}</next_tool_args>",
            escaped(&object.to_string())
        ),
        Form::Code => format!("{name}({})", arguments(&json_of)),
        Form::PythonCode => format!("{name}({})", arguments(&python)),
        Form::FencedCode => format!("```python\n{name}({})\n```", arguments(&json_of)),
        Form::Action => format!("Action: {name}({})", arguments(&json_of)),
        Form::ActionInput => format!("Action: {name}\nAction Input: {object}"),
        Form::ActionBrackets => format!("Action: {name}[{object}]"),
    }
}
