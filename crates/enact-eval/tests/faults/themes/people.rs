//! Questions to people: agreed to, declined, answered in words, not answered at all.

use std::time::Duration;

use enact::TerminationReason::MaxIterations;
use enact::{Decision, ErrorKind, values};
use serde_json::json;

use super::in_all_adapters;
use crate::scenario::Person::{self, Decides, Leaves, Says};
use crate::scenario::{
    Scenario, Turn, acts, answers, looks, partial, scenario, stays_open, submits, succeeds, uses,
    waits,
};
use crate::tools::{asking, failing, search, set, write};

const DECLINED: &str = "The user declined this call";

/// An agent that may write only if a person agrees.
fn asks() -> enact::Tools {
    set([write().require_confirmation(), search()])
}

fn writes() -> [Turn; 2] {
    [uses("write", "oak"), submits("a tree")]
}

pub(super) fn scenarios() -> Vec<Scenario> {
    let mut all: Vec<Scenario> = in_all_adapters(|| {
        scenario(
            "a person declines",
            succeeds("a tree").observing([DECLINED]),
        )
        .tools(asks)
        .script(writes())
        .people([Says("no")])
    })
    .collect();
    all.extend(about_one_call());
    all.extend(about_more());
    all.extend(unanswered());
    all
}

fn about_one_call() -> Vec<Scenario> {
    let decided = |name: &str, person: Person, observation: &'static str| {
        scenario(name, succeeds("a tree").observing([observation]))
            .tools(asks)
            .script(writes())
            .people([person])
    };
    let edit = |name: &str| Decision::Edit {
        name: name.to_owned(),
        args: values! { query: "elm" },
    };
    vec![
        decided("a person agrees", Says("yes"), "written oak"),
        decided(
            "a person declines with a reason",
            Decides(Decision::Reject(Some("not today".to_owned()))),
            "declined this call: not today",
        ),
        decided(
            "a person says something that is no yes",
            Says("sure, why not"),
            "User feedback: sure, why not",
        ),
        decided(
            "a person changes the arguments",
            Decides(edit("write")),
            "written elm",
        ),
        decided(
            "a person puts another tool in its place",
            Decides(edit("search")),
            "about elm",
        ),
        scenario(
            "a person changes the arguments to some that do not fit",
            stays_open(ErrorKind::Answer).observing(["none"]),
        )
        .tools(asks)
        .script([uses("write", "oak")])
        .people([Decides(Decision::Edit {
            name: "write".to_owned(),
            args: values! { words: 3 },
        })]),
        scenario(
            "a call that was agreed to fails",
            succeeds("a tree").recovers_from(1),
        )
        .tools(|| set([failing("write").require_confirmation(), search()]))
        .script([uses("write", "oak"), looks("oak"), submits("a tree")])
        .people([Says("yes")]),
        scenario(
            "a tool asks, and is answered",
            succeeds("a tree").observing(["about the old oak"]),
        )
        .tools(|| set([asking("search")]))
        .script([looks("oak"), submits("a tree")])
        .people([Says("the old")]),
        scenario(
            "a tool asks, and the person declines",
            succeeds("a tree").observing(["The user declined to answer"]),
        )
        .tools(|| set([asking("search")]))
        .script([looks("oak"), submits("a tree")])
        .people([Decides(Decision::Reject(None))]),
    ]
}

fn about_more() -> Vec<Scenario> {
    vec![
        scenario(
            "a person agrees once and for all",
            succeeds("a tree").observing(["written oak", "written elm"]),
        )
        .tools(asks)
        .script([
            uses("write", "oak"),
            uses("write", "elm"),
            submits("a tree"),
        ])
        .people([Decides(Decision::ApproveAlways)]),
        scenario(
            "one of two calls is declined, the others run",
            succeeds("a tree").observing([DECLINED, "written elm", "about ash"]),
        )
        .tools(asks)
        .script([
            acts(
                "All at once.",
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
            "a person agrees once, and the same call is asked about again",
            succeeds("a tree").observing(["written oak", DECLINED]),
        )
        .tools(asks)
        .script([
            uses("write", "oak"),
            uses("write", "oak"),
            submits("a tree"),
        ])
        .people([Says("yes"), Says("no")]),
        scenario(
            "a person declines until the steps are used up",
            partial(MaxIterations).observing([DECLINED, DECLINED]),
        )
        .tools(asks)
        .setup(|agent| agent.max_iterations(2))
        .script([uses("write", "oak"), uses("write", "elm"), answers()])
        .people([Says("no"), Says("no")]),
    ]
}

fn unanswered() -> Vec<Scenario> {
    vec![
        scenario("nobody answers", waits().observing(["none"]))
            .tools(asks)
            .script([uses("write", "oak")])
            .people([Leaves]),
        scenario("nobody answers a tool", waits().observing(["none"]))
            .tools(|| set([asking("search")]))
            .script([looks("oak")])
            .people([Leaves]),
        scenario(
            "nobody answers about one of two",
            waits().observing(["written oak", "none"]),
        )
        .tools(asks)
        .script([acts(
            "Both at once.",
            [
                ("write", json!({"query": "oak"})),
                ("write", json!({"query": "elm"})),
            ],
        )])
        .people([Says("yes"), Leaves]),
        scenario(
            "nobody answers in time, which is a no",
            succeeds("a tree").observing(["Nobody agreed to this call in time"]),
        )
        .tools(asks)
        .setup(|agent| agent.limits(|limits| limits.answer_within = Some(Duration::ZERO)))
        .script(writes()),
    ]
}
