//! Prompts that no longer fit, and the ways in which a run stops.

use std::collections::BTreeMap;
use std::time::Duration;

use enact::model::{ModelErrorKind, Price, Reply, Usage};
use enact::run::{Observation, Parent, PredictorName, ThoughtRules, ThoughtsInContext};
use enact::{Run, TerminationReason, values};
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

fn partial() -> Reply {
    said(r#"{"reasoning": "It is what there is.", "answer": "partial"}"#)
}

fn look(query: &str) -> Reply {
    called("On.", [("search", &*json!({"query": query}).to_string())])
}

/// A model that submits when it is told that no steps are left.
pub fn submitted_at_last() -> Run {
    let inputs = values! { question: "q" };
    let mut started = agent("submitted_at_last", ARROW, "native", inputs, [search()]);
    started.limits.max_iterations = 1;
    Player::begin(started)
        .model(look("x"))
        .runs("call_0_0", "about x")
        .model(called(
            "It is all I have.",
            [("submit", r#"{"answer": "x"}"#)],
        ))
        .run()
}

/// Different questions that all have the same answer.
pub fn searched() -> Run {
    let inputs = values! { question: "q" };
    let mut player = Player::begin(agent("searched", ARROW, "native", inputs, [search()]));
    for (number, word) in ["oak", "elm", "ash", "fir"].into_iter().enumerate() {
        let call = format!("call_{number}_0");
        player = player.model(look(word)).runs(&call, "nothing");
    }
    player.model(partial()).run()
}

/// The same call again and again: answered from the record, warned of, ended.
pub fn stalled() -> Run {
    let inputs = values! { question: "q" };
    let mut player = Player::begin(agent("stalled", ARROW, "native", inputs, [search()]))
        .model(look("x"))
        .runs("call_0_0", "about x");
    for _ in 0..4 {
        player = player.model(look("x"));
    }
    player.model(partial()).run()
}

/// Limits of every sort, one of which is reached.
pub fn limited() -> Run {
    let inputs = values! { question: "q" };
    let mut started = agent("limited", ARROW, "native", inputs, [search().volatile()]);
    started.limits.max_tool_calls = Some(2);
    started.limits.token_budget = Some(100_000);
    started.limits.cost_budget = Some(1.0);
    started.limits.time_budget = Some(Duration::from_secs(600));
    let price = Price {
        input: 2.5,
        cached_input: Some(1.25),
        output: 10.0,
    };
    started.agent.prices = at(price);
    Player::begin(started)
        .model(look("x"))
        .runs("call_0_0", "about x")
        .model(look("x"))
        .runs("call_1_0", "about x, later")
        .model(partial())
        .run()
}

/// A model says how the task stands, and what a long observation says.
pub fn judged() -> Run {
    let inputs = values! { question: "q" };
    let mut started = agent("judged", ARROW, "json", inputs, [search()]);
    started.rules.judges = true;
    started.rules.condenses = true;
    started.limits.max_observation_tokens = 5;
    started.limits.stall_threshold = 5;
    let step = |query: &str| {
        let args = json!({"query": query});
        let step =
            json!({"next_thought": "On.", "next_tool_name": "search", "next_tool_args": args});
        said(&step.to_string())
    };
    let stands = |standing: &str| said(&json!({"why": "w", "standing": standing}).to_string());
    Player::begin(started)
        .model(step("one"))
        .runs(
            "call_0_0",
            "a long text about one, longer than may be shown",
        )
        .model(said(r#"{"summary": "about one"}"#))
        .model(stands("open"))
        .model(step("two"))
        .runs(
            "call_1_0",
            "a long text about two, longer than may be shown",
        )
        .model(said(" "))
        .model(stands("perhaps"))
        .model(step("three"))
        .runs("call_2_0", "short")
        .model(stands("done"))
        .model(said(r#"{"reasoning": "r", "answer": "one, two, three"}"#))
        .run()
}

/// The same, for a task that nobody can do.
pub fn hopeless() -> Run {
    let inputs = values! { question: "q" };
    let mut started = agent("hopeless", ARROW, "native", inputs, [search()]);
    started.rules.judges = true;
    Player::begin(started)
        .model(look("x"))
        .runs("call_0_0", "nothing")
        .model(said(
            r#"{"why": "There is no such thing.", "standing": "impossible"}"#,
        ))
        .model(partial())
        .run()
}

/// Everything runs out, and the model repeats a call that failed.
pub fn warned() -> Run {
    let inputs = values! { question: "q" };
    let mut started = agent("warned", ARROW, "native", inputs, [search()]);
    started.limits.max_iterations = 3;
    started.limits.token_budget = Some(9_000);
    started.limits.cost_budget = Some(0.9);
    started.limits.time_budget = Some(Duration::from_secs(2));
    let price = Price {
        input: 100.0,
        cached_input: None,
        output: 100.0,
    };
    started.agent.prices = at(price);
    let mut costly = look("x");
    costly.usage = Usage::of_request(400, 5_900);
    Player::begin(started)
        .model(look("x"))
        .start()
        .gives(
            "call_0_0",
            Observation::error("Error executing search: no network"),
        )
        .model(costly)
        .start()
        .gives(
            "call_1_0",
            Observation::error("Error executing search: no network"),
        )
        .model(submit("It cannot be found out."))
        .run()
}

fn at(price: Price) -> BTreeMap<PredictorName, Price> {
    let names = [
        PredictorName::Step,
        PredictorName::Extract,
        PredictorName::Summarise,
    ];
    names.into_iter().map(|name| (name, price)).collect()
}

pub fn out_of_money() -> Run {
    let inputs = values! { question: "q" };
    let mut started = agent("out_of_money", ARROW, "native", inputs, [search()]);
    started.limits.cost_budget = Some(0.5);
    let price = Price {
        input: 200.0,
        cached_input: None,
        output: 200.0,
    };
    started.agent.prices = at(price);
    let mut costly = look("x");
    costly.usage = Usage::of_request(900, 100);
    Player::begin(started)
        .model(costly)
        .runs("call_0_0", "about x")
        .model(partial())
        .run()
}

/// A condition of the user's, with rules, in the run of an agent that another one called.
pub fn conditioned() -> Run {
    let inputs = values! { question: "q" };
    let mut started = agent("conditioned", ARROW, "native", inputs, [search()]);
    started.rules.success_phrases = vec!["I have it".to_owned()];
    started.rules.failure_phrases = vec!["hopeless".to_owned()];
    started.rules.reads_again = true;
    started.rules.thoughts = ThoughtRules {
        required: true,
        min_length: 3,
        substantive: false,
        new: false,
    };
    started.rules.thoughts_in_context = ThoughtsInContext::Last(2);
    started.parent = Some(Parent {
        run_id: "outer".to_owned(),
        call_id: "call_0_0".to_owned(),
        depth: 1,
    });
    Player::begin(started)
        .model(called("", [("search", r#"{"query": "x"}"#)]))
        .model(look("x"))
        .spends("call_0_0", "about x")
        .condition(false)
        .model(look("y"))
        .runs("call_1_0", "about y")
        .condition(true)
        .model(partial())
        .run()
}

pub fn timed_out() -> Run {
    let inputs = values! { question: "q" };
    let mut started = agent("timed_out", ARROW, "native", inputs, [search()]);
    started.limits.time_budget = Some(Duration::from_secs(60));
    Player::begin(started)
        .model(look("x"))
        .runs("call_0_0", "about x")
        .ends(TerminationReason::Timeout)
        .model(partial())
        .run()
}
