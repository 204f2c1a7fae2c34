//! Runs in a store outlive their process, and have one writer.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use enact::model::call;
use enact::run::store::{
    Lease, MemoryStore, RunFilter, RunStatus, RunSummary, Store, StoreError, StoreErrorKind,
    StoreFuture, StoredRun, check_store,
};
use enact::run::{Record, Run};
use enact::{Decision, Error, ErrorKind, FnTool, Tool as _, ToolError, Tools, values};
use serde_json::json;

use super::{Counted, agent, effectful_search, paused, search};

#[tokio::test]
async fn the_memory_store_keeps_its_promises() {
    check_store(&MemoryStore::new()).await.unwrap();
}

#[tokio::test]
async fn a_paused_run_is_found_in_the_store_and_resumed_by_its_id() {
    let store = MemoryStore::new();
    let asks = || Tools::new().with(effectful_search().require_confirmation());
    let first = agent(
        "question -> answer",
        asks(),
        [call("search", json!({"query": "x"}))],
    );
    let waiting = paused(
        first
            .agent
            .call(values! { question: "q" })
            .store(store.clone())
            .await
            .unwrap(),
    );
    let listed = store
        .list(&RunFilter::all().with_status(RunStatus::Paused))
        .await
        .unwrap();
    assert_eq!(listed[0].run_id, waiting.run().id());
    assert_eq!(
        store.load(waiting.run().id()).await.unwrap().run,
        *waiting.run()
    );
    // Another process, which has the same agent, takes it up.
    let second = agent(
        "question -> answer",
        asks(),
        [call("submit", json!({"answer": "a"}))],
    );
    let id = waiting.questions()[0].confirmation_id.clone();
    let outcome = second
        .agent
        .resume_stored(store.clone(), waiting.run().id())
        .answer(id, Decision::Approve)
        .await
        .unwrap();
    let done = outcome.finished().unwrap();
    assert_eq!(done.trajectory().steps()[0].observation, "about x");
    assert_eq!(store.load(done.run().id()).await.unwrap().run, *done.run());
    // What the first process still holds is out of date, and says so.
    let error = first.agent.resume(waiting).store(store).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Store(StoreErrorKind::Position));
}

#[tokio::test]
async fn promise_1_an_effect_is_not_repeated_after_its_process_is_gone() {
    let store = MemoryStore::new();
    let (begun, count) = (
        Arc::new(tokio::sync::Notify::new()),
        Arc::new(AtomicUsize::new(0)),
    );
    let signal = begun.clone();
    let pay = FnTool::from_spec(
        enact::tool::ToolSpec::new("pay", "Pays.", json!({"type": "object", "properties": {}})),
        move |_, _| {
            signal.notify_one();
            std::future::pending::<Result<(), ToolError>>()
        },
    );
    let tools = Tools::new().with(Counted::new(pay, count.clone()));
    let played = agent(
        "question -> answer",
        tools,
        [
            call("pay", json!({})),
            call("submit", json!({"answer": "a"})),
        ],
    );
    // The call is under way when its process ends.
    let running = played
        .agent
        .call(values! { question: "q" })
        .run_id("r")
        .unattended()
        .store(store.clone());
    tokio::select! {
        _ = running.into_future() => panic!("the tool never ends"),
        () = begun.notified() => {}
    }
    let done = played
        .agent
        .resume_stored(store, "r")
        .await
        .unwrap()
        .finished()
        .unwrap();
    assert_eq!(count.load(Ordering::SeqCst), 1);
    let step = done.trajectory().steps()[0].clone();
    assert!(
        step.is_error && step.observation.as_str().unwrap().contains("not known"),
        "{step:?}"
    );
}

#[tokio::test]
async fn promise_10_one_of_two_that_resume_a_run_wins_and_the_other_is_told() {
    // The tool lets others run, so that the second comes while the first is at work.
    let slow = || {
        FnTool::from_spec(search().spec().clone(), |_, _| async {
            tokio::task::yield_now().await;
            Ok::<_, ToolError>("slowly")
        })
    };
    for _ in 0..100 {
        let store = MemoryStore::new();
        let asks = || Tools::new().with(slow().require_confirmation());
        let first = agent(
            "question -> answer",
            asks(),
            [call("search", json!({"query": "x"}))],
        );
        let waiting = paused(
            first
                .agent
                .call(values! { question: "q" })
                .store(store.clone())
                .await
                .unwrap(),
        );
        let id = waiting.questions()[0].confirmation_id.clone();
        let second = agent(
            "question -> answer",
            asks(),
            [call("submit", json!({"answer": "a"}))],
        );
        let resume = || {
            second
                .agent
                .resume_stored(store.clone(), waiting.run().id())
                .answer(&id, Decision::Approve)
                .into_future()
        };
        let outcomes = futures_util::future::join(resume(), resume()).await;
        let won = [outcomes.0.is_ok(), outcomes.1.is_ok()];
        assert_eq!(won.iter().filter(|won| **won).count(), 1);
        let lost = outcomes.0.err().or(outcomes.1.err()).unwrap();
        assert_eq!(lost.kind(), ErrorKind::Store(StoreErrorKind::Busy));
    }
}

/// A store whose disk is full from some moment on, and that knows what was written at once.
#[derive(Debug, Clone, Default)]
struct Filling {
    inner: MemoryStore,
    is_full: Arc<AtomicBool>,
    writes: Arc<Mutex<Vec<String>>>,
}

impl Store for Filling {
    fn acquire<'a>(&'a self, run_id: &'a str) -> StoreFuture<'a, Lease> {
        self.inner.acquire(run_id)
    }

    fn append<'a>(&'a self, lease: &'a Lease, records: &'a [Record]) -> StoreFuture<'a, ()> {
        if self.is_full.load(Ordering::SeqCst) {
            let error = StoreError::new(StoreErrorKind::Full, "the disk is full: free some room");
            return Box::pin(std::future::ready(Err(error)));
        }
        let names = records.iter().map(name_of);
        let write = names.collect::<Vec<_>>().join(" ");
        self.writes.lock().unwrap().push(write);
        self.inner.append(lease, records)
    }

    fn load<'a>(&'a self, run_id: &'a str) -> StoreFuture<'a, StoredRun> {
        self.inner.load(run_id)
    }

    fn list<'a>(&'a self, filter: &'a RunFilter) -> StoreFuture<'a, Vec<RunSummary>> {
        self.inner.list(filter)
    }

    fn delete<'a>(&'a self, run_id: &'a str) -> StoreFuture<'a, ()> {
        self.inner.delete(run_id)
    }
}

#[tokio::test]
async fn nothing_runs_that_could_not_be_written_down_first() {
    let store = Filling::default();
    let count = Arc::new(AtomicUsize::new(0));
    let full = store.is_full.clone();
    let played = agent(
        "question -> answer",
        Tools::new().with(Counted::new(effectful_search(), count.clone())),
        [
            call("search", json!({"query": "x"})),
            call("submit", json!({"answer": "a"})),
        ],
    );
    let error = played
        .agent
        .call(values! { question: "q" })
        .run_id("r")
        .store(store.clone())
        .on_update(move |update| {
            // The disk fills up between the reply and the start of its call.
            if let enact::Update::Recorded { record } = update
                && record.event.is_step()
            {
                full.store(true, Ordering::SeqCst);
            }
        })
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Store(StoreErrorKind::Full));
    assert_eq!(count.load(Ordering::SeqCst), 0);
    // With room again, the run goes on where it was, and the reply is not paid for twice.
    store.is_full.store(false, Ordering::SeqCst);
    let done = played
        .agent
        .resume_stored(store, "r")
        .await
        .unwrap()
        .finished()
        .unwrap();
    assert_eq!(count.load(Ordering::SeqCst), 1);
    assert_eq!(done.usage.requests, 2);
}

fn name_of(record: &Record) -> String {
    let written = serde_json::to_value(record).unwrap();
    written["event"].as_str().unwrap().to_owned()
}

/// A run of one call, and the store that it was kept in, which is full after an event.
async fn one_call(tools: Tools, full_after: &'static str) -> (Result<Run, Error>, Filling) {
    let store = Filling::default();
    let full = store.is_full.clone();
    let mut script = vec![call("search", json!({"query": "x"}))];
    if full_after.is_empty() {
        script.push(call("submit", json!({"answer": "a"})));
    }
    let played = agent("question -> answer", tools, script);
    let outcome = played
        .agent
        .call(values! { question: "q" })
        .store(store.clone())
        .on_update(move |update| {
            if let enact::Update::Recorded { record } = update
                && name_of(record) == full_after
            {
                full.store(true, Ordering::SeqCst);
            }
        })
        .await;
    (outcome.map(|outcome| outcome.run().clone()), store)
}

#[tokio::test]
async fn the_start_of_a_call_that_changes_nothing_is_written_with_what_it_gave() {
    let (run, store) = one_call(Tools::new().with(search()), "").await;
    assert_eq!(
        *store.writes.lock().unwrap(),
        [
            "started",
            "replied",
            "tool_started tool_finished",
            "replied",
            "finished"
        ]
    );
    let run = run.unwrap();
    assert_eq!(store.load(run.id()).await.unwrap().run, run);

    let (_, store) = one_call(Tools::new().with(effectful_search()), "").await;
    assert_eq!(
        *store.writes.lock().unwrap(),
        [
            "started",
            "replied",
            "tool_started",
            "tool_finished",
            "replied",
            "finished"
        ]
    );
}

#[tokio::test]
async fn a_run_that_is_ahead_of_its_store_is_taken_in_and_goes_on() {
    let (outcome, store) = one_call(Tools::new().with(search()), "tool_started").await;
    let error = outcome.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Store(StoreErrorKind::Full));
    let run = error.into_run().unwrap();
    let kept = store.load(run.id()).await.unwrap().run;
    assert_eq!(kept.records().len() + 1, run.records().len());

    store.is_full.store(false, Ordering::SeqCst);
    let tools = Tools::new().with(search());
    let submit = [call("submit", json!({"answer": "a"}))];
    let later = agent("question -> answer", tools, submit);
    let done = later.agent.resume(run).store(store.clone()).await.unwrap();
    let kept = store.load(done.run().id()).await.unwrap().run;
    assert_eq!(kept, *done.run());
}
