//! Observations that are too large for a prompt: the model sees head and tail, the log has all.

use enact::model::call;
use enact::tool::builtin::read_observation;
use enact::{FnTool, Tools, values};
use serde_json::{Value, json};

use super::{Played, agent};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Nothing {}

fn giving(value: Value) -> FnTool {
    FnTool::new("look", "Looks.", move |_: Nothing, _| {
        let value = value.clone();
        async move { Ok(value) }
    })
    .read_only()
}

fn done() -> enact::model::ScriptStep {
    call("submit", json!({"answer": "a"}))
}

/// What the model was shown last.
fn shown(played: &Played) -> String {
    let requests = played.model.requests();
    let last = requests.last().unwrap();
    last.prompt.iter().last().unwrap().text()
}

fn long() -> String {
    format!("begin {} end", "many words ".repeat(5_000))
}

#[tokio::test]
async fn promise_4_a_large_observation_is_shortened_in_the_prompt_and_whole_in_the_log() {
    let played = agent(
        "question -> answer",
        Tools::new().with(giving(long().into())),
        [call("look", json!({})), done()],
    );
    let run = played.call(values! { question: "q" }).await;
    assert_eq!(run.trajectory().steps()[0].observation, long());
    let seen = shown(&played);
    // 2000 tokens unless set.
    assert!((7_000..9_000).contains(&seen.len()), "{}", seen.len());
    assert!(seen.starts_with("begin") && seen.ends_with("end"), "{seen}");
    assert!(seen.contains("characters left out …"), "{seen}");
}

#[tokio::test]
async fn what_is_shown_of_a_structure_is_the_structure() {
    let rows: Vec<Value> = (0..5_000).map(|n| json!({"row": n})).collect();
    for tokens in [50, 500] {
        let played = agent(
            "question -> answer",
            Tools::new().with(giving(json!({"count": 5_000, "rows": rows}))),
            [call("look", json!({})), done()],
        )
        .map(|agent| agent.limits(|limits| limits.max_observation_tokens = tokens));
        played.call(values! { question: "q" }).await;
        let seen: Value = serde_json::from_str(&shown(&played)).unwrap();
        assert_eq!(seen["count"], 5_000);
        assert_eq!(seen["rows"][0]["row"], 0);
    }
}

#[tokio::test]
async fn a_limit_of_zero_shows_all() {
    let played = agent(
        "question -> answer",
        Tools::new().with(giving(long().into())),
        [call("look", json!({})), done()],
    )
    .map(|agent| agent.limits(|limits| limits.max_observation_tokens = 0));
    played.call(values! { question: "q" }).await;
    assert_eq!(shown(&played), long());
}

#[tokio::test]
async fn the_agent_can_read_on_where_an_observation_was_cut() {
    let played = agent(
        "question -> answer",
        Tools::new()
            .with(giving(long().into()))
            .with(read_observation()),
        [
            call("look", json!({})).with_ids(["call_7"]),
            call(
                "read_observation",
                json!({"call_id": "call_7", "from": 20_000, "length": 50}),
            ),
            call("read_observation", json!({"call_id": "nope"})),
            done(),
        ],
    );
    let run = played.call(values! { question: "q" }).await;
    let requests = played.model.requests();
    let cut = requests[1].prompt.iter().last().unwrap().text();
    assert!(
        cut.contains(r#"read_observation with call_id "call_7" shows them"#),
        "{cut}"
    );
    let steps = run.trajectory();
    let page = &steps.steps()[1].observation;
    let expected: String = long().chars().skip(20_000).take(50).collect();
    assert_eq!(page["text"], expected);
    assert_eq!(page["of"], long().chars().count());
    assert!(steps.steps()[2].is_error);
}
