//! When a person is asked, by whom, for how long, and what their answers are worth.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use enact::model::{call, calls};
use enact::run::store::{MemoryStore, Store as _};
use enact::run::{Answerer, ConfirmationStatus, Event, QuestionKind};
use enact::tool::Confirmation;
use enact::tool::builtin::ask_user;
use enact::{
    Confirmations, Decision, ErrorKind, FnTool, Paused, Run, ToolContext, ToolError, Tools, values,
};
use serde_json::{Value, json};

use super::{Counted, Played, agent, effectful_search, paused, search};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Amount {
    amount: i64,
}

fn pay() -> FnTool {
    FnTool::new("pay", "Pays.", |args: Amount, _| async move {
        Ok::<_, ToolError>(format!("paid {}", args.amount))
    })
}

fn pays(amounts: &[i64]) -> enact::model::ScriptStep {
    calls(
        amounts
            .iter()
            .map(|amount| ("pay", json!({"amount": amount}))),
    )
}

fn done() -> enact::model::ScriptStep {
    call("submit", json!({"answer": "done"}))
}

async fn start(played: &Played) -> Paused {
    paused(played.agent.call(values! { question: "q" }).await.unwrap())
}

fn observations(run: &Run) -> Vec<Value> {
    let trajectory = run.trajectory();
    let steps = trajectory.steps().iter();
    steps.map(|step| step.observation.clone()).collect()
}

fn id(paused: &Paused, index: usize) -> String {
    paused.questions()[index].confirmation_id.clone()
}

#[tokio::test]
async fn a_policy_picks_the_calls_that_ask_and_the_log_keeps_what_it_said() {
    let large = || {
        pay().with_confirmation(Confirmation::when(|args| {
            args["amount"].as_i64() > Some(100)
        }))
    };
    let played = agent(
        "question -> answer",
        Tools::new().with(large()),
        [pays(&[5, 500])],
    );
    let waiting = start(&played).await;
    assert_eq!(waiting.questions().len(), 1);
    assert_eq!(waiting.questions()[0].tool_call.args["amount"], 500);
    // Another release of the program asks about nothing: what was asked stays asked.
    let lax = agent("question -> answer", Tools::new().with(pay()), [done()]);
    let again = paused(lax.agent.resume(waiting.clone()).await.unwrap());
    assert_eq!(again.questions(), waiting.questions());
    let outcome = lax.agent.resume(again).respond("yes").await.unwrap();
    assert_eq!(
        observations(outcome.run())[..2],
        ["paid 5", "paid 500"].map(Value::from)
    );
}

#[tokio::test]
async fn rules_are_set_from_outside_by_the_name_of_the_tool() {
    let played = agent("question -> answer", Tools::new().with(pay()), [pays(&[5])])
        .map(|agent| agent.confirmation("pay", Confirmation::Always));
    assert_eq!(start(&played).await.questions().len(), 1);
    let strict = Tools::new().with(pay().require_confirmation());
    let played = agent("question -> answer", strict, [pays(&[5]), done()])
        .map(|agent| agent.confirmation("pay", Confirmation::Never));
    played.call(values! { question: "q" }).await;
    let error = played
        .builder
        .confirmation("pya", Confirmation::Never)
        .build()
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Tools);
    assert!(error.to_string().contains("`pya`"), "{error}");
}

#[tokio::test]
async fn udspy_the_clarification_tool_asks_and_the_answer_is_its_result() {
    let played = agent(
        "question -> answer",
        Tools::new().with(ask_user()),
        [call("ask_user", json!({"question": "Which city?"})), done()],
    );
    let waiting = start(&played).await;
    let question = &waiting.questions()[0];
    assert_eq!(question.kind, QuestionKind::Clarify);
    assert_eq!(question.question, "Which city?");
    // Only words will do.
    for wrong in [
        Decision::Approve,
        Decision::ApproveAlways,
        question.tool_call.args.clone().into_edit(),
    ] {
        let answered = played
            .agent
            .resume(waiting.clone())
            .answer(id(&waiting, 0), wrong);
        assert_eq!(answered.await.unwrap_err().kind(), ErrorKind::Answer);
    }
    let outcome = played.agent.resume(waiting).respond("no").await.unwrap();
    assert_eq!(observations(outcome.run())[0], "no");
}

trait IntoEdit {
    fn into_edit(self) -> Decision;
}

impl IntoEdit for enact::Values {
    fn into_edit(self) -> Decision {
        Decision::Edit {
            name: "ask_user".to_owned(),
            args: self,
        }
    }
}

#[tokio::test]
async fn a_question_can_be_declined_and_the_agent_goes_on() {
    for (decision, observed) in [
        (
            Decision::Reject(None),
            "The user declined to answer. Go on without.",
        ),
        (
            Decision::Reject(Some("find it out".to_owned())),
            "The user declined to answer: find it out",
        ),
        (
            Decision::Feedback("look it up".to_owned()),
            "User feedback: look it up",
        ),
    ] {
        let played = agent(
            "question -> answer",
            Tools::new().with(ask_user()),
            [call("ask_user", json!({"question": "Which?"})), done()],
        );
        let waiting = start(&played).await;
        let id = id(&waiting, 0);
        let resumed = played.agent.resume(waiting).answer(id, decision);
        assert_eq!(observations(resumed.await.unwrap().run())[0], observed);
    }
}

fn booking(calls: Arc<AtomicUsize>) -> FnTool {
    FnTool::new(
        "book",
        "Books a seat.",
        move |args: Amount, context: ToolContext| {
            calls.fetch_add(1, Ordering::SeqCst);
            async move {
                let seat = context.ask("Window or aisle?")?;
                let meal = context.ask("Which meal?")?;
                Ok::<_, ToolError>(format!("{} {seat} {meal}", args.amount))
            }
        },
    )
}

#[tokio::test]
async fn a_tool_that_asks_is_called_again_with_all_answers_so_far() {
    let count = Arc::new(AtomicUsize::new(0));
    let played = agent(
        "question -> answer",
        Tools::new().with(booking(count.clone())).with(search()),
        [
            calls([
                ("book", json!({"amount": 2})),
                ("search", json!({"query": "x"})),
            ]),
            done(),
        ],
    );
    let first = start(&played).await;
    assert_eq!(first.questions()[0].question, "Window or aisle?");
    let resumed = played.agent.resume(first.clone()).respond("aisle").await;
    let second = paused(resumed.unwrap());
    assert_eq!(second.questions()[0].question, "Which meal?");
    assert_ne!(id(&first, 0), id(&second, 0));
    // A late answer to the first question is not one to the second.
    let late = played
        .agent
        .resume(second.clone())
        .answer(id(&first, 0), Decision::Answer("window".to_owned()));
    assert_eq!(late.await.unwrap_err().kind(), ErrorKind::Answer);
    let json = serde_json::to_string(&second).unwrap();
    let second: Paused = serde_json::from_str(&json).unwrap();
    let outcome = played.agent.resume(second).respond("soup").await.unwrap();
    assert_eq!(
        observations(outcome.run())[..2],
        ["2 aisle soup", "about x"].map(Value::from)
    );
    assert_eq!(count.load(Ordering::SeqCst), 3);
}

#[tokio::test]
async fn a_standing_rule_covers_one_tool_in_one_run_and_stands_in_the_log() {
    let count = Arc::new(AtomicUsize::new(0));
    let tools = Tools::new()
        .with(Counted::new(pay().require_confirmation(), count.clone()))
        .with(effectful_search().require_confirmation());
    let played = agent(
        "question -> answer",
        tools,
        [
            pays(&[1, 2]),
            pays(&[3]),
            call("search", json!({"query": "x"})),
            pays(&[4]),
        ],
    );
    let waiting = start(&played).await;
    assert_eq!(waiting.questions().len(), 2);
    let always = id(&waiting, 0);
    let next = played
        .agent
        .resume(waiting)
        .answer(always, Decision::ApproveAlways);
    // The sibling and the next step ran; another tool still asks.
    let next = paused(next.await.unwrap());
    assert_eq!(count.load(Ordering::SeqCst), 3);
    assert_eq!(next.questions()[0].tool_call.name, "search");
    let answers: Vec<_> = next
        .run()
        .questions()
        .iter()
        .map(|asked| (asked.status, asked.by))
        .collect();
    assert_eq!(
        answers,
        [
            (ConfirmationStatus::Approved, Some(Answerer::Person)),
            (ConfirmationStatus::Approved, Some(Answerer::Rule)),
            (ConfirmationStatus::Pending, None),
        ]
    );
    let json = serde_json::to_string(next.run()).unwrap();
    assert!(json.contains(r#""decision":"approve_always""#), "{json}");
    assert!(json.contains(r#""by":"rule""#), "{json}");
    played.model.abandon();
    // Another run of the same agent asks anew.
    let played = agent(
        "question -> answer",
        Tools::new().with(pay().require_confirmation()),
        [pays(&[4])],
    );
    start(&played).await;
}

#[tokio::test]
async fn a_call_in_doubt_takes_no_standing_rule() {
    let played = agent(
        "question -> answer",
        Tools::new().with(pay()),
        [pays(&[1]), done()],
    );
    let run = played.call(values! { question: "q" }).await.run().clone();
    let mut records: Vec<_> = run.into();
    records.truncate(3);
    let run = Run::try_from(records).unwrap();
    assert!(matches!(
        run.events().next_back(),
        Some(Event::ToolStarted { .. })
    ));
    let waiting = paused(played.agent.resume(run).await.unwrap());
    assert_eq!(waiting.questions()[0].kind, QuestionKind::InDoubt);
    let id = id(&waiting, 0);
    let error = played
        .agent
        .resume(waiting)
        .answer(id, Decision::ApproveAlways)
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Answer);
}

/// The same pause, as it looks some time later.
fn later(paused: &Paused, seconds: i64) -> Paused {
    let mut json = serde_json::to_value(paused).unwrap();
    for record in json["run"].as_array_mut().unwrap() {
        let at: enact::Timestamp = serde_json::from_value(record["at"].clone()).unwrap();
        let time = Duration::from_secs(seconds.unsigned_abs());
        let earlier = at.checked_sub(time).unwrap();
        record["at"] = serde_json::to_value(earlier).unwrap();
    }
    serde_json::from_value(json).unwrap()
}

#[tokio::test]
async fn a_question_that_nobody_answers_in_time_is_a_rejection() {
    let count = Arc::new(AtomicUsize::new(0));
    let played = agent(
        "question -> answer",
        Tools::new().with(Counted::new(pay().require_confirmation(), count.clone())),
        [pays(&[1]), done()],
    )
    .map(|agent| agent.limits(|limits| limits.answer_within = Some(Duration::from_secs(60))));
    let waiting = start(&played).await;
    let expiry = waiting.questions()[0].expires_at.unwrap();
    assert!(expiry > enact::Timestamp::now());
    // In time it only waits.
    let again = paused(played.agent.resume(later(&waiting, 30)).await.unwrap());
    assert_eq!(again.questions().len(), 1);
    // Too late: a yes no longer counts, and the rejection is written down.
    let late = later(&waiting, 61);
    let yes = played
        .agent
        .resume(late)
        .answer(id(&waiting, 0), Decision::Approve);
    let error = yes.await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Answer);
    assert!(error.to_string().contains("expired"), "{error}");
    let run = error.into_run().unwrap();
    assert_eq!(run.questions()[0].status, ConfirmationStatus::Rejected);
    assert_eq!(run.questions()[0].by, Some(Answerer::Expiry));
    let outcome = played.agent.resume(run).await.unwrap();
    assert_eq!(count.load(Ordering::SeqCst), 0);
    assert_eq!(
        observations(outcome.run())[0],
        "Nobody agreed to this call in time. It was not executed."
    );
}

#[tokio::test]
async fn words_alone_answer_only_when_it_is_clear_what() {
    let played = agent(
        "question -> answer",
        Tools::new().with(pay().require_confirmation()),
        [pays(&[1, 2])],
    );
    let waiting = start(&played).await;
    let error = played
        .agent
        .resume(waiting)
        .respond("yes")
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Answer);
    assert!(error.to_string().contains("2 questions"), "{error}");
}

/// A stored run that waits with one question for each amount.
async fn stored(amounts: &[i64]) -> (Played, MemoryStore, Confirmations, Vec<String>) {
    let store = MemoryStore::new();
    let played = agent(
        "question -> answer",
        Tools::new().with(pay().require_confirmation()),
        [pays(amounts), done()],
    );
    let call = played.agent.call(values! { question: "q" });
    let waiting = paused(call.store(store.clone()).await.unwrap());
    let ids = (0..amounts.len()).map(|index| id(&waiting, index));
    let questions = Confirmations::of(store.clone(), waiting.run().id());
    let ids = ids.collect();
    (played, store, questions, ids)
}

#[tokio::test]
async fn udspy_answers_are_looked_up_given_and_cleared_over_the_store() {
    let (played, store, questions, ids) = stored(&[1, 2, 3, 4, 5]).await;
    for (id, decision, status) in [
        (&ids[0], Decision::Approve, ConfirmationStatus::Approved),
        (
            &ids[1],
            Decision::Reject(Some("no".to_owned())),
            ConfirmationStatus::Rejected,
        ),
        (
            &ids[2],
            Decision::Edit {
                name: "pay".to_owned(),
                args: values! { amount: "30" },
            },
            ConfirmationStatus::Edited,
        ),
        (
            &ids[3],
            Decision::Feedback("why?".to_owned()),
            ConfirmationStatus::Feedback,
        ),
    ] {
        assert_eq!(
            questions.status(id).await.unwrap(),
            ConfirmationStatus::Pending
        );
        questions.respond(id, decision.clone()).await.unwrap();
        assert_eq!(questions.status(id).await.unwrap(), status);
        // It was answered: the next answer comes too late.
        let error = questions.respond(id, decision).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Answer);
    }
    // Minds change, as long as nothing has happened.
    questions.clear(&ids[0]).await.unwrap();
    assert_eq!(
        questions.status(&ids[0]).await.unwrap(),
        ConfirmationStatus::Pending
    );
    questions.clear_all().await.unwrap();
    for id in &ids {
        assert_eq!(
            questions.status(id).await.unwrap(),
            ConfirmationStatus::Pending
        );
    }
    let edit = |args| Decision::Edit {
        name: "pay".to_owned(),
        args,
    };
    let error = questions
        .respond(&ids[2], edit(values! { amount: "lots" }))
        .await
        .unwrap_err();
    assert!(error.to_string().contains("expected an integer"), "{error}");
    questions
        .respond(&ids[2], edit(values! { amount: 30 }))
        .await
        .unwrap();
    for index in [0, 1, 3, 4] {
        questions
            .respond(&ids[index], Decision::Reject(None))
            .await
            .unwrap();
    }
    let run_id = questions.list().await.unwrap().len();
    assert_eq!(run_id, 5);
    let runs = store
        .list(&enact::run::store::RunFilter::all())
        .await
        .unwrap();
    let run_id = &runs[0].run_id;
    let outcome = played.agent.resume_stored(store, run_id).await.unwrap();
    let seen = observations(outcome.run());
    assert_eq!(seen[2], "paid 30");
    assert!(seen[0].as_str().unwrap().contains("declined"));
    // What was used stays.
    let error = questions.clear(&ids[2]).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Answer);
    assert!(error.to_string().contains("used"), "{error}");
    let error = questions.status("nope").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Answer);
}

#[tokio::test]
async fn nobody_answers_over_the_head_of_who_works_on_the_run() {
    let (played, store, questions, ids) = stored(&[1]).await;
    played.model.abandon();
    let runs = store
        .list(&enact::run::store::RunFilter::all())
        .await
        .unwrap();
    let lease = store.acquire(&runs[0].run_id).await.unwrap();
    let error = questions
        .respond(&ids[0], Decision::Approve)
        .await
        .unwrap_err();
    assert_eq!(error.kind().as_str(), "run_busy");
    drop(lease);
    questions.respond(&ids[0], Decision::Approve).await.unwrap();
}
