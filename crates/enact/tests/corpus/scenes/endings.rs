//! Prompts that no longer fit, and the ways in which a run stops.

use std::time::Duration;

use enact::model::ModelErrorKind;
use enact::{Run, values};
use serde_json::json;

use super::{ARROW, delete, pay, search, submit};
use crate::player::{Player, agent, called, said};

pub fn summarised() -> Run {
    let inputs = values! { question: "Look at four." };
    let look = |query: &str| called("On.", [("search", &*json!({"query": query}).to_string())]);
    Player::begin(agent("summarised", ARROW, "native", inputs, [search()]))
        .model(look("one"))
        .runs("call_0_0", "about one")
        .model(look("two"))
        .runs("call_1_0", "about two")
        .model(look("three"))
        .runs("call_2_0", "about three")
        .model_fails(ModelErrorKind::ContextLength)
        .model(said(" "))
        .model(said("One was looked at."))
        .model(look("four"))
        .runs("call_3_0", "about four")
        .model(submit("all four"))
        .run()
}

pub fn gave_up() -> Run {
    let inputs = values! { question: "q" };
    let mut started = agent("gave_up", ARROW, "native", inputs, [search()]);
    started.limits.max_repairs = 0;
    Player::begin(started)
        .model(called("", [("nothing", "{}")]))
        .model(said(
            r#"{"reasoning": "Nothing is known.", "answer": "unknown"}"#,
        ))
        .run()
}

pub fn failed() -> Run {
    let inputs = values! { question: "q" };
    let mut started = agent("failed", "question -> answer: int", "json", inputs, []);
    started.limits.max_iterations = 0;
    started.limits.max_repairs = 1;
    Player::begin(started)
        .model(said("seven"))
        .model(said("seven, as I said"))
        .run()
}

pub fn too_long() -> Run {
    let inputs = values! { question: "q" };
    let mut player = Player::begin(agent("too_long", ARROW, "native", inputs, [search()]))
        .model(called("", [("search", r#"{"query": "x"}"#)]))
        .runs("call_0_0", "a book");
    for _ in 0..5 {
        player = player.model_fails(ModelErrorKind::ContextLength);
    }
    player.run()
}

pub fn cancelled() -> Run {
    let inputs = values! { question: "Delete a." };
    Player::begin(agent("cancelled", ARROW, "native", inputs, [delete()]))
        .model(called("", [("delete_file", r#"{"path": "a"}"#)]))
        .cancel()
        .run()
}

pub fn paused() -> Run {
    let inputs = values! { question: "Delete a and b, and look at c." };
    let calls = called(
        "",
        [
            ("delete_file", r#"{"path": "a"}"#),
            ("delete_file", r#"{"path": "b"}"#),
            ("search", r#"{"query": "c"}"#),
        ],
    );
    let mut started = agent("paused", ARROW, "native", inputs, [delete(), search()]);
    started.limits.answer_within = Some(Duration::from_secs(3_600));
    Player::begin(started)
        .model(calls)
        .runs("call_0_2", "about c")
        .run()
}

pub fn interrupted() -> Run {
    let inputs = values! { question: "Pay, and look." };
    let calls = called(
        "",
        [("pay", r#"{"amount": 1}"#), ("search", r#"{"query": "c"}"#)],
    );
    Player::begin(agent(
        "interrupted",
        ARROW,
        "native",
        inputs,
        [pay(), search()],
    ))
    .model(calls)
    .start()
    .run()
}

pub fn model_failures() -> Run {
    use ModelErrorKind::*;
    let inputs = values! { question: "q" };
    let mut player = Player::begin(agent("model_failures", ARROW, "native", inputs, [search()]));
    for kind in [
        Authentication,
        NotFound,
        RateLimit,
        Server,
        Connection,
        Timeout,
        ContentFilter,
        InvalidRequest,
        Protocol,
    ] {
        player = player.model_fails(kind).crash();
    }
    player.run()
}
