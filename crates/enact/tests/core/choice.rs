//! Which adapter and which model: predictor over module over scope over program.

use std::sync::Arc;

use enact::adapter::{Json, Xml};
use enact::model::{Capabilities, ScriptedModel, say};
use enact::{Module, Predict, ReAct, Settings, values};

use super::search_and_add;

const CHAT: &str = "[[ ## answer ## ]]\nyes";
const JSON: &str = r#"{"answer": "yes"}"#;

#[tokio::test]
async fn dspy_ex_a_scoped_adapter_governs_step_and_extract() {
    let step = "<next_thought>t</next_thought><next_tool_name>nope</next_tool_name><next_tool_args>{}</next_tool_args>";
    let extract = "<reasoning>r</reasoning><answer>yes</answer>";
    let model = Arc::new(
        ScriptedModel::new([say(step), say(extract)]).with_capabilities(Capabilities::TEXT),
    );
    let agent = ReAct::builder("question -> answer")
        .tools(search_and_add())
        .max_iterations(1)
        .model(model.clone())
        .build()
        .unwrap();
    let settings = Settings::new().adapter(Xml);
    let call = async {
        agent
            .call(values! { question: "q" })
            .await
            .unwrap()
            .finished()
            .unwrap()
    };
    let done = enact::scope(settings, call).await;
    assert_eq!(done.outputs["answer"], "yes");
    for request in model.requests() {
        assert!(request.prompt.iter().next().unwrap().text().contains('<'));
    }
}

#[tokio::test]
async fn a_step_adapter_is_for_the_steps_only() {
    let step = r#"{"next_thought": "t", "next_tool_name": "nope", "next_tool_args": {}}"#;
    let model = Arc::new(
        ScriptedModel::new([
            say(step),
            say("<reasoning>r</reasoning><answer>yes</answer>"),
        ])
        .with_capabilities(Capabilities::TEXT),
    );
    let agent = ReAct::builder("question -> answer")
        .tools(search_and_add())
        .max_iterations(1)
        .adapter(Xml)
        .step_adapter(Json)
        .model(model)
        .build()
        .unwrap();
    let done = agent
        .call(values! { question: "q" })
        .await
        .unwrap()
        .finished()
        .unwrap();
    let spec = &done.run().started().agent;
    assert_eq!(
        (spec.step_adapter.as_deref(), spec.adapter.as_str()),
        (Some("json"), "xml")
    );
}

#[tokio::test]
async fn auto_takes_what_the_model_can_do() {
    for (capabilities, reply, name) in [
        (Capabilities::FULL, "yes", "native"),
        (Capabilities::TEXT.with_response_schema(true), JSON, "json"),
        (Capabilities::TEXT, CHAT, "chat"),
    ] {
        let model = ScriptedModel::new([say(reply)]).with_capabilities(capabilities);
        let qa = Predict::builder("question -> answer")
            .adapter(enact::AdapterChoice::Auto)
            .model(model)
            .build()
            .unwrap();
        let done = qa
            .call(values! { question: "q" })
            .await
            .unwrap()
            .finished()
            .unwrap();
        assert_eq!(done.run().started().agent.adapter, name);
        assert_eq!(done.outputs["answer"], "yes");
    }
}

#[tokio::test]
async fn a_predictor_may_have_a_model_of_its_own() {
    let small = Arc::new(ScriptedModel::new([say(
        r#"{"reasoning": "r", "answer": "small"}"#,
    )]));
    let large = Arc::new(ScriptedModel::new([]));
    let mut agent = ReAct::builder("question -> answer")
        .tools(search_and_add())
        .max_iterations(0)
        .model(large)
        .build()
        .unwrap();
    agent.predictor_mut("extract").unwrap().set_model(small);
    let done = agent
        .call(values! { question: "q" })
        .await
        .unwrap()
        .finished()
        .unwrap();
    assert_eq!(done.outputs["answer"], "small");
}
