//! Whole agents, whose runs outlive their process.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use enact::model::{ScriptStep, ScriptedModel, call};
use enact::run::store::{RunFilter, RunStatus, Store as _, StoreErrorKind};
use enact::tool::ToolSpec;
use enact::{Decision, ErrorKind, FnTool, Outcome, ReAct, ToolError, Tools, values};
use enact_sqlite::SqliteStore;
use serde_json::json;

use super::{file, folder};

fn tool(name: &str) -> ToolSpec {
    ToolSpec::new(
        name,
        "Does it.",
        json!({"type": "object", "properties": {}}),
    )
}

fn agent(tools: Tools, script: impl IntoIterator<Item = ScriptStep>) -> ReAct {
    ReAct::builder("question -> answer")
        .tools(tools)
        .model(Arc::new(ScriptedModel::new(script)))
        .build()
        .unwrap()
}

#[tokio::test]
async fn a_run_that_was_dropped_midway_goes_on_from_the_file() {
    let folder = folder();
    let (begun, count) = (
        Arc::new(tokio::sync::Notify::new()),
        Arc::new(AtomicUsize::new(0)),
    );
    let pay = |is_stuck: bool| {
        let (begun, count) = (begun.clone(), count.clone());
        FnTool::from_spec(tool("pay"), move |_, _| {
            let (begun, count) = (begun.clone(), count.clone());
            async move {
                count.fetch_add(1, Ordering::SeqCst);
                begun.notify_one();
                if is_stuck {
                    std::future::pending::<()>().await;
                }
                Ok::<_, ToolError>("paid")
            }
        })
    };
    {
        let look = FnTool::from_spec(tool("look"), |_, _| async { Ok::<_, ToolError>("seen") });
        let tools = Tools::new().with(pay(true)).with(look);
        let first = agent(tools, [call("look", json!({})), call("pay", json!({}))]);
        let store = SqliteStore::open(file(&folder)).await.unwrap();
        let running = first
            .call(values! { question: "q" })
            .run_id("r")
            .unattended()
            .store(store.clone());
        let busy = async {
            begun.notified().await;
            store.acquire("r").await.unwrap_err()
        };
        tokio::select! {
            _ = running.into_future() => panic!("the tool never ends"),
            error = busy => assert_eq!(error.kind(), StoreErrorKind::Busy),
        }
    }
    let store = SqliteStore::open(file(&folder)).await.unwrap();
    let status = RunFilter::all().with_status(RunStatus::Interrupted);
    assert_eq!(store.list(&status).await.unwrap()[0].steps, 2);
    let look = FnTool::from_spec(tool("look"), |_, _| async { Ok::<_, ToolError>("again") });
    let tools = Tools::new().with(pay(false)).with(look);
    let second = agent(tools, [call("submit", json!({"answer": "a"}))]);
    let outcome = second.resume_stored(store.clone(), "r").await.unwrap();
    let done = outcome.finished().unwrap();
    assert_eq!(done.trajectory().steps()[0].observation, "seen");
    // What was paid for is not paid for again.
    assert_eq!(count.load(Ordering::SeqCst), 1);
    let stored = store.load("r").await.unwrap();
    assert_eq!((&stored.run, stored.damage), (done.run(), None));
    let status = RunFilter::all().with_status(RunStatus::Finished);
    assert_eq!(store.list(&status).await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_paused_run_waits_in_the_file() {
    let folder = folder();
    let asks = || {
        let pay = FnTool::from_spec(tool("pay"), |_, _| async { Ok::<_, ToolError>("paid") });
        Tools::new().with(pay.require_confirmation())
    };
    let question = {
        let store = SqliteStore::open(file(&folder)).await.unwrap();
        let first = agent(asks(), [call("pay", json!({}))]);
        let outcome = first
            .call(values! { question: "q" })
            .run_id("r")
            .store(store)
            .await
            .unwrap();
        let Outcome::Paused(paused) = outcome else {
            panic!("did not pause");
        };
        paused.questions()[0].confirmation_id.clone()
    };
    let store = SqliteStore::open(file(&folder)).await.unwrap();
    let status = RunFilter::all().with_status(RunStatus::Paused);
    assert_eq!(store.list(&status).await.unwrap()[0].run_id, "r");
    // Another run of this name is refused.
    let second = agent(asks(), [call("submit", json!({"answer": "a"}))]);
    let again = second.call(values! { question: "q" }).run_id("r");
    let error = again.store(store.clone()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Store(StoreErrorKind::Position));
    let resumed = second.resume_stored(store.clone(), "r");
    let outcome = resumed.answer(question, Decision::Approve).await.unwrap();
    let done = outcome.finished().unwrap();
    assert_eq!(done.trajectory().steps()[0].observation, "paid");
    assert_eq!(store.load("r").await.unwrap().run, *done.run());
}

#[tokio::test]
async fn a_damaged_run_goes_on_only_when_told_to() {
    let folder = folder();
    let path = file(&folder);
    let store = SqliteStore::open(&path).await.unwrap();
    let asks = || {
        let look = FnTool::from_spec(tool("look"), |_, _| async { Ok::<_, ToolError>("seen") });
        Tools::new().with(look.read_only().require_confirmation())
    };
    let outcome = agent(asks(), [call("look", json!({}))])
        .call(values! { question: "q" })
        .run_id("r")
        .store(store.clone())
        .await
        .unwrap();
    assert!(matches!(outcome, Outcome::Paused(_)));
    super::execute(&path, "UPDATE events SET body = '' WHERE position = 2").await;
    let idle = agent(asks(), []);
    let error = idle.resume_stored(store.clone(), "r").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Store(StoreErrorKind::Corrupt));
    assert!(error.to_string().contains("record 2"), "{error}");
    assert_eq!(error.run().unwrap().records().len(), 2);
    // The lost question is asked again, under the same id, and the log is whole.
    let outcome = idle
        .resume_stored(store.clone(), "r")
        .despite_damage()
        .await
        .unwrap();
    assert!(matches!(outcome, Outcome::Paused(_)));
    assert_eq!(store.load("r").await.unwrap().damage, None);
}
