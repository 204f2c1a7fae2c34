//! Tools fail: with an error, a panic, no answer; once or for ever; alone or side by side.

use std::time::Duration;

use enact::TerminationReason::{Failure, MaxIterations, Stalled};
use serde_json::json;

use super::in_all_adapters;
use crate::scenario::{Scenario, acts, answers, looks, partial, scenario, submits, succeeds, uses};
use crate::tools::{
    failing, flaky, named_search, panicking, picky, search, set, slow, spending, stuck, write,
};

pub(super) fn scenarios() -> Vec<Scenario> {
    let mut all = recovering();
    all.extend(lost());
    all.extend(side_by_side());
    all
}

fn recovering() -> Vec<Scenario> {
    let mut all: Vec<Scenario> = in_all_adapters(|| {
        scenario(
            "a tool fails, another one helps",
            succeeds("a tree").recovers_from(1),
        )
        .tools(|| set([failing("archive"), search()]))
        .script([uses("archive", "oak"), looks("oak"), submits("a tree")])
    })
    .collect();
    all.extend([
        scenario(
            "a tool fails, and works when it is called again",
            succeeds("a tree").recovers_from(1),
        )
        .tools(|| set([flaky("search", 1)]))
        .script([looks("oak"), looks("oak"), submits("a tree")]),
        scenario(
            "a tool fails twice, and works at the third call",
            succeeds("a tree").recovers_from(2),
        )
        .tools(|| set([flaky("search", 2)]))
        .script([looks("oak"), looks("oak"), looks("oak"), submits("a tree")]),
        scenario(
            "a tool fails, and works with other arguments",
            succeeds("a tree").recovers_from(1),
        )
        .tools(|| set([picky("search", "oak tree")]))
        .script([looks("oak"), looks("oak tree"), submits("a tree")]),
        scenario(
            "a tool panics, another one helps",
            succeeds("a tree").recovers_from(1),
        )
        .tools(|| set([panicking("archive"), search()]))
        .script([uses("archive", "oak"), looks("oak"), submits("a tree")]),
        scenario(
            "a tool gives nothing in time, another one helps",
            succeeds("a tree").recovers_from(1),
        )
        .tools(|| set([stuck("archive"), search()]))
        .script([uses("archive", "oak"), looks("oak"), submits("a tree")]),
        scenario(
            "a tool that changes things fails, and the agent writes elsewhere",
            succeeds("a tree").recovers_from(1),
        )
        .tools(|| set([failing("archive"), write()]))
        .script([
            uses("archive", "oak"),
            uses("write", "oak"),
            submits("a tree"),
        ]),
        scenario(
            "three tools fail in three ways, the fourth helps",
            succeeds("a tree").recovers_from(3),
        )
        .tools(|| {
            set([
                failing("archive"),
                panicking("index"),
                stuck("web"),
                search(),
            ])
        })
        .script([
            uses("archive", "oak"),
            uses("index", "oak"),
            uses("web", "oak"),
            looks("oak"),
            submits("a tree"),
        ]),
        scenario(
            "a tool fails, and the agent answers without it",
            succeeds("I could not find out").recovers_from(1),
        )
        .tools(|| set([failing("search")]))
        .script([looks("oak"), submits("I could not find out")]),
        scenario(
            "a tool that spent tokens fails, and they count",
            succeeds("a tree").recovers_from(1),
        )
        .tools(|| set([spending("archive"), search()]))
        .script([uses("archive", "oak"), looks("oak"), submits("a tree")]),
        scenario(
            "a check after the call turns a result into an error",
            succeeds("a tree").recovers_from(1),
        )
        .tools(|| set([named_search("archive"), search()]))
        .setup(|agent| {
            agent.after_call(|call, observation| match call.name.as_str() {
                "archive" => enact::run::Observation::error("the archive is secret"),
                _ => observation,
            })
        })
        .script([uses("archive", "oak"), looks("oak"), submits("a tree")]),
        scenario(
            "a check before the call vetoes it, another tool helps",
            succeeds("a tree").recovers_from(1),
        )
        .tools(|| set([named_search("archive"), search()]))
        .setup(|agent| {
            agent.before_call(|call| match call.name.as_str() {
                "archive" => enact::Verdict::Veto("not the archive".to_owned()),
                _ => enact::Verdict::Allow,
            })
        })
        .script([uses("archive", "oak"), looks("oak"), submits("a tree")]),
    ]);
    all
}

fn lost() -> Vec<Scenario> {
    vec![
        scenario(
            "the only tool fails until the steps are used up",
            partial(MaxIterations).does_not_recover_from(3),
        )
        .tools(|| set([failing("search")]))
        .setup(|agent| agent.max_iterations(3))
        .script([looks("oak"), looks("elm"), looks("ash"), answers()]),
        scenario(
            "the same call fails until the agent counts as stalled",
            partial(Stalled).does_not_recover_from(5),
        )
        .tools(|| set([failing("search")]))
        .script([
            looks("oak"),
            looks("oak"),
            looks("oak"),
            looks("oak"),
            looks("oak"),
            answers(),
        ]),
        scenario(
            "a tool fails, and the agent says that it gives up",
            partial(Failure).does_not_recover_from(2),
        )
        .tools(|| set([failing("search")]))
        .setup(|agent| agent.rules(|rules| rules.failure_phrases = vec!["I give up".to_owned()]))
        .script([
            looks("oak"),
            looks("elm").thinking("One last search for elm, then I give up."),
            answers(),
        ]),
        scenario(
            "a tool panics at each call until the steps are used up",
            partial(MaxIterations).does_not_recover_from(2),
        )
        .tools(|| set([panicking("search")]))
        .setup(|agent| agent.max_iterations(2))
        .script([looks("oak"), looks("elm"), answers()]),
        scenario(
            "the agent recovers, and the steps are used up all the same",
            partial(MaxIterations).does_not_recover_from(1),
        )
        .tools(|| set([failing("archive"), search()]))
        .setup(|agent| agent.max_iterations(2))
        .script([uses("archive", "oak"), looks("oak"), answers()]),
        scenario(
            "a tool fails, and the agent says that it is done",
            succeeds("partial").recovers_from(1),
        )
        .tools(|| set([failing("search")]))
        .setup(|agent| agent.rules(|rules| rules.success_phrases = vec!["that will do".to_owned()]))
        .script([
            looks("oak").thinking("I look for oak, and that will do."),
            answers(),
        ]),
    ]
}

fn side_by_side() -> Vec<Scenario> {
    let mut all: Vec<Scenario> = in_all_adapters(|| {
        scenario(
            "one of two calls side by side fails",
            succeeds("a tree").recovers_from(1),
        )
        .tools(|| set([failing("archive"), search()]))
        .script([
            acts(
                "The archive and the search may both know of oak.",
                [
                    ("archive", json!({"query": "oak"})),
                    ("search", json!({"query": "oak"})),
                ],
            ),
            submits("a tree"),
        ])
    })
    .collect();
    let both = |first: &'static str, second: &'static str| {
        acts(
            "Two searches at once.",
            [
                (first, json!({"query": "oak"})),
                (second, json!({"query": "elm"})),
            ],
        )
    };
    all.extend([
        scenario(
            "all calls side by side fail, then one works",
            succeeds("a tree").recovers_from(3),
        )
        .tools(|| {
            set([
                failing("archive"),
                panicking("index"),
                stuck("web"),
                search(),
            ])
        })
        .script([
            acts(
                "Three sources at once for oak.",
                [
                    ("archive", json!({"query": "oak"})),
                    ("index", json!({"query": "oak"})),
                    ("web", json!({"query": "oak"})),
                ],
            ),
            looks("oak"),
            submits("a tree"),
        ]),
        scenario(
            "one of two calls one after the other fails",
            succeeds("a tree").recovers_from(1),
        )
        .tools(|| set([flaky("search", 1).serial()]))
        .script([both("search", "search"), submits("a tree")]),
        scenario(
            "both calls one after the other fail, then one works",
            succeeds("a tree").recovers_from(2),
        )
        .tools(|| set([flaky("search", 2).serial()]))
        .script([both("search", "search"), looks("oak"), submits("a tree")]),
        scenario(
            "a slow call side by side is given up, the other one has its result",
            succeeds("a tree").recovers_from(1),
        )
        .tools(|| {
            let late = slow("archive", Duration::from_secs(60)).timeout(Duration::from_secs(5));
            set([late, search()])
        })
        .script([both("archive", "search"), submits("a tree")]),
        scenario(
            "calls side by side fail until the steps are used up",
            partial(MaxIterations).does_not_recover_from(4),
        )
        .tools(|| set([failing("archive"), panicking("index")]))
        .setup(|agent| agent.max_iterations(2))
        .script([
            both("archive", "index"),
            both("index", "archive"),
            answers(),
        ]),
        scenario(
            "an unknown tool beside a known one",
            succeeds("a tree").recovers_from(1),
        )
        .script([both("library", "search"), submits("a tree")]),
    ]);
    all
}
