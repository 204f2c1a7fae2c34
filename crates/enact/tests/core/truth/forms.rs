//! Outputs in whatever form a reply holds them.

use enact::adapter::{AdapterChoice, Chat, Json, Native, Tagged, Xml};
use enact::model::{ScriptedModel, call, say};
use enact::{Predict, Signature, Values, values};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::{agent, search_and_add};

fn adapters() -> [AdapterChoice; 5] {
    [
        Native.into(),
        Json.into(),
        Chat.into(),
        Xml.into(),
        Tagged::default().into(),
    ]
}

#[tokio::test]
async fn truth_outputs_in_the_adapters_own_form_are_read_in_a_step() {
    for (adapter, reply) in [
        (AdapterChoice::from(Xml), "<answer>5</answer>"),
        (Tagged::default().into(), "Answer: 5"),
        (Tagged::default().into(), "Thought: I know it.\nanswer: 5"),
        (
            Chat.into(),
            "[[ ## answer ## ]]\n5\n\n[[ ## completed ## ]]",
        ),
        (Json.into(), r#"{"answer": "5"}"#),
        (Native.into(), r#"{"answer": "5"}"#),
        (Native.into(), "<answer>5</answer>"),
    ] {
        let script = [call_in(&adapter), say(reply)];
        let played = agent("question -> answer", search_and_add(), script)
            .map(|agent| agent.adapter(adapter.clone()));
        let done = played.call(values! { question: "q" }).await;
        assert_eq!(done.outputs["answer"], "5", "{adapter}: {reply}");
        assert!(done.success());
    }
}

/// A search in the words of an adapter.
fn call_in(adapter: &AdapterChoice) -> enact::model::ScriptStep {
    match adapter.name() {
        "native" => call("search", json!({"query": "x"})),
        "tagged" => say("Thought: t\nAction: search(query=\"x\")"),
        _ => say(
            r#"{"next_thought": "t", "next_tool_name": "search", "next_tool_args": {"query": "x"}}"#,
        ),
    }
}

async fn predicted(arrow: &str, adapter: &AdapterChoice, reply: &str) -> Values {
    let module = Predict::builder(arrow)
        .model(ScriptedModel::new([say(reply)]))
        .adapter(adapter.clone())
        .build()
        .unwrap();
    let outcome = module.call(values! { question: "q" }).await.unwrap();
    outcome.finished().unwrap().outputs
}

#[tokio::test]
async fn truth_predict_reads_objects_and_bare_values() {
    let native = AdapterChoice::from(Native);
    let read = |arrow: &'static str, reply: &'static str| {
        let native = native.clone();
        async move { predicted(arrow, &native, reply).await }
    };
    assert_eq!(
        read("question -> answer", r#"{"answer": "z"}"#).await["answer"],
        "z"
    );
    assert_eq!(read("question -> n: int", "42").await["n"], 42);
    assert_eq!(read("question -> x: float", "4.5").await["x"], 4.5);
    assert_eq!(read("question -> ok: bool", "true").await["ok"], true);
    assert_eq!(
        read("question -> l: list[int]", "[1, 2]").await["l"],
        json!([1, 2])
    );
    // A text that has structure in it is a text.
    for text in [
        r#"{"answer": "z", "other": 1}"#,
        r#"Send {"answer": "z"} to the server."#,
        "Write <answer>5</answer> there.",
        "Title: x\nanswer: y",
    ] {
        assert_eq!(read("question -> answer", text).await["answer"], text);
    }
}

#[tokio::test]
async fn truth_bare_values_are_read_in_every_adapter() {
    for adapter in adapters() {
        for reply in ["42", "\"42\"", "**42**", "`42`", "42."] {
            let outputs = predicted("question -> n: int", &adapter, reply).await;
            assert_eq!(outputs["n"], 42, "{adapter}: {reply}");
        }
    }
}

#[tokio::test]
async fn truth_an_empty_list_among_arguments_is_no_step() {
    let reply = "Action: submit(answer=\"a\", tags=[])";
    for adapter in adapters() {
        let script = [call_in(&adapter), say(reply)];
        let played = agent(
            "question -> answer, tags: list[str]",
            search_and_add(),
            script,
        )
        .map(|agent| agent.adapter(adapter.clone()));
        let done = played.call(values! { question: "q" }).await;
        assert_eq!(done.outputs["answer"], "a", "{adapter}");
        assert_eq!(done.outputs["tags"], json!([]), "{adapter}");
    }
}

#[tokio::test]
async fn truth_outputs_that_do_not_fit_are_said_to_be_wrong() {
    let script = [
        say("<n>many</n>"),
        say(
            "<next_thought>t</next_thought><next_tool_name>submit</next_tool_name><next_tool_args>{\"n\": 3}</next_tool_args>",
        ),
    ];
    let played =
        agent("question -> n: int", search_and_add(), script).map(|agent| agent.adapter(Xml));
    let done = played.call(values! { question: "q" }).await;
    assert_eq!(done.outputs["n"], 3);
    let notice = played.model.requests()[1]
        .prompt
        .iter()
        .last()
        .unwrap()
        .text();
    assert!(notice.contains("Invalid outputs"), "{notice}");
}

/// A form in which a model may hand over its outputs.
#[derive(Debug, Clone, Copy)]
enum Form {
    Object,
    ObjectWithReasoning,
    Fenced,
    Nested,
    Tags,
    Markers,
    Labels,
    SubmitCall,
    SubmitObject,
    SubmitCode,
}

const FORMS: [Form; 10] = [
    Form::Object,
    Form::ObjectWithReasoning,
    Form::Fenced,
    Form::Nested,
    Form::Tags,
    Form::Markers,
    Form::Labels,
    Form::SubmitCall,
    Form::SubmitObject,
    Form::SubmitCode,
];

fn written(form: Form, outputs: &Values) -> enact::model::ScriptStep {
    let object = Value::Object(outputs.clone());
    let plain = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let each = |write: &dyn Fn(&str, String) -> String| {
        let parts = outputs
            .iter()
            .map(|(name, value)| write(name, plain(value)));
        parts.collect::<Vec<_>>().join("\n")
    };
    say(match form {
        Form::Object => object.to_string(),
        Form::ObjectWithReasoning => {
            let mut with = Values::from_iter([("reasoning".to_owned(), json!("so"))]);
            with.extend(outputs.clone());
            Value::Object(with).to_string()
        }
        Form::Fenced => format!("```json\n{object}\n```"),
        Form::Nested => json!({"outputs": object}).to_string(),
        Form::Tags => each(&|name, text| format!("<{name}>{text}</{name}>")),
        Form::Markers => {
            each(&|name, text| format!("[[ ## {name} ## ]]\n{text}\n")) + "\n[[ ## completed ## ]]"
        }
        Form::Labels => each(&|name, text| format!("{name}: {text}")),
        Form::SubmitCall => return call("submit", object),
        Form::SubmitObject => json!({"name": "submit", "arguments": object}).to_string(),
        Form::SubmitCode => {
            let args: Vec<String> = outputs
                .iter()
                .map(|(name, value)| format!("{name}={value}"))
                .collect();
            format!("submit({})", args.join(", "))
        }
    })
}

fn outputs() -> impl Strategy<Value = (String, Values)> {
    // Words that are no structure in any form.
    let word = || "[a-z]{1,8}( [a-z]{1,8}){0,3}";
    let text = word().prop_map(|text| ("str", Value::String(text)));
    let field = prop_oneof![
        text,
        any::<i32>().prop_map(|n| ("int", json!(n))),
        any::<bool>().prop_map(|b| ("bool", json!(b))),
        (-1000_i32..1000).prop_map(|n| ("float", json!(f64::from(n) / 4.0))),
        prop::collection::vec(word(), 1..3).prop_map(|list| ("list[str]", json!(list))),
    ];
    prop::collection::vec(field, 1..4).prop_map(|fields| {
        let named = fields.into_iter().enumerate();
        let (mut arrow, mut values) = (Vec::new(), Values::new());
        for (index, (ty, value)) in named {
            let name = format!("{}_{index}", ["result", "outcome", "verdict"][index % 3]);
            arrow.push(format!("{name}: {ty}"));
            values.insert(name, value);
        }
        (format!("question -> {}", arrow.join(", ")), values)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn truth_any_reply_with_all_outputs_is_the_answer(
        (arrow, expected) in outputs(),
        adapter in 0_usize..5,
        form in 0_usize..FORMS.len(),
        at in 0_usize..4,
    ) {
        let adapter = adapters()[adapter].clone();
        let form = FORMS[form];
        // What only native calling has.
        prop_assume!(!matches!(form, Form::SubmitCall) || adapter.name() == "native");
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let reply = || written(form, &expected);
        // In a step, when told to submit, in the extraction, and in a plain prediction.
        let told = format!("{adapter}, {form:?}, {at}, {arrow}");
        let found = runtime.block_on(async {
            if at == 3 {
                let signature = Signature::parse(&arrow).unwrap();
                prop_assume!(!matches!(form, Form::SubmitCall | Form::SubmitObject | Form::SubmitCode));
                let module = Predict::builder(signature)
                    .model(ScriptedModel::new([reply()]))
                    .adapter(adapter.clone())
                    .build().unwrap();
                let outcome = module.call(values! { question: "q" }).await.unwrap();
                return Ok(outcome.finished().unwrap().outputs);
            }
            let search = || call_in(&adapter);
            let script = match at {
                0 => vec![search(), reply()],
                1 => vec![search(), search(), reply()],
                _ => vec![search(), search(), search(), reply()],
            };
            let played = agent(&arrow, search_and_add(), script).map(|agent| {
                let steps = if at == 0 { 10 } else { 2 };
                agent.adapter(adapter.clone()).max_iterations(steps)
            });
            Ok(played.call(values! { question: "q" }).await.outputs)
        })?;
        prop_assert_eq!(found, expected, "{}", told);
    }
}
