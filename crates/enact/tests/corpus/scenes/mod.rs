//! The runs of which the corpus is made.

mod endings;
mod people;
mod replies;

use std::time::Duration;

use enact::model::{Image, Reply};
use enact::run::{History, Observation};
use enact::tool::{Confirmation, Effect, ToolSpec};
use enact::{Run, values};
use serde_json::json;

use super::player::{Player, agent, called, said};

const ARROW: &str = "question -> answer";

/// Every scene by its name, which is the name of its file.
pub fn all() -> Vec<(&'static str, Run)> {
    vec![
        ("answer", answer()),
        ("follow_up", follow_up()),
        ("pictures", pictures()),
        ("tools_changed", tools_changed()),
        ("decisions", people::decisions()),
        ("allowed_for_good", people::allowed_for_good()),
        ("withdrawn", people::withdrawn()),
        ("clarified", people::clarified()),
        ("expired", people::expired()),
        ("in_doubt", people::in_doubt()),
        ("unattended", people::unattended()),
        ("sealed", people::sealed()),
        ("changed_under_approval", people::changed_under_approval()),
        ("repairs_native", replies::repairs_native()),
        ("repairs_json", replies::repairs_json()),
        ("repeats_itself", replies::repeats_itself()),
        ("repairs_chat", replies::repairs_chat()),
        ("refused", replies::refused()),
        ("adapted", replies::adapted()),
        ("submitted_at_last", endings::submitted_at_last()),
        ("searched", endings::searched()),
        ("talked", replies::talked()),
        ("finished_xml", replies::finished_xml()),
        ("finished_tagged", replies::finished_tagged()),
        ("summarised", endings::summarised()),
        ("gave_up", endings::gave_up()),
        ("failed", endings::failed()),
        ("too_long", endings::too_long()),
        ("cancelled", endings::cancelled()),
        ("paused", endings::paused()),
        ("interrupted", endings::interrupted()),
        ("model_failures", endings::model_failures()),
        ("stalled", endings::stalled()),
        ("limited", endings::limited()),
        ("judged", endings::judged()),
        ("hopeless", endings::hopeless()),
        ("warned", endings::warned()),
        ("out_of_money", endings::out_of_money()),
        ("conditioned", endings::conditioned()),
        ("timed_out", endings::timed_out()),
        ("answered_by", replies::answered_by()),
        ("predicted", replies::predicted()),
        ("extracted", replies::extracted()),
        ("reasoned", replies::reasoned()),
    ]
}

fn tool(name: &str, argument: &str, kind: &str) -> ToolSpec {
    let parameters = json!({
        "type": "object",
        "properties": {argument: {"type": kind}},
        "required": [argument],
    });
    ToolSpec::new(name, format!("Does: {name}."), parameters)
}

fn search() -> ToolSpec {
    tool("search", "query", "string").with_effect(Effect::ReadOnly)
}

fn delete() -> ToolSpec {
    tool("delete_file", "path", "string").with_confirmation(Confirmation::Always)
}

fn pay() -> ToolSpec {
    let parameters = json!({
        "type": "object",
        "properties": {"amount": {"type": "number"}, "to": {"type": "string"}},
        "required": ["amount"],
    });
    ToolSpec::new("pay", "Pays.", parameters)
        .with_confirmation(Confirmation::When)
        .with_timeout(Duration::from_secs(90))
}

fn add() -> ToolSpec {
    tool("add_one", "number", "integer")
        .with_effect(Effect::Idempotent)
        .serial()
}

fn with_ids<'a>(mut reply: Reply, ids: impl IntoIterator<Item = &'a str>) -> Reply {
    for (call, id) in reply.calls.iter_mut().zip(ids) {
        call.id = Some(id.to_owned());
    }
    reply
}

fn submit(answer: &str) -> Reply {
    called("", [("submit", &*json!({"answer": answer}).to_string())])
}

fn tools_changed() -> Run {
    let inputs = values! { question: "What is 41 + 1?" };
    Player::begin(agent("tools_changed", ARROW, "native", inputs, [search()]))
        .model(called(
            "I look it up.",
            [("search", r#"{"query": "41 + 1"}"#)],
        ))
        .runs("call_0_0", "use add_one")
        .tools([add(), delete()])
        .model(called(
            "I add.",
            [
                ("add_one", r#"{"number": 41}"#),
                ("search", r#"{"query": "42"}"#),
            ],
        ))
        .runs("call_1_0", 42)
        .model(submit("42"))
        .run()
}

fn answer() -> Run {
    let inputs = values! { question: "How many people live in Paris, and in Rome?" };
    let tools = [search(), add()];
    let mut look = called(
        "I look both up.",
        [
            ("search", r#"{"query": "people in Paris"}"#),
            ("search", r#"{"query": "people in Rome"}"#),
        ],
    );
    look.reasoning = "Two questions, two searches.".to_owned();
    look.attempts = 2;
    look.usage.cached_input_tokens = 60;
    look.usage.reasoning_tokens = 4;
    Player::begin(agent("answer", ARROW, "native", inputs, tools))
        .model(with_ids(look, ["call_a", "call_b"]))
        .start()
        .gives(
            "call_b",
            Observation::value(json!({"people": 2.8e6, "as_of": 2024})),
        )
        .gives("call_a", Observation::value("2.1 million"))
        .model(submit("2.1 and 2.8 million"))
        .run()
}

fn follow_up() -> Run {
    let image = json!({"type": "image_url", "image_url": {"url": "https://example.org/a.png"}});
    let chat = [
        json!({"role": "system", "content": "Be brief."}),
        json!({"role": "user", "content": [{"type": "text", "text": "What is this?"}, image]}),
        json!({"role": "assistant", "content": "I look.", "tool_calls": [
            {"id": "c1", "type": "function", "function": {"name": "search", "arguments": "{\"query\": \"a\"}"}}
        ]}),
        json!({"role": "tool", "tool_call_id": "c1", "content": "a cat"}),
        json!({"role": "assistant", "content": "A cat."}),
    ];
    let mut history = History::from_chat_messages(&chat).unwrap();
    for entry in answer().history().entries() {
        history.push(entry.clone());
    }
    let inputs = values! { question: "And in Berlin?" };
    let mut started = agent("follow_up", ARROW, "native", inputs, [search()]);
    started.history = history;
    started.agent.base_url = Some("http://127.0.0.1:11434/v1".to_owned());
    started.agent.notes = values! { tools: ["search"], depth: 2 };
    Player::begin(started)
        .model(called("", [("search", r#"{"query": "people in Berlin"}"#)]))
        .runs("call_1_0", "3.7 million")
        .model(said("3.7 million"))
        .run()
}

fn pictures() -> Run {
    let inputs = values! { question: "Which is darker?" };
    let mut look = called("I look at both.", [("search", r#"{"query": "pictures"}"#)]);
    let signed = json!({"reasoning_details": [{"type": "encrypted", "data": "b3BhcXVl"}]});
    look.opaque = Some(signed);
    let images = vec![
        Image::from_url("https://example.org/a.png", "image/png"),
        Image::from_base64("aW1hZ2U=", "image/jpeg"),
    ];
    let mut seen = Observation::value("two pictures");
    seen.images = images;
    Player::begin(agent("pictures", ARROW, "native", inputs, [search()]))
        .model(look)
        .start()
        .gives("call_0_0", seen)
        .model(submit("the second"))
        .run()
}
