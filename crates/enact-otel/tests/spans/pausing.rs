//! Runs that wait for a person.

use enact::model::{Usage, call};
use enact::{Decision, Outcome, Tools, values};
use serde_json::json;

use crate::{agent, named, search, watch};

#[tokio::test]
async fn a_resumed_run_is_a_trace_of_its_own_with_the_same_conversation() {
    let watched = watch();
    let agent = agent(
        Tools::new().with(search().require_confirmation()),
        [
            call("search", json!({"query": "a"})).costing(Usage::of_request(100, 10)),
            call("submit", json!({"answer": "b"})).costing(Usage::of_request(150, 5)),
        ],
    );
    let outcome = agent.call(values! { question: "q" }).await.unwrap();
    let Outcome::Paused(paused) = outcome else {
        panic!("it asks first")
    };
    let id = paused.questions()[0].confirmation_id.clone();
    let resumed = agent.resume(paused).answer(id, Decision::Approve);
    let done = resumed.await.unwrap().finished().unwrap();
    let spans = watched.spans();

    let [first, second] = named(&spans, "invoke_agent")[..] else {
        panic!("two spans of the agent: {spans:#?}")
    };
    assert!(first.parent.is_empty() && second.parent.is_empty());
    assert_ne!(first.trace, second.trace);
    let run = json!(done.run().id());
    assert!(
        spans
            .iter()
            .all(|span| span.attributes["gen_ai.conversation.id"] == run)
    );
    assert_eq!(first.attributes["enact.run.ending"], "paused");
    assert_eq!(second.attributes["enact.run.ending"], "success");
    assert!(spans.iter().all(|span| !span.is_error));
    // What was spent is told once: the two add up to the run.
    let tokens = |span: &enact_test_server::Collected| {
        let count = &span.attributes["gen_ai.usage.input_tokens"];
        count.as_u64().unwrap()
    };
    assert_eq!((tokens(first), tokens(second)), (100, 150));
    assert_eq!(done.run().usage().input_tokens, 250);
    assert!(named(&spans, "execute_tool")[0].is_below(second));
}
