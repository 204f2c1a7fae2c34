//! Observations: how they are shown to the model, and what the record keeps of them.

use enact::{FnTool, Prediction, ToolContext, ToolError, Tools, Update, Values};
use serde_json::{Value, json};

use crate::scripted::{failing, gives, looks, question, scripted, submits, with_tools};
use crate::{Row, rows};

pub(crate) fn rows() -> Vec<Row> {
    let mut all = rows! { "observation formatting":
        "tool outputs are formatted consistently" => consistently,
        "large outputs are truncated, by a limit that can be set" => truncated,
        "errors are told apart from results" => errors_stand_apart,
    };
    all.extend(rows! { "observation processing":
        "truncation to max_observation_tokens" => truncation,
        "error wrapping" => error_wrapping,
        "type preservation" => type_preservation,
        "tools that report while they run" => progress,
    });
    all
}

/// What the model is shown of this value, and what the record has of it.
async fn observed(value: Value, tokens: u32) -> (String, Value) {
    let tool = gives("search", move |_| Ok(value.clone()));
    let agent = with_tools(Tools::new().with(tool), [looks("oak"), submits("a tree")])
        .with(|agent| agent.limits(|limits| limits.max_observation_tokens = tokens));
    let done = agent.run().await;
    let recorded = done.trajectory().steps()[0].observation.clone();
    (agent.told(1), recorded)
}

async fn consistently() {
    // A text as it is, anything else as JSON, whichever tool it comes from.
    for (value, shown) in [
        (json!("about oak"), "about oak"),
        (json!({"height": 40}), r#"{"height":40}"#),
        (json!([1, 2]), "[1,2]"),
        (json!(40), "40"),
        (json!(null), "null"),
    ] {
        assert_eq!(observed(value, 2000).await.0, shown);
    }
}

async fn truncated() {
    let long = format!("begin {} end", "words ".repeat(10_000));
    for tokens in [50, 500] {
        let (shown, _) = observed(long.clone().into(), tokens).await;
        let most = tokens as usize * 5 + 200;
        assert!(shown.len() < most, "{} for {tokens}", shown.len());
        assert!(shown.starts_with("begin") && shown.ends_with("end"));
        assert!(shown.contains("left out"));
    }
}

async fn errors_stand_apart() {
    let lookups = || [looks("oak"), submits("a tree")];
    let failed = with_tools(Tools::new().with(failing("search")), lookups());
    let failed_run = failed.run().await;
    let worked = scripted(lookups());
    let worked_run = worked.run().await;
    let is_error = |run: &Prediction<Values>| run.trajectory().steps()[0].is_error;
    assert!(is_error(&failed_run) && !is_error(&worked_run));
    assert!(failed.told(1).starts_with("Error:"));
    assert!(!worked.told(1).starts_with("Error"));
    assert!(
        failed_run
            .run()
            .scratchpad()
            .contains("Observation: (error)")
    );
    assert!(!worked_run.run().scratchpad().contains("(error)"));
}

async fn truncation() {
    let long = "words ".repeat(10_000);
    // 2000 tokens unless set, of about four characters.
    let (shown, recorded) = observed(long.clone().into(), 2000).await;
    assert!((7_000..9_000).contains(&shown.len()), "{}", shown.len());
    // The record keeps all of it.
    assert_eq!(recorded, long);
    // A limit of 0 shows all.
    assert_eq!(observed(long.clone().into(), 0).await.0, long);
}

async fn error_wrapping() {
    let agent = with_tools(
        Tools::new().with(failing("search")),
        [looks("oak"), submits("a tree")],
    );
    agent.run().await;
    // Which tool, and what went wrong; no backtrace.
    assert_eq!(
        agent.told(1),
        "Error: Error executing search: the index is locked"
    );
}

async fn type_preservation() {
    let rows: Vec<Value> = (0..5_000).map(|n| json!({"row": n})).collect();
    let value = json!({"count": 5_000, "rows": rows});
    let (shown, recorded) = observed(value.clone(), 500).await;
    assert_eq!(recorded, value);
    // Cut short it is still the structure that it was.
    let shown: Value = serde_json::from_str(&shown).expect("JSON");
    assert_eq!(shown["count"], 5_000);
    assert_eq!(shown["rows"][0]["row"], 0);
}

async fn progress() {
    let spec = enact::Tool::spec(&crate::scripted::search()).clone();
    let tool = FnTool::from_spec(spec, |_, context: ToolContext| async move {
        context.progress("half way");
        Ok::<_, ToolError>("all of it")
    });
    let agent = with_tools(Tools::new().with(tool), [looks("oak"), submits("a tree")]);
    let (sender, receiver) = std::sync::mpsc::channel();
    let call = agent.agent.call(question()).on_update(move |update| {
        if let Update::Progress { message, .. } = update {
            sender.send((*message).to_owned()).unwrap();
        }
    });
    let done = call.await.unwrap().finished().unwrap();
    // Whoever watches is told; what the model sees is the result.
    assert_eq!(receiver.try_iter().collect::<Vec<_>>(), ["half way"]);
    assert_eq!(agent.told(1), "all of it");
    assert!(!agent.prompt(1).contains("half way"));
    assert!(done.success());
}
