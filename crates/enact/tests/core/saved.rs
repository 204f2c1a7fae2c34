//! Saved state: named fields, tool fingerprint, version; a mismatch is named.

use std::sync::Arc;

use enact::model::{ScriptedModel, call};
use enact::predictor::SavedModule;
use enact::{ChainOfThought, Demo, ErrorKind, Module, Predict, ReAct, Tools, values};
use serde_json::json;

use super::{add, failing, search, search_and_add};

fn tuned() -> ReAct {
    let demo = Demo::new(values! { question: "demo?" }, values! { answer: "demo!" });
    let mut agent = ReAct::builder("question -> answer")
        .tools(search_and_add())
        .demos([demo])
        .build()
        .unwrap();
    agent
        .predictor_mut("step")
        .unwrap()
        .set_instructions("Tuned: think twice.");
    agent
}

#[tokio::test]
async fn tuned_state_goes_through_json_into_another_agent() {
    let json = serde_json::to_string_pretty(&tuned().save()).unwrap();
    let saved: SavedModule = serde_json::from_str(&json).unwrap();
    let model = Arc::new(ScriptedModel::new([call("submit", json!({"answer": "a"}))]));
    let mut agent = ReAct::builder("question -> answer")
        .tools(search_and_add())
        .model(model.clone())
        .build()
        .unwrap();
    agent.load(&saved).unwrap();
    assert_eq!(agent.save(), saved);
    let _ = agent.call(values! { question: "q" }).await.unwrap();
    let sent = format!("{:?}", model.requests()[0].prompt);
    assert!(
        sent.contains("Tuned: think twice.") && sent.contains("demo!"),
        "{sent}"
    );
}

#[test]
fn lesson_tool_texts_are_not_frozen_into_saved_state() {
    let json = serde_json::to_string(&tuned().save()).unwrap();
    assert!(!json.contains("Looks something up"), "{json}");
    assert!(
        json.contains("search"),
        "the fingerprint names the tools: {json}"
    );
}

#[test]
fn predictors_have_names() {
    let agent = tuned();
    let names: Vec<_> = agent
        .predictors()
        .into_iter()
        .map(|(name, _)| name)
        .collect();
    assert_eq!(names, ["step", "extract", "summarise", "judge", "condense"]);
    let step = agent.predictors()[0].1.signature().clone();
    // The tool names are constrained to the tools and the completing one.
    assert_eq!(
        step.field("next_tool_name").unwrap().ty.to_string(),
        r#"Literal["search", "add", "submit"]"#
    );
}

#[test]
fn dspy_a_mismatch_is_named_and_nothing_is_changed() {
    let saved = tuned().save();
    let load = |mut agent: ReAct, saved: &SavedModule| {
        let before = agent.save();
        let error = agent.load(saved).unwrap_err();
        assert_eq!(agent.save(), before);
        assert_eq!(error.kind(), ErrorKind::State);
        error.to_string()
    };
    let fresh =
        |signature: &str, tools: Tools| ReAct::builder(signature).tools(tools).build().unwrap();
    let text = load(
        fresh(
            "question -> answer",
            Tools::new().with(add()).with(failing()),
        ),
        &saved,
    );
    assert!(
        text.contains("`search` is gone") && text.contains("`failing_tool` is new"),
        "{text}"
    );
    let text = load(fresh("query -> answer", search_and_add()), &saved);
    assert!(text.contains("step") && text.contains("query"), "{text}");
    let mut newer = saved.clone();
    newer.version = 99;
    let text = load(fresh("question -> answer", search_and_add()), &newer);
    assert!(text.contains("99"), "{text}");
    let text = load(
        fresh("question -> answer", search_and_add()),
        &Predict::builder("question -> answer")
            .build()
            .unwrap()
            .save(),
    );
    assert!(text.contains("predict") && text.contains("react"), "{text}");
    let cot = ChainOfThought::builder("question -> answer")
        .build()
        .unwrap();
    assert_eq!(cot.save().module, "chain_of_thought");
}

#[test]
fn construction_refuses_what_would_be_overridden_silently() {
    let spec = |name: &str| {
        enact::FnTool::from_spec(
            enact::tool::ToolSpec::new(name, "x", json!({"type": "object", "properties": {}})),
            |_, _| async { Ok::<_, enact::ToolError>(1) },
        )
    };
    let build =
        |signature: &str, tools: Tools| ReAct::builder(signature).tools(tools).build().unwrap_err();
    for name in ["submit", "finish"] {
        let error = build("question -> answer", Tools::new().with(spec(name)));
        assert_eq!(error.kind(), ErrorKind::Tools);
        assert!(error.to_string().contains(name), "{error}");
    }
    let error = build(
        "question -> answer",
        Tools::new().with(search()).with(search()),
    );
    assert!(
        error.to_string().contains("two tools are called `search`"),
        "{error}"
    );
    let error = build("question -> answer", Tools::new().with(spec("no spaces")));
    assert!(error.to_string().contains("no spaces"), "{error}");
    for input in ["trajectory", "history", "tools"] {
        let error = build(&format!("{input} -> answer"), Tools::new());
        assert_eq!(error.kind(), ErrorKind::Signature);
        assert!(error.to_string().contains(input), "{error}");
    }
}

#[test]
fn built_in_wording_is_not_frozen_into_saved_state() {
    let agent = ReAct::builder("question -> answer")
        .tools(search_and_add())
        .build()
        .unwrap();
    let json = serde_json::to_value(agent.save()).unwrap();
    for name in ["step", "extract", "summarise"] {
        assert!(
            json["predictors"][name]["signature"]["instructions"].is_null(),
            "{json}"
        );
    }
    // Loading it takes tuned wording back to the built-in one.
    let mut other = tuned();
    other.load(&agent.save()).unwrap();
    assert_eq!(other.save(), agent.save());
    let extract = |agent: &ReAct| {
        agent.predictors()[1]
            .1
            .signature()
            .instructions()
            .to_owned()
    };
    assert_eq!(extract(&other), extract(&agent));
}
