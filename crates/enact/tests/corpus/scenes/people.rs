//! People in the loop: questions of every sort, and every answer to them.

use std::time::Duration;

use enact::{Decision, Run, values};
use serde_json::{Value, json};

use super::{ARROW, delete, pay, search, submit, tool};
use crate::player::{Player, agent, called};
use enact::run::Observation;
use enact::tool::Confirmation;

pub fn decisions() -> Run {
    let inputs = values! { question: "Tidy up." };
    let calls = called(
        "All at once.",
        [
            ("delete_file", r#"{"path": "a"}"#),
            ("delete_file", r#"{"path": "b"}"#),
            ("delete_file", r#"{"path": "c"}"#),
            ("delete_file", r#"{"path": "d"}"#),
            ("delete_file", r#"{"path": "e"}"#),
            ("search", r#"{"query": "f"}"#),
        ],
    );
    let edit = Decision::Edit {
        name: "search".to_owned(),
        args: values! { query: "what is d?" },
    };
    let reason = Decision::Reject(Some("b is mine".to_owned()));
    Player::begin(agent(
        "decisions",
        ARROW,
        "native",
        inputs,
        [delete(), search()],
    ))
    .model(calls)
    .runs("call_0_5", "f is small")
    .answers("call_0_1", reason)
    .answers("call_0_0", Decision::Approve)
    .runs("call_0_0", "deleted a")
    .answers("call_0_2", Decision::Reject(None))
    .answers("call_0_3", edit)
    .answers(
        "call_0_4",
        Decision::Feedback("ask again tomorrow".to_owned()),
    )
    .runs("call_0_3", Value::Null)
    .model(submit("partly"))
    .run()
}

pub fn allowed_for_good() -> Run {
    let inputs = values! { question: "Delete a, b and c." };
    let pair = called(
        "",
        [
            ("delete_file", r#"{"path": "a"}"#),
            ("delete_file", r#"{"path": "b"}"#),
        ],
    );
    Player::begin(agent(
        "allowed_for_good",
        ARROW,
        "native",
        inputs,
        [delete()],
    ))
    .model(pair)
    .answers("call_0_0", Decision::ApproveAlways)
    .start()
    .gives("call_0_0", Observation::value("deleted a"))
    .gives("call_0_1", Observation::value("deleted b"))
    .model(called("", [("delete_file", r#"{"path": "c"}"#)]))
    .runs("call_1_0", "deleted c")
    .model(submit("done"))
    .run()
}

pub fn withdrawn() -> Run {
    let inputs = values! { question: "Delete a, pay Bob." };
    let calls = called(
        "",
        [
            ("delete_file", r#"{"path": "a"}"#),
            ("pay", r#"{"amount": 250, "to": "Bob"}"#),
        ],
    );
    let edit = Decision::Edit {
        name: "pay".to_owned(),
        args: values! { amount: 25 },
    };
    Player::begin(agent(
        "withdrawn",
        ARROW,
        "native",
        inputs,
        [delete(), pay()],
    ))
    .model(calls)
    .wavers("call_0_0", Decision::ApproveAlways)
    .wavers("call_0_1", edit)
    .wavers("call_0_1", Decision::Reject(None))
    .answers("call_0_1", Decision::Approve)
    .runs("call_0_1", "paid")
    .answers("call_0_0", Decision::Reject(None))
    .model(called("", [("pay", r#"{"amount": 5}"#)]))
    .runs("call_1_0", "paid")
    .model(submit("paid"))
    .run()
}

pub fn clarified() -> Run {
    let inputs = values! { question: "Book a table." };
    let book = tool("book", "place", "string");
    Player::begin(agent("clarified", ARROW, "native", inputs, [book]))
        .model(called("", [("book", r#"{"place": "Chez Max"}"#)]))
        .start()
        .asks("call_0_0", "For how many?")
        .wavers("call_0_0", Decision::Answer("three".to_owned()))
        .answers("call_0_0", Decision::Answer("four".to_owned()))
        .start()
        .asks("call_0_0", "At what time?")
        .answers("call_0_0", Decision::Answer("at eight".to_owned()))
        .runs("call_0_0", "booked for four at eight")
        .model(called("", [("book", r#"{"place": "Next door"}"#)]))
        .start()
        .asks("call_1_0", "Really?")
        .answers("call_1_0", Decision::Reject(None))
        .model(submit("booked"))
        .run()
}

pub fn expired() -> Run {
    let inputs = values! { question: "Delete a." };
    let mut started = agent("expired", ARROW, "native", inputs, [delete()]);
    started.limits.answer_within = Some(Duration::from_secs(3_600));
    Player::begin(started)
        .model(called("", [("delete_file", r#"{"path": "a"}"#)]))
        .waits()
        .model(submit("nobody agreed"))
        .run()
}

pub fn in_doubt() -> Run {
    let inputs = values! { question: "Pay three times." };
    let three = called(
        "",
        [
            ("pay", r#"{"amount": 1}"#),
            ("pay", r#"{"amount": 2}"#),
            ("pay", r#"{"amount": 3}"#),
            ("search", r#"{"query": "rates"}"#),
        ],
    );
    let happened = Decision::Answer("paid, says the bank".to_owned());
    Player::begin(agent(
        "in_doubt",
        ARROW,
        "native",
        inputs,
        [pay(), search()],
    ))
    .model(three)
    .start()
    .crash()
    .runs("call_0_3", "rates")
    .answers("call_0_1", happened)
    .answers("call_0_0", Decision::Approve)
    .answers("call_0_2", Decision::Reject(None))
    .runs("call_0_0", "paid 1")
    .model(submit("paid 1 and 2"))
    .run()
}

pub fn unattended() -> Run {
    let inputs = values! { question: "Pay." };
    let mut started = agent("unattended", ARROW, "native", inputs, [pay()]);
    started.is_unattended = true;
    Player::begin(started)
        .model(called("", [("pay", r#"{"amount": 1}"#)]))
        .start()
        .crash()
        .model(submit("not known"))
        .run()
}

pub fn sealed() -> Run {
    let inputs = values! { question: "Why?" };
    let mut started = agent("sealed", ARROW, "native", inputs, [pay()]);
    started.seal = Some("5ea1".repeat(16));
    Player::begin(started).model(submit("because")).run()
}

/// Tools that become others while calls of them wait.
pub fn changed_under_approval() -> Run {
    let inputs = values! { question: "Delete a and b, pay Bob." };
    let of = |source: &str| {
        let mut spec = delete().with_source(source);
        // A rule from outside lets it run unasked.
        spec.own_confirmation = Some(Confirmation::Always);
        spec.with_confirmation(Confirmation::Never)
    };
    let calls = called(
        "",
        [
            ("delete_file", r#"{"path": "a"}"#),
            ("pay", r#"{"amount": 250, "to": "Bob"}"#),
        ],
    );
    let mut other = pay();
    other.parameters["required"] = json!(["amount", "reason"]);
    Player::begin(agent(
        "changed_under_approval",
        ARROW,
        "native",
        inputs,
        [delete().with_source("mcp:disk:0a1b2c3d"), pay()],
    ))
    .model(calls)
    // Asked about again before and after an answer, and closed where the call no longer fits.
    .tools([delete().with_source("mcp:disk:4e5f6071"), pay()])
    .answers("call_0_0", Decision::Approve)
    .tools([delete().with_source("mcp:disk:8899aabb"), other.clone()])
    .answers("call_0_0", Decision::ApproveAlways)
    .runs("call_0_0", "deleted a")
    .model(called("", [("delete_file", r#"{"path": "b"}"#)]))
    .runs("call_1_0", "deleted b")
    // No rule holds for a tool from elsewhere.
    .tools([of("mcp:disk:ccddeeff"), other])
    .model(called("", [("delete_file", r#"{"path": "c"}"#)]))
    .answers("call_2_0", Decision::Reject(None))
    .model(submit("a and b are gone"))
    .run()
}
