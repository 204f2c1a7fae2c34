//! Tasks and transcripts that the tests share.

use std::sync::Arc;

use enact::adapter::{Adapter, Chat, Completion, Json, Native, Tagged, Task, Tooling, Xml};
use enact::model::{FinishReason, Message, RawCall, Reply};
use enact::run::Entry;
use enact::signature::{Field, Signature, Type, Validator, Values};
use enact::tool::ToolSpec;
use serde_json::{Value, json};

pub(crate) fn adapters() -> Vec<Arc<dyn Adapter>> {
    vec![
        Arc::new(Chat),
        Arc::new(Json),
        Arc::new(Xml),
        Arc::new(Tagged::default()),
        Arc::new(Native),
    ]
}

pub(crate) fn adapter(name: &str) -> Arc<dyn Adapter> {
    adapters()
        .into_iter()
        .find(|adapter| adapter.name() == name)
        .unwrap()
}

/// A task without tools.
pub(crate) fn predict(signature: Signature) -> Task {
    Task {
        outputs: Arc::new(Validator::new(signature.output_schema()).unwrap()),
        signature,
        tooling: None,
    }
}

pub(crate) fn predict_arrow(arrow: &str) -> Task {
    predict(Signature::parse(arrow).unwrap())
}

/// A step of a run of `declared` with these tools.
pub(crate) fn step(declared: Signature, specs: Vec<ToolSpec>, completion: Completion) -> Task {
    let tooling = Tooling::new(declared.clone(), specs, completion);
    let names = Type::literal(tooling.specs.iter().map(|spec| spec.name.clone()));
    let mut signature = declared
        .with_instructions(declared.instructions())
        .append_output(Field::new("next_thought", Type::Str))
        .and_then(|s| s.append_output(Field::new("next_tool_name", names)))
        .and_then(|s| s.append_output(Field::new("next_tool_args", Type::dict(Type::Any))))
        .unwrap();
    for field in declared.outputs() {
        signature = signature.remove(&field.name).unwrap();
    }
    Task {
        outputs: Arc::new(Validator::new(signature.output_schema()).unwrap()),
        signature,
        tooling: Some(tooling),
    }
}

pub(crate) fn weather() -> ToolSpec {
    ToolSpec::new(
        "weather",
        "Current weather in a city.",
        json!({
            "type": "object",
            "properties": {
                "city": {"type": "string", "description": "City name, such as Paris."},
                "unit": {"enum": ["C", "F"], "default": "C"},
            },
            "required": ["city"],
        }),
    )
}

pub(crate) fn convert() -> ToolSpec {
    ToolSpec::new(
        "convert",
        "Converts a temperature.\nRounds to one digit.",
        json!({
            "type": "object",
            "properties": {
                "value": {"type": "number"},
                "to": {"type": "string"},
            },
            "required": ["value", "to"],
        }),
    )
}

/// A step with two tools; the run has one output, a text.
pub(crate) fn answer_step() -> Task {
    let declared = Signature::parse("question: str -> answer: str").unwrap();
    step(declared, vec![weather(), convert()], Completion::Submit)
}

pub(crate) fn finish_step() -> Task {
    let declared = Signature::parse("question: str -> answer: str").unwrap();
    step(declared, vec![weather(), convert()], Completion::Finish)
}

/// A step whose run has two outputs.
pub(crate) fn report_step() -> Task {
    let declared = Signature::parse("question: str -> answer: str, celsius: float").unwrap();
    step(declared, vec![weather(), convert()], Completion::Submit)
}

pub(crate) fn values(value: Value) -> Values {
    match value {
        Value::Object(values) => values,
        other => panic!("not an object: {other}"),
    }
}

pub(crate) fn outputs(value: Value) -> Entry {
    Entry::Outputs {
        values: values(value),
        thought: String::new(),
        call_id: None,
    }
}

pub(crate) fn cut_off(text: &str) -> Reply {
    let mut reply = Reply::text(text);
    reply.finish = FinishReason::Length;
    reply
}

/// What a model would have said for the assistant message that an entry was rendered as.
pub(crate) fn said(messages: &[Message]) -> Reply {
    let mut reply = Reply::default();
    for message in messages {
        if let Message::Assistant { text, calls, .. } = message {
            reply.text.push_str(text);
            reply.calls.extend(calls.iter().map(|call| RawCall {
                id: call.id.clone(),
                name: call.name.clone(),
                arguments: call.arguments.clone(),
            }));
        }
    }
    reply
}

/// A prompt as one text.
pub(crate) fn shown(adapter: &dyn Adapter, task: &Task, entries: &[Entry]) -> String {
    let mut out = format!("--- system\n{}\n", adapter.system(task));
    for message in entries.iter().flat_map(|entry| adapter.render(task, entry)) {
        let role = match &message {
            Message::System { .. } => "system".to_owned(),
            Message::User { .. } => "user".to_owned(),
            Message::Assistant { calls, .. } => {
                let calls: Vec<String> = calls
                    .iter()
                    .map(|call| {
                        let id = call.id.as_deref().unwrap_or_default();
                        format!(" {}({}) as {id}", call.name, call.arguments)
                    })
                    .collect();
                format!("assistant{}", calls.join(";"))
            }
            Message::Tool { call_id, name, .. } => format!("tool {name} for {call_id}"),
        };
        out.push_str(&format!("--- {role}\n{}\n", message.text()));
    }
    out
}
