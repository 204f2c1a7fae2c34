//! Thoughts that are missing or worth nothing: asked for again, and taken in the end.

use enact::TerminationReason::{Failure, MaxIterations};
use enact::run::ThoughtRules;
use enact::{Builder, ReAct};

use super::in_all_adapters;
use crate::scenario::{Scenario, answers, looks, partial, says, scenario, submits, succeeds};

fn strict(agent: Builder<ReAct>) -> Builder<ReAct> {
    agent.rules(|rules| {
        rules.thoughts = ThoughtRules {
            required: true,
            min_length: 10,
            substantive: true,
            new: true,
        }
    })
}

pub(super) fn scenarios() -> Vec<Scenario> {
    let poor = || looks("oak").thinking("I will use the tool.");
    let mut all: Vec<Scenario> = in_all_adapters(move || {
        scenario("a poor thought is mended", succeeds("a tree"))
            .setup(strict)
            .script([poor(), looks("oak"), submits("a tree")])
    })
    .collect();
    all.extend(in_all_adapters(move || {
        scenario("a poor thought for ever has to do", succeeds("a tree"))
            .setup(strict)
            .script([poor(), poor(), poor(), poor(), submits("a tree")])
    }));
    all.extend([
        scenario("a thought that is missing", succeeds("a tree"))
            .setup(strict)
            .script([looks("oak").thinking(""), looks("oak"), submits("a tree")]),
        scenario("a thought that is too short", succeeds("a tree"))
            .setup(strict)
            .script([
                looks("oak").thinking("Oak."),
                looks("oak"),
                submits("a tree"),
            ]),
        scenario("the same thought again", succeeds("a tree"))
            .setup(strict)
            .script([
                looks("oak").thinking("The oak comes first."),
                looks("elm").thinking("the oak comes first!"),
                looks("elm").thinking("The elm comes second."),
                submits("a tree"),
            ]),
        scenario(
            "poor thoughts until the steps are used up",
            partial(MaxIterations),
        )
        .setup(|agent| strict(agent).max_iterations(1))
        .script([poor(), poor(), poor(), poor(), answers()]),
        scenario(
            "poor thoughts, then nothing that can be read",
            partial(Failure),
        )
        .setup(strict)
        .script([poor(), poor(), poor(), says("").cut_off(), answers()]),
    ]);
    all
}
