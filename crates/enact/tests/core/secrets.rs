//! Secrets stay out of runs, whichever way they come.

use std::sync::{Arc, Mutex};

use enact::model::{ModelErrorKind, ScriptedModel, Secrets, call, fail};
use enact::tool::Confirmation;
use enact::{Decision, FnTool, Outcome, ReAct, Settings, ToolContext, ToolError, Tools, values};
use serde_json::json;

const SECRET: &str = "hush-\"hush\"-0123";

fn settings() -> Settings {
    Settings::new().secrets(Secrets::new().with(SECRET).unwrap())
}

fn leaky() -> FnTool {
    let spec = enact::tool::ToolSpec::new(
        "leak",
        "Tells too much.",
        json!({"type": "object", "properties": {"text": {"type": "string"}}}),
    )
    .with_confirmation(Confirmation::when(|args| args["text"] == "ask"));
    FnTool::from_spec(spec, |args, context: ToolContext| async move {
        context.progress(format!("reading {SECRET}"));
        match args["text"].as_str() {
            Some("fail") => Err(ToolError::new(format!("refused: {SECRET}"))),
            _ => Ok(json!({"key": SECRET, "list": [SECRET]})),
        }
    })
}

#[tokio::test]
async fn no_log_no_prompt_and_no_update_holds_a_secret() {
    let model = Arc::new(ScriptedModel::new([
        call("leak", json!({"text": SECRET})).thinking(format!("I saw {SECRET}.")),
        call("leak", json!({"text": "fail"})),
        call("leak", json!({"text": "ask"})),
        call("submit", json!({"answer": format!("It is {SECRET}.")})),
    ]));
    let agent = ReAct::dynamic("question -> answer", Tools::new().with(leaky())).unwrap();
    let agent = agent.with_model(Arc::clone(&model));
    let told = Arc::new(Mutex::new(String::new()));
    let listen = || {
        let told = Arc::clone(&told);
        move |update: &enact::Update| {
            let text = serde_json::to_string(update).unwrap();
            told.lock().unwrap().push_str(&text);
        }
    };
    let done = enact::scope(settings(), async {
        let question = format!("Is {SECRET} good?");
        let call = agent
            .call(values! { question: question })
            .on_update(listen());
        let Outcome::Paused(paused) = call.await.unwrap() else {
            panic!("the rule by arguments outlives the redaction");
        };
        let id = paused.questions()[0].confirmation_id.clone();
        let feedback = Decision::Feedback(format!("No, {SECRET} is wrong."));
        let call = agent.resume(paused).answer(id, feedback);
        call.on_update(listen()).await.unwrap().finished().unwrap()
    })
    .await;
    assert_eq!(done.outputs["answer"], "It is [redacted].");
    let log = serde_json::to_string(done.run().records()).unwrap();
    let prompts = format!("{:?}", model.requests());
    for (what, text) in [
        ("log", log),
        ("prompts", prompts),
        ("updates", told.lock().unwrap().clone()),
    ] {
        assert!(text.contains("[redacted]"), "{what}: {text}");
        assert!(!text.contains("hush"), "{what}: {text}");
    }
}

#[tokio::test]
async fn an_error_that_quotes_a_key_is_told_without_it() {
    let step = fail(
        ModelErrorKind::Authentication,
        format!("wrong key: {SECRET}"),
    );
    let agent = ReAct::dynamic("question -> answer", Tools::new()).unwrap();
    let agent = agent.with_model(ScriptedModel::new([step]));
    let call = agent.call(values! { question: "?" });
    let error = enact::scope(settings(), call.into_future())
        .await
        .unwrap_err();
    assert_eq!(error.to_string(), "wrong key: [redacted]");
    assert!(!format!("{error:?}").contains("hush"));
}
