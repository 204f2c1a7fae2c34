//! Replies of every sort: in the words of each adapter, mended, refused, misread.

use enact::model::{FinishReason, ModelErrorKind};
use enact::run::Observation;
use enact::signature::Property;
use enact::{Field, Run, Type, values};
use serde_json::json;

use super::{ARROW, add, search};
use crate::player::{Player, agent, called, finishing, opening, said};

pub fn repairs_native() -> Run {
    let inputs = values! { question: "What is 2 + 1?" };
    Player::begin(agent(
        "repairs_native",
        "question -> answer: int",
        "native",
        inputs,
        [add()],
    ))
    .model(called(
        "<think>Hm.</think>I add.",
        [("Add_One", r#"{"number": "2",}"#)],
    ))
    .runs("call_0_0", 3)
    .model(said(r#"{"name": "submit", "arguments": {"answer": 3}}"#))
    .run()
}

pub fn repairs_json() -> Run {
    let inputs = values! { question: "What is 2 + 1?" };
    let step = "Here it is:\n```json\n{\"name\": \"add_one\", \"arguments\": {\"number\": 2}}\n```";
    let mut cut = said("{\"next_thought\": \"I was cut");
    cut.finish = FinishReason::Length;
    Player::begin(agent(
        "repairs_json",
        "question -> answer: int",
        "json",
        inputs,
        [add()],
    ))
    .model(said(step))
    .runs("call_0_0", 3)
    .model(cut)
    .model(said(
        r#"{"next_thought": "Done.", "next_tool_name": "submit", "next_tool_args": {"answer": 3}}"#,
    ))
    .run()
}

pub fn repeats_itself() -> Run {
    let inputs = values! { question: "What is 2 + 1?" };
    let mut endless = said("I am sure. I am sure. I am sure. ");
    endless.finish = FinishReason::Length;
    endless.repeats = true;
    Player::begin(agent(
        "repeats_itself",
        "question -> answer: int",
        "native",
        inputs,
        [add()],
    ))
    .model(endless)
    .model(said(r#"{"name": "submit", "arguments": {"answer": 3}}"#))
    .run()
}

/// A server that takes neither tools nor a schema.
pub fn adapted() -> Run {
    let inputs = values! { question: "What is 2 + 1?" };
    let mut started = agent("adapted", ARROW, "native", inputs, [add()]);
    started.agent.step_adapter = Some("auto".to_owned());
    let last = "[[ ## next_thought ## ]]\nDone.\n[[ ## next_tool_name ## ]]\nsubmit\n[[ ## next_tool_args ## ]]\n{\"answer\": \"3\"}";
    Player::begin(started)
        .model_fails(ModelErrorKind::ToolsRefused)
        .model_fails(ModelErrorKind::FormatRefused)
        .model(said(last))
        .run()
}

pub fn repairs_chat() -> Run {
    let inputs = values! { question: "What is 2 + 1?" };
    let step = "[[ ## next_thought ## ]]\nI add.\n[[ ## next_tool_name ## ]]\nadd_one()\n[[ ## next_tool_args ## ]]\n```json\n{\"number\": 2,}\n```";
    let last = "[[ ## next_thought ## ]]\nDone.\n[[ ## next_tool_name ## ]]\nsubmit\n[[ ## next_tool_args ## ]]\n{\"answer\": \"3\"}";
    Player::begin(agent(
        "repairs_chat",
        "question -> answer: int",
        "chat",
        inputs,
        [add()],
    ))
    .model(said(step))
    .runs("call_0_0", 3)
    .model(said(last))
    .run()
}

pub fn answered_by() -> Run {
    let inputs = values! { question: "What is 2 + 1?" };
    let mut by_another = called("I add.", [("add_one", r#"{"number": 2}"#)]);
    by_another.answered_by = Some("small".into());
    by_another.attempts = 2;
    Player::begin(agent(
        "answered_by",
        "question -> answer: int",
        "native",
        inputs,
        [add()],
    ))
    .model(by_another)
    .runs("call_0_0", 3)
    .model(called("", [("submit", r#"{"answer": 3}"#)]))
    .run()
}

pub fn refused() -> Run {
    let inputs = values! { question: "What is 2 + 1?" };
    Player::begin(agent(
        "refused",
        "question -> answer: int",
        "native",
        inputs,
        [add(), search()],
    ))
    .model(called("", [("subtract", r#"{"number": 2}"#)]))
    .model(called(
        "",
        [
            ("add_one", "two plus one"),
            ("add_one", r#"{"number": "two"}"#),
        ],
    ))
    .model(called(
        "",
        [
            ("add_one", r#"{"number": 2}"#),
            ("submit", r#"{"answer": 4}"#),
        ],
    ))
    .start()
    .gives(
        "call_2_0",
        Observation::error("Error executing add_one: it is tired"),
    )
    .model(called("", [("submit", r#"{"answer": "three"}"#)]))
    .model(called("", [("submit", r#"{"answer": 3}"#)]))
    .run()
}

pub fn talked() -> Run {
    let inputs = values! { question: "What is 2 + 1?" };
    Player::begin(agent(
        "talked",
        "question -> answer: int, sure: bool",
        "native",
        inputs,
        [],
    ))
    .model(said("Three, I think."))
    .model(said("Three."))
    .model(said("no idea what you want"))
    .model(said(
        r#"{"reasoning": "It was said.", "answer": "3", "sure": true}"#,
    ))
    .run()
}

pub fn finished_xml() -> Run {
    let inputs = values! { question: "What is 2 + 1?" };
    let step = |name: &str, args: &str| {
        said(&format!(
            "<next_thought>On.</next_thought>\n<next_tool_name>{name}</next_tool_name>\n<next_tool_args>{args}</next_tool_args>"
        ))
    };
    let started = agent(
        "finished_xml",
        "question -> answer: int",
        "xml",
        inputs,
        [add()],
    );
    Player::begin(finishing(started))
        .model(step("add_one", r#"{"number": 2}"#))
        .runs("call_0_0", 3)
        .model(step("finish", "{}"))
        .model(said(
            "<reasoning>It gave 3.</reasoning>\n<answer>3</answer>",
        ))
        .run()
}

pub fn finished_tagged() -> Run {
    let inputs = values! { question: "Who?" };
    let mut started = agent("finished_tagged", ARROW, "tagged", inputs, [search()]);
    started.limits.max_iterations = 1;
    Player::begin(started)
        .model(said("Thought: I look.\nAction: search[who]"))
        .runs("call_0_0", "She did.")
        .model(said("Reasoning: It says so.\nAnswer: She."))
        .run()
}

pub fn predicted() -> Run {
    let inputs = values! { text: "Guten Tag", words: 2 };
    let arrow = "text -> english: str, formal: bool | null, tags: list[str]";
    let mut started = opening("predicted", arrow, "json", inputs);
    let tone = Type::schema("Tone", json!({"type": "string", "enum": ["warm", "cold"]}));
    let signature = &started.agent.signature;
    started.agent.signature = signature
        .with_name("Translate")
        .with_instructions("Translate into English.")
        .append_input(Field::new("words", Type::Int).default_value(3))
        .unwrap()
        .append_output(Field::new("tone", tone).describe("How it sounds."))
        .unwrap();
    let outputs =
        r#"{"english": "Good day", "formal": "true", "tags": ["greeting"], "tone": "cold"}"#;
    Player::begin(started)
        .model_fails(ModelErrorKind::RateLimit)
        .crash()
        .model(said("no"))
        .model(said(outputs))
        .run()
}

/// Types of every form that is stored.
pub fn extracted() -> Run {
    let inputs = values! { text: "Ada, born in London on 10 December 1815." };
    let arrow = "text, photo?: image -> people: list[{name: str(..40), born?: date}](1..)";
    let mut started = opening("extracted", arrow, "json", inputs);
    let city = Property::new("city", Type::Str).describe("Without the country.");
    let places = Type::list(Type::object([city]).unwrap());
    let places = places.within(None, Some(3.into())).unwrap();
    let signature = &started.agent.signature;
    started.agent.signature = signature
        .append_output(Field::new("places", places))
        .unwrap();
    let wrong = r#"{"people": [{"name": "Ada", "born": "1815"}], "places": []}"#;
    let outputs =
        r#"{"people": [{"name": "Ada", "born": "1815-12-10"}], "places": [{"city": "London"}]}"#;
    Player::begin(started)
        .model(said(wrong))
        .model(said(outputs))
        .run()
}

pub fn reasoned() -> Run {
    let inputs = values! { question: "Is 7 prime?" };
    let mut started = opening("reasoned", "question -> prime: bool", "chat", inputs);
    started.agent.notes = values! { reasons: true };
    Player::begin(started)
        .model(said("[[ ## reasoning ## ]]\nNothing divides it.\n\n[[ ## prime ## ]]\nTrue\n\n[[ ## completed ## ]]"))
        .run()
}
