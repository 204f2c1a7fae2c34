//! Logs that somebody edited: what is approved is the call that runs.

use enact::model::call;
use enact::run::Record;
use enact::{Decision, Outcome, Run, values};
use serde_json::{Value, json};

use crate::changing::{Changing, played};
use crate::identity::{asking, has_started};

/// The records of a run that waits for approval of `send`, as JSON.
async fn waiting() -> Vec<Value> {
    let inside = Changing::of([asking("send", "Sends a card.")]);
    let first = played(&inside, [call("send", json!({"x": 1}))]);
    let outcome = first.agent.call(values! { question: "q" }).await.unwrap();
    let Value::Array(records) = serde_json::to_value(outcome.run()).unwrap() else {
        panic!("a list");
    };
    records
}

async fn resumed(records: Vec<Value>, answer: Option<&str>) -> Result<Run, String> {
    let inside = Changing::of([asking("send", "Sends a card.")]);
    let again = played(&inside, []);
    let records: Vec<Record> = serde_json::from_value(records.into()).unwrap();
    let mut call = again.agent.resume(Run::try_from(records).unwrap());
    if let Some(id) = answer {
        call = call.answer(id, Decision::Approve);
    }
    match call.await {
        Ok(Outcome::Paused(paused)) => Ok(paused.into()),
        Ok(Outcome::Finished(_)) => panic!("nobody agreed"),
        Err(error) => Err(error.to_string()),
    }
}

#[tokio::test]
async fn truth_an_approval_is_not_for_a_call_that_was_edited_in_the_log() {
    let mut records = waiting().await;
    let asked = records.last().unwrap()["confirmation_id"].clone();
    records[1]["read"]["step"]["calls"][0]["args"] = json!({"x": 666});
    // The old answer fits nothing any more.
    let error = resumed(records.clone(), asked.as_str()).await.unwrap_err();
    assert!(error.contains("no open question"), "{error}");
    // The call is asked about as it stands there now.
    let run = resumed(records, None).await.unwrap();
    assert!(!has_started(&run));
    let open = run.open_questions();
    assert_eq!(open.len(), 1);
    assert_eq!(open[0].tool_call.args["x"], 666);
    assert!(open[0].question.contains("666"), "{}", open[0].question);
    assert_ne!(open[0].confirmation_id, asked.as_str().unwrap());
}

#[tokio::test]
async fn truth_a_call_that_has_to_be_approved_is_asked_about_whatever_the_log_says() {
    let mut records = waiting().await;
    records.pop();
    let planned = &mut records[1]["read"]["step"]["calls"][0];
    assert_eq!(planned["confirm"], true);
    planned.as_object_mut().unwrap().remove("confirm");
    let run = resumed(records, None).await.unwrap();
    assert!(!has_started(&run));
    assert_eq!(run.open_questions().len(), 1);
}
