//! Steps as real models write them, and what is read.

use enact::adapter::{RepairKind, StepReply, Task};
use enact::model::{FinishReason, RawCall, Reply};
use serde_json::{Value, json};

use crate::messy_steps::ROWS;
use crate::tasks::{adapter, answer_step, cut_off, finish_step, report_step};

/// What a step is read as: its thought and its calls.
fn read(name: &str, task: &Task, text: &str) -> (String, Vec<(String, Value)>, Vec<RepairKind>) {
    let read = adapter(name)
        .parse_step(task, &Reply::text(text))
        .unwrap_or_else(|misread| panic!("{name}: {misread}\n{text}"));
    let calls = read.value.calls.into_iter().map(|call| {
        let args = match call.args {
            Ok(args) => Value::Object(args),
            Err(unreadable) => json!(format!("unreadable: {}", unreadable.raw)),
        };
        (call.name, args)
    });
    let kinds = read.repairs.into_iter().map(|repair| repair.kind).collect();
    (read.value.thought, calls.collect(), kinds)
}

fn misread(name: &str, task: &Task, reply: &Reply) -> String {
    match adapter(name).parse_step(task, reply) {
        Ok(read) => panic!("{name} read {:?} as {:?}", reply.text, read.value),
        Err(misread) => misread.problem,
    }
}

#[test]
fn messy_steps_are_read() {
    let task = answer_step();
    assert!(ROWS.len() >= 60);
    for (name, text, thought, calls) in ROWS {
        let (read_thought, read_calls, _) = read(name, &task, text);
        assert_eq!(read_thought, *thought, "{name}: {text}");
        let calls: Vec<(String, Value)> = calls
            .iter()
            .map(|(name, args)| ((*name).to_owned(), serde_json::from_str(args).unwrap()))
            .collect();
        assert_eq!(read_calls, calls, "{name}: {text}");
    }
}

#[test]
fn what_was_mended_is_recorded() {
    let task = answer_step();
    for (name, text, kind) in [
        (
            "json",
            "```json\n{\"next_thought\": \"\", \"next_tool_name\": \"weather\", \"next_tool_args\": {}}\n```",
            RepairKind::Surroundings,
        ),
        (
            "json",
            "{\"next_thought\": \"\", \"next_tool_name\": \"weather\", \"next_tool_args\": {},}",
            RepairKind::Json,
        ),
        (
            "json",
            "{\"name\": \"weather\", \"arguments\": {}}",
            RepairKind::Structure,
        ),
        (
            "json",
            "{\"next_thought\": \"\", \"next_tool_name\": \"WEATHER\", \"next_tool_args\": {}}",
            RepairKind::Name,
        ),
        ("tagged", "Action: Weather[Paris]", RepairKind::Name),
        (
            "tagged",
            "Action: weather[Paris] I hope",
            RepairKind::Surroundings,
        ),
        (
            "tagged",
            "Action: weather[Paris]\nObservation: mild",
            RepairKind::Surroundings,
        ),
        (
            "native",
            "{\"name\": \"weather\", \"arguments\": {}}",
            RepairKind::CallInText,
        ),
    ] {
        let (_, _, kinds) = read(name, &task, text);
        assert!(
            kinds.contains(&kind),
            "{kind:?} in {kinds:?} for {name}: {text}"
        );
    }
}

#[test]
fn broken_structure_is_named() {
    let task = answer_step();
    for (name, text, part) in [
        (
            "chat",
            "[[ ## next_thought ## ]]\nHm.",
            "`next_tool_name` is missing",
        ),
        (
            "chat",
            "[[ ## answer ## ]]\nHm.",
            "none of the fields of a step",
        ),
        (
            "json",
            "{\"next_thought\": \"Hm.\"}",
            "`next_tool_name` is missing",
        ),
        ("json", "{\"next_thought\": \"Hm", "no valid JSON"),
        (
            "xml",
            "<next_thought>Hm.</next_thought>",
            "`next_tool_name` is missing",
        ),
        (
            "tagged",
            "Thought: Hm.\nAction: weather(\"Paris",
            "not closed",
        ),
        (
            "tagged",
            "Thought: Hm.\nAction: search for Paris",
            "in parentheses",
        ),
        ("tagged", "Observation: it is mild", "no action"),
        (
            "native",
            "<tool_call>weather in Paris</tool_call>",
            "no valid JSON",
        ),
    ] {
        let problem = misread(name, &task, &Reply::text(text));
        assert!(problem.contains(part), "{part} in {problem}");
    }
}

#[test]
fn a_cut_reply_is_not_completed() {
    let task = answer_step();
    for (name, text) in [
        ("chat", "I need to look at"),
        ("chat", "[[ ## next_thought ## ]]\nHm. I"),
        (
            "chat",
            "[[ ## next_thought ## ]]\nHm.\n[[ ## next_tool_name ## ]]\nweather\n[[ ## next_tool_args ## ]]\n{\"city\": \"Pa",
        ),
        (
            "json",
            "{\"next_thought\": \"Hm.\", \"next_tool_name\": \"submit\", \"next_tool_args\": {\"answer\": \"Pa",
        ),
        (
            "json",
            "{\"next_thought\": \"Hm.\", \"next_tool_name\": \"submit\", \"next_tool_args\": {\"answer\": \"Paris\"}",
        ),
        (
            "xml",
            "<next_thought>Hm.</next_thought><next_tool_name>weather</next_tool_name><next_tool_args>{\"city\": \"Pa",
        ),
        ("tagged", "Thought: Hm.\nAction: wea"),
        ("tagged", "Thought: Hm.\nAction: weather[Par"),
        ("tagged", "Thought: Hm.\nFinal Answer: Par"),
        ("tagged", "Thought: Hm, I"),
        ("native", "I would say that"),
        ("native", "<tool_call>{\"name\": \"weather\", \"argum"),
        (
            "native",
            "{\"name\": \"weather\", \"arguments\": {\"city\": \"Pa",
        ),
    ] {
        let problem = misread(name, &task, &cut_off(text));
        assert!(problem.contains("cut off"), "{name}: {problem}");
    }
    let whole = "[[ ## next_thought ## ]]\nHm.\n[[ ## next_tool_name ## ]]\nweather\n[[ ## next_tool_args ## ]]\n{\"city\": \"Paris\"}";
    assert!(adapter("chat").parse_step(&task, &cut_off(whole)).is_ok());
    assert!(
        adapter("tagged")
            .parse_step(&task, &cut_off("Action: weather[Paris]"))
            .is_ok()
    );
}

#[test]
fn several_outputs_need_names() {
    let task = report_step();
    let (_, calls, _) = read(
        "tagged",
        &task,
        "Action: Finish[{\"answer\": \"mild\", \"celsius\": 20}]",
    );
    assert_eq!(
        calls,
        [(
            "submit".to_owned(),
            json!({"answer": "mild", "celsius": 20})
        )]
    );
    let (_, calls, _) = read(
        "tagged",
        &task,
        "Final Answer: answer=\"mild\", celsius=20.5",
    );
    assert_eq!(
        calls,
        [(
            "submit".to_owned(),
            json!({"answer": "mild", "celsius": 20.5})
        )]
    );
    let problem = misread(
        "tagged",
        &task,
        &Reply::text("Thought: x\nFinal Answer: mild"),
    );
    assert!(problem.contains("submit(answer=…, celsius=…)"), "{problem}");
}

#[test]
fn without_submit_an_answer_becomes_part_of_the_thought() {
    let task = finish_step();
    let (thought, calls, _) = read("tagged", &task, "Thought: Done.\nFinal Answer: mild");
    assert_eq!(thought, "Done.\nmild");
    assert_eq!(calls, [("finish".to_owned(), json!({}))]);
    for text in [
        "Thought: Done.\nAction: finish()",
        "Thought: Done.\nAction: Finish[]",
        "Thought: Done.\nAction: submit()",
    ] {
        let (thought, calls, _) = read("tagged", &task, text);
        assert_eq!(
            (thought.as_str(), calls),
            ("Done.", vec![("finish".to_owned(), json!({}))])
        );
    }
}

#[test]
fn native_calls_are_taken_as_they_are() {
    let task = answer_step();
    let call = |id: Option<&str>, name: &str, arguments: &str| RawCall {
        id: id.map(str::to_owned),
        name: name.to_owned(),
        arguments: arguments.to_owned(),
    };
    let mut reply = Reply::text("<think>hm</think>Both.");
    reply.calls = vec![
        call(Some("c1"), "weather", "{\"city\": \"Paris\"}"),
        call(None, "weather", ""),
        call(None, "teleport", "{'to': 'Rome',}"),
        call(None, "weather", "Paris"),
    ];
    let StepReply { thought, calls } = adapter("native").parse_step(&task, &reply).unwrap().value;
    assert_eq!(thought, "Both.");
    assert_eq!(calls[0].id.as_deref(), Some("c1"));
    let args: Vec<_> = calls
        .iter()
        .map(|call| call.args.clone().map(Value::Object))
        .collect();
    assert_eq!(args[0], Ok(json!({"city": "Paris"})));
    assert_eq!(args[1], Ok(json!({})));
    assert_eq!(args[2], Ok(json!({"to": "Rome"})));
    assert_eq!(args[3].as_ref().unwrap_err().raw, "Paris");

    reply.text.clear();
    reply.reasoning = "Quietly.".into();
    reply.calls.truncate(1);
    assert_eq!(
        adapter("native")
            .parse_step(&task, &reply)
            .unwrap()
            .value
            .thought,
        "Quietly."
    );

    reply.finish = FinishReason::Length;
    assert!(adapter("native").parse_step(&task, &reply).is_ok());
    reply.calls[0].arguments = "{\"city\": \"Pa".into();
    assert!(misread("native", &task, &reply).contains("cut off"));
}
