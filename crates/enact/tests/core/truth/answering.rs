//! Answers that are given together.

use enact::model::{call, calls};
use enact::tool::Confirmation;
use enact::{Decision, ErrorKind, FnTool, Paused, Prediction, ToolError, Tools, Values, values};
use serde_json::json;

use crate::{Played, agent, paused};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Amount {
    amount: i64,
}

/// An agent that wants to pay twice, and asks before each payment.
async fn asking() -> (Played, Paused) {
    let pay = FnTool::new("pay", "Pays.", |args: Amount, _| async move {
        Ok::<_, ToolError>(format!("paid {}", args.amount))
    });
    let played = agent(
        "question -> answer",
        Tools::new().with(pay.with_confirmation(Confirmation::Always)),
        [
            calls([5, 6].map(|amount| ("pay", json!({ "amount": amount })))),
            call("submit", json!({"answer": "done"})),
        ],
    );
    let waiting = paused(played.agent.call(values! { question: "q" }).await.unwrap());
    (played, waiting)
}

#[tokio::test]
async fn truth_answers_that_do_not_fit_leave_no_trace() {
    let (played, waiting) = asking().await;
    let [first, second] = waiting.questions() else {
        panic!("two questions");
    };
    let (first, second) = (&first.confirmation_id, &second.confirmation_id);
    let edit = Decision::Edit {
        name: "pay".to_owned(),
        args: values! { amuont: 7 },
    };
    for (id, decision) in [
        (first, Decision::Reject(None)),
        (first, Decision::Approve),
        (second, edit),
        (second, Decision::Answer("paid".to_owned())),
    ] {
        let call = played.agent.resume(waiting.clone());
        let call = call.answer(first, Decision::Approve);
        let error = call.answer(id, decision).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Answer, "{error}");
        let run = error.run().unwrap();
        assert_eq!(run.open_questions().len(), 2, "{error}");
        assert_eq!(run.records(), waiting.run().records(), "{error}");
    }
    // One answer each is taken, in words as well.
    let call = played.agent.resume(waiting.clone());
    let call = call.answer(second, Decision::Approve).respond("no");
    let done = call.await.unwrap().finished().unwrap();
    let trajectory = done.trajectory();
    assert_eq!(trajectory.steps()[1].observation, "paid 6");
    // Its log tells what it came to, without an agent.
    let read = Prediction::<Values>::try_from(done.run().clone()).unwrap();
    assert_eq!(read.outputs, done.outputs);
    let error = Prediction::<Values>::try_from(waiting.run().clone()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NoAnswer);
}
