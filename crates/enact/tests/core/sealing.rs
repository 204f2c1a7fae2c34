//! Runs that a program recognises as its own.

use enact::model::{ScriptedModel, Secrets, call};
use enact::run::{Record, SealKey};
use enact::{AgentTool, ReAct, Run, Settings, Tools, values};
use serde_json::{Value, json};

use super::{agent, search};

fn key(byte: u8) -> SealKey {
    SealKey::new([byte; 32])
}

/// The run after a change to its first record.
fn changed(run: &Run, change: impl FnOnce(&mut Value)) -> Run {
    let mut records = serde_json::to_value(run).unwrap();
    change(&mut records[0]);
    let records: Vec<Record> = serde_json::from_value(records).unwrap();
    Run::try_from(records).unwrap()
}

#[tokio::test]
async fn truth_a_sealed_run_is_recognised_and_a_changed_one_is_not() {
    let secrets = Secrets::new().with("hunter2-hunter2").unwrap();
    let settings = Settings::new().seal_key(key(1)).secrets(secrets);
    let notes = values! { mcp: ["npx server"], said: "hunter2-hunter2", share: 0.1 };
    let played = agent(
        "question -> answer",
        Tools::new().with(search()),
        [call("submit", json!({"answer": "done"}))],
    );
    let calling = played.agent.call(values! { question: "q" }).notes(notes);
    let outcome = enact::scope(settings, calling.into_future()).await;
    let run = outcome.unwrap().finished().unwrap().run().clone();
    assert!(run.is_sealed_by(&key(1)));
    assert!(!run.is_sealed_by(&key(2)), "another user or machine");
    // It is recognised in another process, and by what stands in the log.
    let again = changed(&run, |_| ());
    assert!(again.is_sealed_by(&key(1)));
    assert!(!serde_json::to_string(&again).unwrap().contains("hunter2"));

    for (name, change) in [
        ("notes", "/agent/notes/mcp/0"),
        ("address", "/agent/base_url"),
        ("model", "/agent/model"),
        ("rule", "/agent/tools/0/confirmation"),
        ("id", "/run_id"),
    ] {
        let run = changed(&run, |first| match first.pointer_mut(change) {
            Some(value) => *value = json!("always"),
            None => first["agent"]["base_url"] = json!("always"),
        });
        assert!(!run.is_sealed_by(&key(1)), "{name}");
    }
    let unsealed = changed(&run, |first| {
        first.as_object_mut().unwrap().shift_remove("seal");
    });
    assert!(!unsealed.is_sealed_by(&key(1)));
    assert_eq!(unsealed.started().seal, None);
    assert_eq!(Some(key(1).seal_of(&unsealed)), run.started().seal);
    let empty = changed(&run, |first| first["seal"] = json!(""));
    assert!(!empty.is_sealed_by(&key(1)));
}

#[tokio::test]
async fn truth_runs_of_called_agents_are_sealed_too() {
    use enact::run::store::{MemoryStore, RunFilter, Store as _};
    let inner = ReAct::builder("topic -> summary")
        .model(ScriptedModel::new([call(
            "submit",
            json!({"summary": "a tree"}),
        )]))
        .build()
        .unwrap();
    let store = MemoryStore::new();
    let tool = AgentTool::new(inner, "research", "Finds things out.").with_store(store.clone());
    let played = agent(
        "question -> answer",
        Tools::new().with(tool),
        [
            call("research", json!({"topic": "oak"})),
            call("submit", json!({"answer": "done"})),
        ],
    );
    let calling = played.agent.call(values! { question: "q" });
    let settings = Settings::new().seal_key(key(1));
    let outcome = enact::scope(settings, calling.into_future()).await;
    outcome.unwrap().finished().unwrap();
    let runs = store.list(&RunFilter::all()).await.unwrap();
    let run = store.load(&runs[0].run_id).await.unwrap().run;
    assert!(run.is_sealed_by(&key(1)));
}
