//! How sure a model says it is.

use enact::model::{ScriptedModel, call, say};
use enact::{ReAct, Signature, TerminationReason, Tools, values};
use serde_json::json;

use super::{agent, search};

#[derive(Signature)]
struct Capital {
    #[input]
    country: String,
    #[output]
    capital: String,
}

#[tokio::test]
async fn a_submit_says_how_sure_it_is() {
    let model = ScriptedModel::new([
        call("submit", json!({"capital": "Paris"})),
        call("submit", json!({"capital": "Paris", "confidence": 90})),
        call("submit", json!({"capital": "Paris", "confidence": 0.9})),
    ]);
    let agent = ReAct::builder_for::<Capital>()
        .confidence()
        .model(model)
        .build()
        .unwrap();
    let input = CapitalInput {
        country: "France".to_owned(),
    };
    let done = agent.call(input).await.unwrap().finished().unwrap();
    assert_eq!(done.capital, "Paris");
    assert_eq!(done.confidence(), Some(0.9));
    // What is missing or no number from 0 to 1 is asked for again.
    let steps = done.run().trace().steps;
    let told = |step: usize| steps[step].actions[0].observation.clone().unwrap().text();
    assert!(told(0).contains("confidence"), "{}", told(0));
    assert!(told(1).contains("confidence"), "{}", told(1));
}

#[tokio::test]
async fn so_does_an_answer_after_a_limit() {
    let played = agent(
        "question -> answer",
        Tools::new().with(search()),
        [
            call("search", json!({"query": "q"})),
            say(json!({"reasoning": "r", "answer": "a", "confidence": 0.25}).to_string()),
        ],
    )
    .map(|agent| agent.confidence().max_iterations(1));
    let done = played.call(values! { question: "q" }).await;
    assert_eq!(done.termination, TerminationReason::MaxIterations);
    assert_eq!(done.confidence(), Some(0.25));
}

#[tokio::test]
async fn nobody_is_asked_who_need_not_say() {
    let played = agent(
        "question -> answer",
        Tools::new(),
        [call("submit", json!({"answer": "a"}))],
    );
    let done = played.call(values! { question: "q" }).await;
    assert_eq!(done.confidence(), None);
    let taken = ReAct::builder("question -> confidence: float").confidence();
    let error = taken.build().unwrap_err();
    assert!(error.to_string().contains("confidence"), "{error}");
}
