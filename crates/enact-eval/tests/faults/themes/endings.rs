//! Phrases and conditions of the user's own end a run.

use enact::TerminationReason::{Custom, Failure, Stalled, Success};
use enact::run::{ActionKind, Rules, TraceStep};
use enact::{Builder, ReAct};

use super::in_all_adapters;
use crate::scenario::{Scenario, answers, looks, partial, scenario, submits, succeeds};
use crate::tools::{failing, set};

fn ruled(change: fn(&mut Rules)) -> impl Fn(Builder<ReAct>) -> Builder<ReAct> {
    move |agent| agent.rules(change)
}

fn saw(step: &TraceStep, text: &str) -> bool {
    let mut seen = step
        .actions
        .iter()
        .filter_map(|one| one.observation.as_ref());
    seen.any(|observation| observation.text().contains(text))
}

pub(super) fn scenarios() -> Vec<Scenario> {
    let mut all: Vec<Scenario> = in_all_adapters(|| {
        scenario("the agent says that it has it", partial(Success))
            .setup(ruled(|rules| {
                rules.success_phrases = vec!["I have it".to_owned()]
            }))
            .script([
                looks("oak").thinking("Look at oak, then i HAVE it."),
                answers(),
            ])
    })
    .collect();
    all.extend(in_all_adapters(|| {
        scenario("the agent says that it is hopeless", partial(Failure))
            .setup(ruled(|rules| {
                rules.failure_phrases = vec!["hopeless".to_owned()]
            }))
            .script([looks("oak").thinking("Oak is Hopeless."), answers()])
    }));
    all.extend(in_all_adapters(|| {
        scenario("a condition holds", partial(Custom))
            .setup(|agent| agent.ending_when(|step| saw(step, "about elm")))
            .script([looks("oak"), looks("elm"), answers()])
    }));
    all.extend([
        scenario("a condition never holds", succeeds("a tree"))
            .setup(|agent| agent.ending_when(|step| saw(step, "about elm")))
            .script([looks("oak"), submits("a tree")]),
        scenario("a condition panics", partial(Custom))
            .setup(|agent| {
                agent.ending_when(|step| {
                    if step.iteration >= 2 {
                        std::panic::resume_unwind(Box::new("the condition is broken"));
                    }
                    false
                })
            })
            .script([looks("oak"), looks("elm"), answers()]),
        scenario(
            "a condition ends a run of failures",
            partial(Custom).does_not_recover_from(2),
        )
        .tools(|| set([failing("search")]))
        .setup(|agent| {
            agent.ending_when(|step| {
                let is_call = step
                    .actions
                    .iter()
                    .any(|one| one.kind == ActionKind::ToolCall);
                is_call && step.iteration >= 2
            })
        })
        .script([looks("oak"), looks("elm"), answers()]),
        scenario("both phrases at once are a failure", partial(Failure))
            .setup(ruled(|rules| {
                rules.success_phrases = vec!["have it".to_owned()];
                rules.failure_phrases = vec!["cannot".to_owned()];
            }))
            .script([
                looks("oak").thinking("I cannot say that I have it."),
                answers(),
            ]),
        scenario(
            "a failure is spoken of beside the answer, and counts",
            partial(Failure),
        )
        .setup(ruled(|rules| {
            rules.failure_phrases = vec!["hopeless".to_owned()]
        }))
        .script([
            looks("oak"),
            submits("partial").thinking("More would be hopeless."),
        ]),
        scenario("a phrase comes before a stall", partial(Failure))
            .setup(ruled(|rules| {
                rules.failure_phrases = vec!["hopeless".to_owned()]
            }))
            .script([
                looks("oak"),
                looks("oak"),
                looks("oak"),
                looks("oak").thinking("Hopeless."),
                answers(),
            ]),
        scenario("a stall comes before a condition", partial(Stalled))
            .setup(|agent| agent.ending_when(|step| step.iteration >= 5))
            .script([
                looks("oak"),
                looks("oak"),
                looks("oak"),
                looks("oak"),
                looks("oak"),
                answers(),
            ]),
    ]);
    all
}
