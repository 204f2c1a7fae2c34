//! What users of other libraries suffered from when people decide and processes die, row by row.
//! Further rows are tests of the same prefix in `pausing.rs`, `storing.rs`, `history.rs` and
//! `saved.rs`, and promises 1, 2, 3, 6, 7 and 10 in `promises.rs`, in the simulation and in the
//! tests of the command.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use enact::model::{ModelErrorKind, call, calls, fail};
use enact::run::store::{MemoryStore, Store as _};
use enact::run::{Event, Record};
use enact::{Decision, ErrorKind, History, Outcome, Paused, Run, Tools, values};
use serde_json::json;

use super::{Counted, Played, agent, effectful_search, paused};

/// An agent that searches, asking first, and then submits.
fn asking(script: Vec<enact::model::ScriptStep>) -> (Played, Arc<AtomicUsize>) {
    let count = Arc::new(AtomicUsize::new(0));
    let tool = Counted::new(effectful_search().require_confirmation(), count.clone());
    let played = agent("question -> answer", Tools::new().with(tool), script);
    (played, count)
}

fn searches() -> enact::model::ScriptStep {
    call("search", json!({"query": "x"}))
}

fn done() -> enact::model::ScriptStep {
    call("submit", json!({"answer": "a"}))
}

async fn start(played: &Played) -> Paused {
    paused(played.agent.call(values! { question: "q" }).await.unwrap())
}

fn id(paused: &Paused) -> String {
    paused.questions()[0].confirmation_id.clone()
}

fn prefix(run: &Run, length: usize) -> Run {
    let mut records: Vec<Record> = run.clone().into();
    records.truncate(length);
    Run::try_from(records).unwrap()
}

#[tokio::test]
async fn lesson_a_rejected_call_runs_by_no_path() {
    let (played, count) = asking(vec![searches(), done()]);
    let waiting = start(&played).await;
    let id = id(&waiting);
    let resumed = played
        .agent
        .resume(waiting)
        .answer(&id, Decision::Reject(None));
    let run = resumed.await.unwrap().run().clone();
    assert_eq!(count.load(Ordering::SeqCst), 0);
    // From wherever the log is taken up after the rejection, and whatever is answered then.
    let rejected = run
        .events()
        .position(|event| matches!(event, Event::Answered { .. }))
        .unwrap();
    for length in rejected + 1..run.records().len() {
        played.model.push(done());
        let outcome = played.agent.resume(prefix(&run, length)).await.unwrap();
        assert!(matches!(outcome, Outcome::Finished(_)));
        let approval = played
            .agent
            .resume(prefix(&run, length))
            .answer(&id, Decision::Approve);
        assert_eq!(approval.await.unwrap_err().kind(), ErrorKind::Answer);
    }
    played.model.abandon();
    assert_eq!(count.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn lesson_feedback_and_rejection_reach_the_model_in_plain_words() {
    for (decision, told) in [
        (
            Decision::Feedback("ask Anna first".to_owned()),
            "User feedback: ask Anna first",
        ),
        (
            Decision::Reject(Some("too risky".to_owned())),
            "The user declined this call: too risky",
        ),
    ] {
        let (played, _) = asking(vec![searches(), done()]);
        let waiting = start(&played).await;
        let id = id(&waiting);
        let resumed = played.agent.resume(waiting).answer(id, decision);
        resumed.await.unwrap().finished().unwrap();
        let requests = played.model.requests();
        let last = requests.last().unwrap();
        let prompt = format!("{:?}", last.prompt.iter().last().unwrap());
        assert!(prompt.contains(told), "{prompt}");
        assert!(!prompt.to_lowercase().contains("error"), "{prompt}");
        assert!(!prompt.contains("Traceback"), "{prompt}");
    }
}

#[tokio::test]
async fn lesson_a_confirmation_id_is_the_same_in_every_process() {
    let (played, _) = asking(vec![searches()]);
    let call = played.agent.call(values! { question: "q" }).run_id("run-1");
    let waiting = paused(call.await.unwrap());
    // A digest of run, step, call, arguments and tool: this very text, everywhere and always.
    assert_eq!(id(&waiting), "9b422d680f3ce9f995d643ba");
}

#[tokio::test]
async fn lesson_an_id_that_a_model_uses_again_names_another_question() {
    let (played, count) = asking(vec![
        searches().with_ids(["call_0"]),
        searches().with_ids(["call_0"]),
    ]);
    let first = start(&played).await;
    let approved = played.agent.resume(first.clone()).respond("yes").await;
    let second = paused(approved.unwrap());
    assert_ne!(id(&first), id(&second));
    let stale = played
        .agent
        .resume(second)
        .answer(id(&first), Decision::Approve);
    assert_eq!(stale.await.unwrap_err().kind(), ErrorKind::Answer);
    assert_eq!(count.load(Ordering::SeqCst), 1);
}

#[test]
fn lesson_a_history_that_ends_in_a_call_approves_nothing() {
    let error = History::from_chat_messages(&[
        json!({"role": "user", "content": "Search for x."}),
        json!({"role": "assistant", "content": null, "tool_calls": [{
            "id": "call_9", "type": "function",
            "function": {"name": "search", "arguments": "{\"query\": \"x\"}"},
        }]}),
    ])
    .unwrap_err();
    assert!(
        error.to_string().contains("`call_9` has no answer"),
        "{error}"
    );
}

#[tokio::test]
async fn lesson_an_answer_outlives_the_failure_of_the_resume_that_brought_it() {
    let (played, count) = asking(vec![
        searches(),
        fail(ModelErrorKind::Authentication, "the key has expired"),
        done(),
    ]);
    let store = MemoryStore::new();
    let call = played.agent.call(values! { question: "q" });
    let waiting = paused(call.store(store.clone()).await.unwrap());
    let resume = || {
        played
            .agent
            .resume_stored(store.clone(), waiting.run().id())
    };
    let error = resume().respond("yes").await.unwrap_err();
    assert_eq!(
        error.kind(),
        ErrorKind::Model(ModelErrorKind::Authentication)
    );
    // Nobody has to say yes again, and nothing is done again.
    let outcome = resume().await.unwrap();
    assert!(matches!(outcome, Outcome::Finished(_)));
    assert_eq!(count.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn lesson_an_answer_that_was_written_is_used_once_after_a_crash() {
    let (played, count) = asking(vec![searches(), done()]);
    let waiting = start(&played).await;
    let resumed = played.agent.resume(waiting).respond("yes").await;
    let run = resumed.unwrap().run().clone();
    let answered = run
        .events()
        .position(|event| matches!(event, Event::Answered { .. }))
        .unwrap();
    // The process ended right after the answer was written.
    count.store(0, Ordering::SeqCst);
    played.model.push(done());
    let outcome = played
        .agent
        .resume(prefix(&run, answered + 1))
        .await
        .unwrap();
    assert!(matches!(outcome, Outcome::Finished(_)));
    assert_eq!(count.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn lesson_of_a_batch_only_the_unfinished_call_is_in_doubt() {
    let count = Arc::new(AtomicUsize::new(0));
    let tool = Counted::new(effectful_search(), count.clone());
    let played = agent(
        "question -> answer",
        Tools::new().with(tool),
        [
            calls([
                ("search", json!({"query": "x"})),
                ("search", json!({"query": "y"})),
                ("search", json!({"query": "z"})),
            ]),
            done(),
        ],
    );
    let run = played.call(values! { question: "q" }).await.run().clone();
    let finished: Vec<usize> = (0..run.records().len())
        .filter(|&at| matches!(run.records()[at].event, Event::ToolFinished { .. }))
        .collect();
    count.store(0, Ordering::SeqCst);
    // Two had finished when the process ended.
    let waiting = paused(
        played
            .agent
            .resume(prefix(&run, finished[1] + 1))
            .await
            .unwrap(),
    );
    assert_eq!(waiting.questions().len(), 1);
    played.model.push(done());
    let outcome = played.agent.resume(waiting).respond("yes").await.unwrap();
    assert_eq!(count.load(Ordering::SeqCst), 1);
    let seen = outcome.run().trajectory();
    for (step, observed) in seen.steps().iter().zip(["about x", "about y", "about z"]) {
        assert_eq!(step.observation, observed);
    }
}

#[tokio::test]
async fn lesson_a_crash_at_step_47_of_50_costs_nothing_that_was_done() {
    let count = Arc::new(AtomicUsize::new(0));
    let tool = Counted::new(effectful_search(), count.clone());
    let searches = |n: usize| call("search", json!({"query": format!("x {n}")}));
    let steps = (0..49).map(searches).chain([done()]);
    let played = agent("question -> answer", Tools::new().with(tool), steps)
        .map(|agent| agent.max_iterations(60));
    let store = MemoryStore::new();
    let call = played.agent.call(values! { question: "q" });
    let whole = call.store(store.clone()).await.unwrap().run().clone();
    assert_eq!(count.load(Ordering::SeqCst), 49);
    // What a store held when the 47th observation had just been written.
    let cut = (0..whole.records().len())
        .filter(|&at| matches!(whole.records()[at].event, Event::ToolFinished { .. }))
        .nth(46)
        .unwrap();
    let asked = played.model.requests().len();
    for step in [searches(47), searches(48), done()] {
        played.model.push(step);
    }
    let outcome = played.agent.resume(prefix(&whole, cut + 1)).await.unwrap();
    assert!(matches!(outcome, Outcome::Finished(_)));
    assert_eq!(played.model.requests().len() - asked, 3);
    assert_eq!(count.load(Ordering::SeqCst), 49 + 2);
    assert!(store.load(whole.id()).await.unwrap().damage.is_none());
}
