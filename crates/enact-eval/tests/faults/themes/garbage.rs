//! Replies that are garbage: a bad reply never ends a run, many in a row end in an answer.

use enact::TerminationReason::{Failure, MaxIterations};
use enact::{ErrorKind, values};
use serde_json::json;

use super::in_all_adapters;
use crate::scenario::{
    Expect, Scenario, Turn, acts, answers, answers_with, fails, looks, partial, says, scenario,
    submits, succeeds,
};

const WHOLE_NUMBER: &str = "question -> answer: int";
const TWO_OUTPUTS: &str = "question -> answer, pages: int";

pub(super) fn scenarios() -> Vec<Scenario> {
    let mut all = in_each_adapter();
    all.extend(talk());
    all.extend(of_models_that_call_tools());
    all.extend(while_answering());
    all
}

fn once(name: &str, expect: Expect, garbage: impl Fn() -> Turn + Clone) -> Vec<Scenario> {
    let make =
        || scenario(name, expect.clone()).script([garbage(), looks("oak"), submits("a tree")]);
    in_all_adapters(make).collect()
}

/// A call with the wrong arguments.
fn misuses(tool: &str, args: serde_json::Value) -> Turn {
    acts("This call may not fit.", [(tool, args)])
}

fn in_each_adapter() -> Vec<Scenario> {
    let tree = || succeeds("a tree");
    let mut all = once("an empty reply", tree(), || says(""));
    all.extend(once("a reply that is cut off", tree(), || {
        looks("a very long query that does not come to its end").cut_off()
    }));
    all.extend(once(
        "arguments of the wrong type",
        tree().recovers_from(1),
        || misuses("search", json!({"query": ["oak"]})),
    ));
    all.extend(once("missing arguments", tree().recovers_from(1), || {
        misuses("search", json!({}))
    }));
    all.extend(once("an unknown tool", tree().recovers_from(1), || {
        misuses("library", json!({"query": "oak"}))
    }));
    let outputs = |name, wrong: fn() -> Turn, right: fn() -> Turn, signature| {
        let expect = Expect {
            outputs: Some(match signature {
                WHOLE_NUMBER => values! { answer: 42 },
                _ => values! { answer: "a tree", pages: 3 },
            }),
            ..succeeds("")
        };
        in_all_adapters(move || {
            scenario(name, expect.clone())
                .signature(signature)
                .script([wrong(), right()])
        })
    };
    all.extend(outputs(
        "an output of the wrong type",
        || submits("many"),
        || submits(42),
        WHOLE_NUMBER,
    ));
    all.extend(outputs(
        "a missing output",
        || submits("a tree"),
        || {
            let args = json!({"answer": "a tree", "pages": 3});
            acts("Now with pages.", [("submit", args)])
        },
        TWO_OUTPUTS,
    ));
    all.extend(in_all_adapters(|| {
        scenario(
            "nothing but unknown tools",
            partial(Failure).does_not_recover_from(4),
        )
        .script([
            misuses("library", json!({"query": "a"})),
            misuses("museum", json!({"query": "b"})),
            misuses("forest", json!({"query": "c"})),
            misuses("garden", json!({"query": "d"})),
            answers(),
        ])
    }));
    all.extend(in_all_adapters(|| {
        scenario("nothing but empty replies", partial(Failure)).script([
            says(""),
            says(""),
            says(""),
            says(""),
            answers(),
        ])
    }));
    all.extend(in_all_adapters(|| {
        scenario(
            "three bad replies, a good one, three bad ones",
            succeeds("a tree").recovers_from(2),
        )
        .script([
            says(""),
            misuses("library", json!({"query": "oak"})),
            says(""),
            looks("oak"),
            says(""),
            misuses("museum", json!({"query": "oak"})),
            says(""),
            submits("a tree"),
        ])
    }));
    all
}

/// Text where a call was asked for.
fn talk() -> Vec<Scenario> {
    let number = |name: &str, answer: i64| scenario(name, succeeds(answer)).signature(WHOLE_NUMBER);
    let mut all: Vec<Scenario> = in_all_adapters(|| {
        scenario(
            "prose is the answer where it can be one",
            succeeds("An oak is a tree."),
        )
        .script([looks("oak"), says("An oak is a tree.")])
    })
    .collect();
    let refusal = |name: &str| scenario(name, succeeds("I cannot help with that."));
    all.extend(in_all_adapters(|| {
        refusal("a refusal is an answer where it can be one")
            .script([looks("oak"), says("I cannot help with that.")])
    }));
    all.push(
        refusal("a refusal at once is an answer where no form was asked for")
            .script([says("I cannot help with that.")]),
    );
    let insists = || {
        refusal("a refusal without the form is an answer once it is repeated")
            .script([says("I will not."), says("I cannot help with that.")])
    };
    all.extend(in_all_adapters(insists).filter(|one| one.adapter != "native"));
    all.extend(in_all_adapters(move || {
        number("prose is no number, and a reminder helps", 42)
            .script([says("I think it is many."), submits(42)])
    }));
    all.extend(in_all_adapters(move || {
        number("a refusal is no number, and the answer is extracted", 0).script([
            says("I cannot help with that."),
            says("I still cannot help with that."),
            answers_with(0),
        ])
    }));
    all.extend(in_all_adapters(move || {
        number("broken JSON is told", 42).script([says("{\"query\": \"oak"), submits(42)])
    }));
    all
}

fn of_models_that_call_tools() -> Vec<Scenario> {
    let broken = |arguments: &str| acts("I look for oak.", [("search", json!(arguments))]);
    vec![
        scenario(
            "arguments that can be mended are mended",
            succeeds("a tree"),
        )
        .script([broken(r#"{"query": "oak",}"#), submits("a tree")]),
        scenario(
            "arguments that cannot be mended are told",
            succeeds("a tree").recovers_from(1),
        )
        .script([broken("oak, or so"), looks("oak"), submits("a tree")]),
        scenario("a call written into the text is a call", succeeds("a tree")).script([
            says(r#"I look. {"name": "search", "arguments": {"query": "oak"}}"#),
            submits("a tree"),
        ]),
        scenario(
            "a name that differs in case is the same",
            succeeds("a tree"),
        )
        .script([
            acts("I look for oak.", [("Search", json!({"query": "oak"}))]),
            submits("a tree"),
        ]),
        scenario(
            "the answer beside another call has to wait",
            succeeds("a tree"),
        )
        .script([
            acts(
                "I look for oak and answer.",
                [
                    ("search", json!({"query": "oak"})),
                    ("submit", json!({"answer": "too early"})),
                ],
            ),
            submits("a tree"),
        ]),
        scenario("garbage with no repairs allowed", partial(Failure))
            .setup(|agent| agent.max_repairs(0))
            .script([says("").cut_off(), answers()]),
        scenario("four broken objects in a row", partial(Failure))
            .under("json")
            .script([
                says("{"),
                says("{\"a\": "),
                says("{\"b\": ["),
                says("{{"),
                answers(),
            ]),
        scenario("marks without fields", succeeds(42))
            .under("chat")
            .signature(WHOLE_NUMBER)
            .script([says("[[ ## nothing ## ]]\nhere"), submits(42)]),
        scenario("elements that do not close", succeeds(42))
            .under("xml")
            .signature(WHOLE_NUMBER)
            .script([says("<next_thought>so"), submits(42)]),
        scenario("an action without a name", succeeds(42))
            .under("tagged")
            .signature(WHOLE_NUMBER)
            .script([says("Thought: so\nAction:"), submits(42)]),
    ]
}

fn while_answering() -> Vec<Scenario> {
    let garbage = || says("{\"answer\": ").cut_off();
    let mut all: Vec<Scenario> = in_all_adapters(|| {
        scenario(
            "garbage while answering, then an answer",
            partial(MaxIterations),
        )
        .setup(|agent| agent.max_iterations(1))
        .script([looks("oak"), garbage(), says(""), answers()])
    })
    .collect();
    all.extend(in_all_adapters(|| {
        scenario(
            "garbage while answering for ever",
            fails(MaxIterations, ErrorKind::NoAnswer),
        )
        .setup(|agent| agent.max_iterations(1))
        .script([
            looks("oak"),
            garbage(),
            says(""),
            garbage(),
            garbage(),
            garbage(),
        ])
    }));
    all
}
