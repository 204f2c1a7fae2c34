//! Questions to people: agreed to, declined, answered in words, not answered at all.

use std::time::Duration;

use enact::TerminationReason::MaxIterations;
use enact::{Decision, ErrorKind, ReAct, values};
use serde_json::json;

use super::in_all_adapters;
use crate::scenario::Person::{Decides, Leaves, Says};
use crate::scenario::{
    Scenario, acts, answers, looks, partial, scenario, stays_open, submits, succeeds, uses, waits,
};
use crate::tools::{asking, failing, search, set, write};

fn asks() -> enact::Tools {
    set([write().require_confirmation(), search()])
}

fn writes() -> [crate::scenario::Turn; 2] {
    [uses("write", "oak"), submits("a tree")]
}

pub(super) fn scenarios() -> Vec<Scenario> {
    let mut all: Vec<Scenario> = in_all_adapters(|| {
        scenario("a person declines", succeeds("a tree"))
            .tools(asks)
            .script(writes())
            .people([Says("no")])
    })
    .collect();
    all.extend(answered());
    all.extend(unanswered());
    all
}

fn answered() -> Vec<Scenario> {
    let plain = |name: &str| {
        scenario(name, succeeds("a tree"))
            .tools(asks)
            .script(writes())
    };
    vec![
        plain("a person agrees").people([Says("yes")]),
        plain("a person declines with a reason")
            .people([Decides(Decision::Reject(Some("not today".to_owned())))]),
        plain("a person says something that is no yes").people([Says("sure, why not")]),
        plain("a person changes the arguments").people([Decides(Decision::Edit {
            name: "write".to_owned(),
            args: values! { query: "elm" },
        })]),
        plain("a person puts another tool in its place").people([Decides(Decision::Edit {
            name: "search".to_owned(),
            args: values! { query: "oak" },
        })]),
        scenario(
            "a person changes the arguments to some that do not fit",
            stays_open(ErrorKind::Answer),
        )
        .tools(asks)
        .script([uses("write", "oak")])
        .people([Decides(Decision::Edit {
            name: "write".to_owned(),
            args: values! { words: 3 },
        })]),
        scenario("a person agrees once and for all", succeeds("a tree"))
            .tools(asks)
            .script([
                uses("write", "oak"),
                uses("write", "elm"),
                submits("a tree"),
            ])
            .people([Decides(Decision::ApproveAlways)]),
        scenario(
            "one of two calls is declined, the other one runs",
            succeeds("a tree"),
        )
        .tools(asks)
        .script([
            acts(
                "Both at once.",
                [
                    ("write", json!({"query": "oak"})),
                    ("write", json!({"query": "elm"})),
                    ("search", json!({"query": "ash"})),
                ],
            ),
            submits("a tree"),
        ])
        .people([Says("no"), Says("yes")]),
        scenario(
            "a call that was agreed to fails",
            succeeds("a tree").recovers_from(1),
        )
        .tools(|| set([failing("write").require_confirmation(), search()]))
        .script([uses("write", "oak"), looks("oak"), submits("a tree")])
        .people([Says("yes")]),
        scenario(
            "a person declines until the steps are used up",
            partial(MaxIterations),
        )
        .tools(asks)
        .setup(|agent: ReAct| agent.with_max_iterations(2))
        .script([uses("write", "oak"), uses("write", "elm"), answers()])
        .people([Says("no"), Says("no")]),
        scenario("a tool asks, and is answered", succeeds("a tree"))
            .tools(|| set([asking("search")]))
            .script([looks("oak"), submits("a tree")])
            .people([Says("the old one")]),
        scenario("a tool asks, and the person declines", succeeds("a tree"))
            .tools(|| set([asking("search")]))
            .script([looks("oak"), submits("a tree")])
            .people([Decides(Decision::Reject(None))]),
    ]
}

fn unanswered() -> Vec<Scenario> {
    vec![
        scenario("nobody answers", waits())
            .tools(asks)
            .script([uses("write", "oak")])
            .people([Leaves]),
        scenario("nobody answers a tool", waits())
            .tools(|| set([asking("search")]))
            .script([looks("oak")])
            .people([Leaves]),
        scenario("nobody answers one of two", waits())
            .tools(asks)
            .script([acts(
                "Both at once.",
                [
                    ("write", json!({"query": "oak"})),
                    ("write", json!({"query": "elm"})),
                ],
            )])
            .people([Says("yes"), Leaves]),
        scenario("nobody answers in time, which is a no", succeeds("a tree"))
            .tools(asks)
            .setup(|agent| agent.with_limits(|limits| limits.answer_within = Some(Duration::ZERO)))
            .script(writes()),
    ]
}
