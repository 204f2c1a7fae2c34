//! A reply that holds all outputs is an answer, whatever else it has and however it was handed over.

use std::sync::Arc;

use enact::adapter::{AdapterChoice, Chat, Completion, Json, Native, Tagged, Xml};
use enact::model::{ScriptStep, ScriptedModel, call, say};
use enact::run::RepairKind;
use enact::tool::ToolSpec;
use enact::{FnTool, Predict, Prediction, ToolError, Values, values};
use serde_json::{Value, json};

use crate::{agent, search_and_add};

pub(crate) fn adapters() -> [AdapterChoice; 6] {
    [
        AdapterChoice::Auto,
        Native.into(),
        Json.into(),
        Chat.into(),
        Xml.into(),
        Tagged::default().into(),
    ]
}

/// A call in the words of an adapter.
pub(crate) fn written(adapter: &AdapterChoice, name: &str, args: &Value) -> ScriptStep {
    let step = |args: &Value| json!({"next_tool_name": name, "next_tool_args": args});
    match adapter.name() {
        "auto" | "native" => call(name, args.clone()),
        "json" => say(step(args).to_string()),
        "chat" => say(format!(
            "[[ ## next_tool_name ## ]]\n{name}\n\n[[ ## next_tool_args ## ]]\n{args}\n\n[[ ## completed ## ]]"
        )),
        "xml" => say(format!(
            "<next_tool_name>{name}</next_tool_name><next_tool_args>{args}</next_tool_args>"
        )),
        _ => {
            let args = args.as_object().unwrap().iter();
            let args: Vec<String> = args.map(|(name, arg)| format!("{name}={arg}")).collect();
            say(format!("Action: {name}({})", args.join(", ")))
        }
    }
}

/// Where a run is when the last reply comes.
#[derive(Debug, Clone, Copy, PartialEq)]
enum At {
    Step,
    Limit,
    Extraction,
    Finish,
}

async fn ended(
    arrow: &str,
    adapter: &AdapterChoice,
    at: At,
    last: ScriptStep,
) -> Prediction<Values> {
    let search = || written(adapter, "search", &json!({"query": "x"}));
    let script = match at {
        At::Step => vec![search(), last],
        At::Limit => vec![search(), search(), last],
        At::Extraction => vec![search(), search(), search(), last],
        At::Finish => vec![written(adapter, "finish", &json!({})), last],
    };
    let played = agent(arrow, search_and_add(), script).map(|agent| {
        let agent = agent.adapter(adapter.clone());
        match at {
            At::Finish => agent.completion(Completion::Finish),
            At::Step => agent,
            _ => agent.max_iterations(2),
        }
    });
    played.call(values! { question: "q" }).await
}

fn has_repair(done: &Prediction<Values>, kind: RepairKind) -> bool {
    let replies = done.run().events().filter_map(|event| match event {
        enact::run::Event::Replied(replied) => Some(replied),
        _ => None,
    });
    replies
        .flat_map(|replied| &replied.repairs)
        .any(|repair| repair.kind == kind)
}

#[tokio::test]
async fn truth_helper_fields_never_refuse_an_answer() {
    let args = json!({"reasoning": "I added.", "answer": "5", "confidence": 0.9, "sources": ["x"]});
    for adapter in adapters() {
        for at in [At::Step, At::Limit, At::Extraction, At::Finish] {
            let done = ended(
                "question -> answer",
                &adapter,
                at,
                written(&adapter, "submit", &args),
            )
            .await;
            assert_eq!(done.outputs, values! { answer: "5" }, "{adapter} {at:?}");
            assert!(has_repair(&done, RepairKind::Structure), "{adapter} {at:?}");
            let log = serde_json::to_string(&done.trajectory()).unwrap();
            let told = format!("{log}{:?}", done.reasoning());
            assert!(told.contains("I added."), "{adapter} {at:?}: {told}");
        }
    }
}

#[tokio::test]
async fn truth_a_declared_field_is_no_helper_and_a_wrong_name_stays_refused() {
    let native = AdapterChoice::from(Native);
    let both = json!({"reasoning": "so", "answer": "5"});
    let done = ended(
        "question -> reasoning, answer",
        &native,
        At::Step,
        call("submit", both),
    )
    .await;
    assert_eq!(done.outputs, values! { reasoning: "so", answer: "5" });

    let script = [
        call("submit", json!({"anser": "5"})),
        call("add", json!({"a": 1, "b": 2, "reasoning": "r"})),
        call("submit", json!({"answer": "5"})),
    ];
    let played = agent("question -> answer", search_and_add(), script);
    let done = played.call(values! { question: "q" }).await;
    let seen = serde_json::to_string(&done.history).unwrap();
    assert!(seen.contains("`anser`: not known, leave it out"), "{seen}");
}

#[tokio::test]
async fn truth_native_calls_count_under_every_adapter() {
    for adapter in adapters() {
        for at in [At::Step, At::Limit, At::Extraction, At::Finish] {
            for text in ["I am done.", ""] {
                let last = call("submit", json!({"answer": "partial"})).thinking(text);
                let done = ended("question -> answer", &adapter, at, last).await;
                assert_eq!(
                    done.outputs["answer"], "partial",
                    "{adapter} {at:?} {text:?}"
                );
            }
        }
        let script = [
            call("add", json!({"a": 2, "b": 3})).thinking("I add them."),
            written(&adapter, "submit", &json!({"answer": "5"})),
        ];
        let played = agent("question -> answer", search_and_add(), script)
            .map(|agent| agent.adapter(adapter.clone()));
        let done = played.call(values! { question: "q" }).await;
        let trajectory = done.trajectory();
        assert_eq!(trajectory.steps()[0].observation, 5, "{adapter}");
        assert_eq!(trajectory.steps()[0].thought, "I add them.", "{adapter}");
        let is_own = matches!(adapter.name(), "auto" | "native");
        assert_eq!(
            has_repair(&done, RepairKind::Structure),
            !is_own,
            "{adapter}"
        );
    }
}

#[tokio::test]
async fn truth_reasoning_is_never_the_answer_but_may_hold_it() {
    let private = "Hmm, I am not sure what to say about it, maybe 7?";
    for adapter in adapters() {
        for at in [At::Step, At::Limit, At::Extraction, At::Finish] {
            let search = || written(&adapter, "search", &json!({"query": "x"}));
            let silent = || say("").reasoning(private);
            let mut script = match at {
                At::Step => vec![],
                At::Finish => vec![written(&adapter, "finish", &json!({}))],
                _ => vec![search(), search()],
            };
            if at == At::Extraction {
                script.push(search());
            }
            script.extend((0..20).map(|_| silent()));
            let played = agent("question -> answer", search_and_add(), script).map(|agent| {
                let agent = agent.adapter(adapter.clone());
                match at {
                    At::Finish => agent.completion(Completion::Finish),
                    At::Step => agent.max_iterations(3),
                    _ => agent.max_iterations(2),
                }
            });
            let outcome = played.agent.call(values! { question: "q" }).await;
            played.model.abandon();
            assert!(outcome.is_err(), "{adapter} {at:?}: {outcome:?}");
        }
        for at in [At::Limit, At::Extraction, At::Finish] {
            let last = say("").reasoning("I am sure now.\n{\"answer\": \"7\"}");
            let done = ended("question -> answer", &adapter, at, last).await;
            assert_eq!(done.outputs["answer"], "7", "{adapter} {at:?}");
        }
    }
}

#[tokio::test]
async fn truth_answers_in_any_form_are_read_after_the_loop() {
    for last in [
        "Here you go:\n```json\n{\"answer\":\"partial\"}\n```",
        "Sure! {\"answer\":\"partial\"}",
        "submit(answer=\"partial\")",
        "Thought: x\nAction: submit(answer=\"partial\")",
        "finish(answer=\"partial\")",
        "{\"name\": \"finish\", \"arguments\": {\"answer\": \"partial\"}}",
        "[[ ## next_thought ## ]]\nx\n\n[[ ## next_tool_name ## ]]\nsubmit\n\n[[ ## next_tool_args ## ]]\n{\"answer\": \"partial\"}\n\n[[ ## completed ## ]]",
        "<next_tool_name>submit</next_tool_name><next_tool_args>{\"answer\": \"partial\"}</next_tool_args>",
    ] {
        for adapter in adapters() {
            for at in [At::Step, At::Limit, At::Extraction, At::Finish] {
                let done = ended("question -> answer", &adapter, at, say(last)).await;
                assert_eq!(
                    done.outputs["answer"], "partial",
                    "{adapter} {at:?}: {last}"
                );
            }
        }
    }
}

#[tokio::test]
async fn truth_the_arguments_of_a_tool_are_not_the_outputs() {
    let tool = |name: &str, parameters: Value| {
        let spec = ToolSpec::new(name, "Does it.", parameters);
        FnTool::from_spec(spec, |_, _| async { Ok::<_, ToolError>("done") })
    };
    let text = json!({"type": "string"});
    let run_sql = json!({"type": "object", "properties": {"sql": text}, "required": ["sql"]});
    let send = json!({
        "type": "object",
        "properties": {"subject": text, "body": text},
        "required": ["subject", "body"],
    });
    let query = json!({"sql": "SELECT 1"});
    let mail = json!({"subject": "wrong", "body": "wrong"});
    for (arrow, name, parameters, args, outputs) in [
        (
            "question -> sql",
            "run_sql",
            &run_sql,
            &query,
            values! { sql: "SELECT 2" },
        ),
        (
            "question -> subject, body",
            "send_mail",
            &send,
            &mail,
            values! { subject: "s", body: "b" },
        ),
    ] {
        let forms = [
            json!({"next_tool_name": name, "next_tool_args": args}).to_string(),
            json!({"name": name, "arguments": args}).to_string(),
            format!(
                "<tool_call>{}</tool_call>",
                json!({"name": name, "arguments": args})
            ),
            format!(
                "<next_tool_name>{name}</next_tool_name><next_tool_args>{args}</next_tool_args>"
            ),
            format!(
                "[[ ## next_tool_name ## ]]\n{name}\n\n[[ ## next_tool_args ## ]]\n{args}\n\n[[ ## completed ## ]]"
            ),
            format!("Thought: I call it.\nAction: {name}\nAction Input: {args}"),
        ];
        for adapter in adapters() {
            for last in forms.iter().map(say).chain([call(name, args.clone())]) {
                let search = written(&adapter, "search", &json!({"query": "x"}));
                let tools = search_and_add().with(tool(name, parameters.clone()));
                let submit = Value::Object(outputs.clone());
                let script = [
                    search,
                    last.clone(),
                    last.clone(),
                    written(&adapter, "submit", &submit),
                ];
                let played = agent(arrow, tools, script)
                    .map(|agent| agent.adapter(adapter.clone()).max_iterations(1));
                let done = played.call(values! { question: "q" }).await;
                assert_eq!(done.outputs, outputs, "{adapter}: {last:?}");
            }
        }
    }
}

#[tokio::test]
async fn truth_thinking_that_never_ends_is_not_the_answer_but_may_hold_it() {
    let open = "<think>Hmm, maybe 7? I am not sure";
    for adapter in adapters() {
        let script = [
            written(&adapter, "search", &json!({"query": "x"})),
            say(open),
            written(&adapter, "submit", &json!({"answer": "8"})),
        ];
        let played = agent("question -> answer", search_and_add(), script)
            .map(|agent| agent.adapter(adapter.clone()));
        let done = played.call(values! { question: "q" }).await;
        assert_eq!(done.outputs["answer"], "8", "{adapter}");
        for at in [At::Limit, At::Extraction, At::Finish] {
            let last = say("<think>I am sure now.\n{\"answer\": \"7\"}");
            let done = ended("question -> answer", &adapter, at, last).await;
            assert_eq!(done.outputs["answer"], "7", "{adapter} {at:?}");
        }
        let model = Arc::new(ScriptedModel::new([say(open), say("<think>So.</think>8")]));
        let module = Predict::builder("question -> answer")
            .model(model.clone())
            .adapter(adapter.clone())
            .build()
            .unwrap();
        let done = module.call(values! { question: "q" }).await.unwrap();
        assert_eq!(done.finished().unwrap().outputs["answer"], "8", "{adapter}");
    }
    let model = Arc::new(ScriptedModel::new([say("<think>42"), say("43")]));
    let module = Predict::builder("question -> n: int")
        .model(model)
        .build()
        .unwrap();
    let done = module.call(values! { question: "q" }).await.unwrap();
    assert_eq!(done.finished().unwrap().outputs["n"], 43);
}
