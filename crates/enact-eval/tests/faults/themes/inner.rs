//! Agents as tools of agents: what fails inside is an error outside.

use std::time::Duration;

use enact::TerminationReason::{MaxIterations, Stalled};
use enact::model::{ModelErrorKind, ScriptStep, ScriptedModel, Usage, call, fail, say};
use enact::{AgentTool, ReAct, Tools};
use serde_json::json;

use crate::scenario::{
    Person, Scenario, answers, looks, partial, scenario, submits, succeeds, uses, waits,
};
use crate::tools::{search, set, stuck, write};

/// An agent that looks things up, as the tool `research`.
fn research(tools: Tools, script: Vec<ScriptStep>) -> AgentTool {
    let model = ScriptedModel::new(script.into_iter().map(|step| step.costing(spent())));
    // A crash of the caller may leave some of the script to the next process.
    model.abandon();
    let agent = ReAct::builder("query -> summary")
        .tools(tools)
        .model(model)
        .build()
        .unwrap();
    AgentTool::new(agent, "research", "Finds out.")
}

fn spent() -> Usage {
    Usage::of_request(50, 5)
}

fn with(inner: AgentTool) -> Tools {
    Tools::new().with(inner).with(search())
}

fn looks_inside(query: &str) -> ScriptStep {
    call("search", json!({"query": query}))
}

fn extracts() -> ScriptStep {
    say(r#"{"reasoning": "r", "summary": "partly a tree"}"#)
}

pub(super) fn scenarios() -> Vec<Scenario> {
    let unlucky = |kind| vec![looks_inside("oak"), fail(kind, "it failed")];
    let mut all = Vec::new();
    for kind in [
        ModelErrorKind::Authentication,
        ModelErrorKind::Connection,
        ModelErrorKind::ContentFilter,
    ] {
        all.push(
            scenario(
                format!("{} inside, another tool helps", kind.as_str()),
                succeeds("a tree").recovers_from(1),
            )
            .tools(move || with(research(set([search()]), unlucky(kind))))
            .script([uses("research", "oak"), looks("oak"), submits("a tree")]),
        );
    }
    all.extend([
        scenario("an agent inside does its work", succeeds("a tree"))
            .tools(|| {
                let submit = call("submit", json!({"summary": "a tree"}));
                with(research(set([search()]), vec![looks_inside("oak"), submit]))
            })
            .script([uses("research", "oak"), submits("a tree")]),
        scenario(
            "an agent inside runs in circles, and answers all the same",
            succeeds("a tree"),
        )
        .tools(|| {
            let script = (0..4).map(|_| looks_inside("oak")).chain([extracts()]);
            with(research(set([search()]), script.collect()))
        })
        .script([uses("research", "oak"), submits("a tree")]),
        scenario(
            "an agent inside comes to no answer",
            succeeds("a tree").recovers_from(1),
        )
        .tools(|| {
            let script = std::iter::repeat_with(|| say("").cut_off()).take(8);
            with(research(set([search()]), script.collect()))
        })
        .script([uses("research", "oak"), looks("oak"), submits("a tree")]),
        scenario(
            "an agent inside fails at each call",
            partial(Stalled).does_not_recover_from(5),
        )
        .tools(|| {
            let script = std::iter::repeat_with(|| fail(ModelErrorKind::Server, "overloaded"));
            with(research(set([search()]), script.take(20).collect()))
        })
        .script([
            uses("research", "oak"),
            uses("research", "oak"),
            uses("research", "oak"),
            uses("research", "oak"),
            uses("research", "oak"),
            answers(),
        ]),
        scenario(
            "an agent inside takes too long",
            partial(MaxIterations).does_not_recover_from(1),
        )
        .tools(|| {
            let inner = research(set([stuck("search")]), vec![looks_inside("oak")]);
            with(inner.with_timeout(Duration::from_secs(5)))
        })
        .setup(|agent| agent.max_iterations(1))
        .script([uses("research", "oak"), answers()]),
        asks("an agent inside asks, and is answered", succeeds("a tree"))
            .script([uses("research", "oak"), submits("a tree")])
            .people([Person::Says("yes")]),
        asks(
            "an agent inside asks, and the person declines",
            succeeds("a tree"),
        )
        .script([uses("research", "oak"), submits("a tree")])
        .people([Person::Says("no")]),
        asks("an agent inside asks, and nobody answers", waits())
            .script([uses("research", "oak")])
            .people([Person::Leaves]),
    ]);
    all
}

/// An agent inside that asks before it writes.
fn asks(name: &str, expect: crate::scenario::Expect) -> Scenario {
    scenario(name, expect).tools(|| {
        let script = vec![
            call("write", json!({"query": "oak"})),
            call("submit", json!({"summary": "a tree"})),
        ];
        with(research(set([write().require_confirmation()]), script))
    })
}
