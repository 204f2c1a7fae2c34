//! Agents that go round in circles are warned, then ended; a change of course is progress.

use enact::TerminationReason::{MaxIterations, Stalled};
use serde_json::json;

use super::in_all_adapters;
use crate::scenario::{Scenario, acts, answers, looks, partial, scenario, submits, succeeds, uses};
use crate::tools::{constant, failing, named_search, search, set, write};

pub(super) fn scenarios() -> Vec<Scenario> {
    let mut all: Vec<Scenario> = in_all_adapters(|| {
        scenario("the same call again and again", partial(Stalled)).script([
            looks("oak"),
            looks("oak"),
            looks("oak"),
            looks("oak"),
            looks("oak"),
            answers(),
        ])
    })
    .collect();
    all.extend([
        scenario("the same words put differently", partial(Stalled)).script([
            looks("height of the oak tree"),
            looks("Height of the oak tree?"),
            looks("height of the  oak tree!"),
            looks("height of the oak tre"),
            looks("HEIGHT of the oak tree"),
            answers(),
        ]),
        scenario("other words, the same observation", partial(Stalled))
            .tools(|| set([constant("search")]))
            .script(
                [
                    "oak", "elm", "ash", "yew", "fir", "box", "may", "nut", "bay", "fig",
                ]
                .map(looks)
                .into_iter()
                .chain([answers()]),
            ),
        scenario("a search that finds nothing at first", succeeds("a tree"))
            .tools(|| set([constant("search")]))
            .script([
                looks("oak"),
                looks("elm"),
                looks("ash"),
                looks("yew"),
                submits("a tree"),
            ]),
        scenario("other tools, the same observation", partial(Stalled))
            .tools(|| set([constant("search"), constant("archive")]))
            .script([
                looks("oak"),
                uses("archive", "oak"),
                looks("oak"),
                uses("archive", "oak"),
                looks("oak"),
                uses("archive", "oak"),
                answers(),
            ]),
        scenario("the same two calls side by side", partial(Stalled)).script(
            std::iter::repeat_with(|| {
                let args = |query: &str| json!({"query": query});
                acts(
                    "Oak and elm once more.",
                    [("search", args("oak")), ("search", args("elm"))],
                )
            })
            .take(5)
            .chain([answers()]),
        ),
        scenario("the very same change again and again", partial(Stalled))
            .tools(|| set([write()]))
            .script(
                std::iter::repeat_with(|| uses("write", "oak"))
                    .take(5)
                    .chain([answers()]),
            ),
        scenario(
            "different changes with the same result are progress",
            succeeds("a tree"),
        )
        .tools(|| set([write()]))
        .script([
            uses("write", "oak"),
            uses("write", "elm"),
            uses("write", "ash"),
            uses("write", "yew"),
            uses("write", "fir"),
            submits("a tree"),
        ]),
        scenario("the warning is heeded with other words", succeeds("a tree")).script([
            looks("oak"),
            looks("oak"),
            looks("oak"),
            looks("oak"),
            looks("elm"),
            submits("a tree"),
        ]),
        scenario(
            "the warning is heeded with another tool",
            succeeds("a tree"),
        )
        .tools(|| set([search(), named_search("archive")]))
        .script([
            looks("oak"),
            looks("oak"),
            looks("oak"),
            looks("oak"),
            uses("archive", "the oak of the archive"),
            submits("a tree"),
        ]),
        scenario("the warning is heeded with the answer", succeeds("a tree")).script([
            looks("oak"),
            looks("oak"),
            looks("oak"),
            looks("oak"),
            submits("a tree"),
        ]),
        scenario("the warning is heeded, then forgotten", partial(Stalled)).script([
            looks("oak"),
            looks("oak"),
            looks("oak"),
            looks("oak"),
            looks("elm"),
            looks("oak"),
            looks("oak"),
            looks("oak"),
            looks("oak"),
            answers(),
        ]),
        scenario("pages of a list are no circle", succeeds("a tree")).script([
            looks("trees, page 1"),
            looks("trees, page 2"),
            looks("trees, page 3"),
            looks("trees, page 4"),
            looks("trees, page 5"),
            submits("a tree"),
        ]),
        scenario(
            "different calls that fail in different words are no circle",
            partial(MaxIterations).does_not_recover_from(5),
        )
        .tools(|| set([failing("search")]))
        .setup(|agent| agent.max_iterations(5))
        .script([
            looks("oak"),
            looks("elm"),
            looks("ash"),
            looks("yew"),
            looks("fir"),
            answers(),
        ]),
        scenario("a threshold of two", partial(Stalled))
            .setup(|agent| agent.limits(|limits| limits.stall_threshold = 2))
            .script([
                looks("oak"),
                looks("oak"),
                looks("oak"),
                looks("oak"),
                answers(),
            ]),
        scenario("nobody looks for circles", partial(MaxIterations))
            .setup(|agent| {
                agent.limits(|limits| {
                    limits.stall_threshold = 0;
                    limits.max_iterations = 6;
                })
            })
            .script(
                std::iter::repeat_with(|| looks("oak"))
                    .take(6)
                    .chain([answers()]),
            ),
    ]);
    all
}
