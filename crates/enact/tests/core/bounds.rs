//! However a model replies, a run ends within its limits.

use std::sync::Arc;

use enact::model::{ScriptStep, ScriptedModel, call, calls, say};
use enact::{ErrorKind, ReAct, TerminationReason, values};
use proptest::prelude::*;
use serde_json::json;

use super::search_and_add;

fn reply() -> impl Strategy<Value = ScriptStep> {
    prop_oneof![
        Just(call("search", json!({"query": "x"}))),
        Just(call("add", json!({"a": "no number"}))),
        Just(call("nope", json!({}))),
        Just(call("submit", json!({"answer": "no number"}))),
        Just(call("submit", json!({"answer": 42}))),
        Just(calls([
            ("submit", json!({"answer": 1})),
            ("search", json!({"query": "y"}))
        ])),
        Just(call("search", json!("{broken"))),
        Just(say("just talk")),
        Just(say("")),
        Just(say("{\"name\": \"sear").cut_off()),
        Just(say(r#"{"reasoning": "r", "answer": 7}"#)),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn promise_8_steps_and_repairs_are_bounded_and_end_in_an_answer_or_a_named_failure(
        replies in prop::collection::vec(reply(), 80),
        max_iterations in 0_u32..6,
        max_repairs in 0_u32..4,
    ) {
        let model = Arc::new(ScriptedModel::new(replies));
        model.abandon();
        let agent = ReAct::builder("question -> answer: int")
            .tools(search_and_add())
            .max_iterations(max_iterations)
            .max_repairs(max_repairs)
            .model(model.clone())
            .build().unwrap();
        let outcome = agent.call(values! { question: "q" }).blocking();
        let run = match &outcome {
            Ok(outcome) => outcome.run(),
            Err(error) => {
                prop_assert_eq!(error.kind(), ErrorKind::NoAnswer);
                error.run().expect("the run is kept")
            }
        };
        let steps = run.steps().len();
        prop_assert!(steps <= max_iterations as usize, "{} steps", steps);
        // Between two steps at most the repairs, and again as many for the extraction.
        let most = (max_iterations + 1) * (max_repairs + 1) + max_repairs + 1;
        prop_assert!(model.requests().len() <= most as usize, "{} requests", model.requests().len());
        prop_assert!(run.termination().is_some());
        if let Ok(outcome) = outcome {
            let done = outcome.finished().unwrap();
            prop_assert!(done.outputs["answer"].is_i64());
            prop_assert_eq!(done.success(), done.termination == TerminationReason::Success);
        }
    }
}
