//! Limits end in an answer, and say so.

use std::time::Duration;

use enact::TerminationReason::{
    CostBudget, MaxIterations, Success, Timeout, TokenBudget, ToolCallBudget,
};
use enact::model::{Price, Prices};
use enact::run::Limits;
use enact::{Builder, Completion, ErrorKind, ReAct};
use serde_json::json;

use super::in_all_adapters;
use crate::scenario::{
    Expect, Scenario, acts, answers, fails, looks, partial, scenario, submits, succeeds,
};
use crate::tools::{search, set, slow};

fn limited(change: fn(&mut Limits)) -> impl Fn(Builder<ReAct>) -> Builder<ReAct> {
    move |agent| agent.limits(change)
}

/// A thousandth for each token.
fn priced(agent: Builder<ReAct>) -> Builder<ReAct> {
    let price = Price {
        input: 1_000.0,
        cached_input: None,
        output: 1_000.0,
    };
    agent.prices(Prices::new().with("scripted", price))
}

pub(super) fn scenarios() -> Vec<Scenario> {
    let mut all = counted();
    all.extend(budgets());
    all.extend(timed());
    all
}

fn counted() -> Vec<Scenario> {
    let mut all: Vec<Scenario> = in_all_adapters(|| {
        scenario("the steps are used up", partial(MaxIterations))
            .setup(limited(|limits| limits.max_iterations = 2))
            .script([looks("oak"), looks("elm"), answers()])
    })
    .collect();
    all.extend(in_all_adapters(|| {
        scenario("the tool calls are used up", partial(ToolCallBudget))
            .setup(limited(|limits| limits.max_tool_calls = Some(2)))
            .script([looks("oak"), looks("elm"), answers()])
    }));
    all.extend([
        scenario("ten steps unless set", partial(MaxIterations)).script(
            (0..10)
                .map(|number| looks(&format!("tree {number}")))
                .chain([answers()]),
        ),
        scenario("no step is allowed", partial(MaxIterations))
            .setup(limited(|limits| limits.max_iterations = 0))
            .script([answers()]),
        scenario("the answer comes with the last step", succeeds("a tree"))
            .setup(limited(|limits| limits.max_iterations = 2))
            .script([looks("oak"), submits("a tree")]),
        scenario(
            "more calls at once than are left",
            partial(ToolCallBudget).does_not_recover_from(1),
        )
        .setup(limited(|limits| limits.max_tool_calls = Some(2)))
        .script([
            acts(
                "Three searches at once.",
                [
                    ("search", json!({"query": "oak"})),
                    ("search", json!({"query": "elm"})),
                    ("search", json!({"query": "ash"})),
                ],
            ),
            answers(),
        ]),
        scenario(
            "the agent says that it is finished, and the answer is extracted",
            Expect {
                reason: Some(Success),
                success: true,
                ..partial(Success)
            },
        )
        .setup(|agent| agent.completion(Completion::Finish))
        .script([
            looks("oak"),
            acts("That is all.", [("finish", json!({}))]),
            answers(),
        ]),
    ]);
    all
}

fn budgets() -> Vec<Scenario> {
    let costly = |query: &str| looks(query).costing(10_000, 1_000);
    let mut all: Vec<Scenario> = in_all_adapters(|| {
        scenario("the tokens are used up", partial(TokenBudget))
            .setup(limited(|limits| limits.token_budget = Some(40_000)))
            .script([
                costly("oak"),
                costly("elm"),
                answers().costing(10_000, 1_000),
            ])
    })
    .collect();
    all.extend(in_all_adapters(|| {
        scenario("the money is used up", partial(CostBudget))
            .setup(|agent| priced(limited(|limits| limits.cost_budget = Some(40.0))(agent)))
            .script([
                costly("oak"),
                costly("elm"),
                answers().costing(10_000, 1_000),
            ])
    }));
    all.extend([
        scenario("the tokens suffice", succeeds("a tree"))
            .setup(limited(|limits| limits.token_budget = Some(40_000)))
            .script([looks("oak"), looks("elm"), submits("a tree")]),
        scenario(
            "the tokens do not suffice for one request",
            fails(TokenBudget, ErrorKind::NoAnswer),
        )
        .setup(limited(|limits| limits.token_budget = Some(100))),
        scenario(
            "the money does not suffice for one request",
            fails(CostBudget, ErrorKind::NoAnswer),
        )
        .setup(|agent| priced(limited(|limits| limits.cost_budget = Some(0.1))(agent))),
    ]);
    all
}

fn timed() -> Vec<Scenario> {
    let ten_seconds = || limited(|limits| limits.time_budget = Some(Duration::from_secs(10)));
    let mut all: Vec<Scenario> = in_all_adapters(move || {
        scenario(
            "a tool takes longer than the run may",
            partial(Timeout).does_not_recover_from(1),
        )
        .tools(|| set([slow("search", Duration::from_secs(3_600))]))
        .setup(ten_seconds())
        .script([looks("oak"), answers()])
    })
    .collect();
    all.extend([
        scenario("the model takes longer than the run may", partial(Timeout))
            .setup(ten_seconds())
            .script([looks("oak"), looks("elm").taking(60), answers()]),
        scenario("the steps together take too long", partial(Timeout))
            .setup(ten_seconds())
            .script([
                looks("oak").taking(3),
                looks("elm").taking(3),
                looks("ash").taking(3),
                answers(),
            ]),
        scenario(
            "the model takes too long while answering, too",
            fails(Timeout, ErrorKind::NoAnswer),
        )
        .setup(ten_seconds())
        .script([looks("oak").taking(60), answers().taking(60)]),
        scenario("slow, and in time", succeeds("a tree"))
            .tools(|| set([slow("archive", Duration::from_secs(1)), search()]))
            .setup(ten_seconds())
            .script([looks("oak").taking(3), submits("a tree").taking(3)]),
    ]);
    all
}
