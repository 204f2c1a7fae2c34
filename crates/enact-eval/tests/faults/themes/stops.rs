//! Runs that are cancelled or interrupted, at each point.

use enact::ErrorKind;
use enact::TerminationReason::{Cancelled, MaxIterations};
use enact::model::ModelErrorKind::ContextLength;
use enact::run::{Event, PredictorName};

use super::in_all_adapters;
use crate::scenario::{
    Expect, Person, Scenario, Stop, Turn, When, answers, fails, looks, partial, request_fails,
    scenario, stays_open, submits, succeeds, summarises, uses,
};
use crate::tools::{named_search, reporting, search, set, write};

fn cancelled() -> Expect {
    fails(Cancelled, ErrorKind::Cancelled)
}

fn interrupted() -> Expect {
    stays_open(ErrorKind::Interrupted)
}

fn is_finished(event: &Event) -> bool {
    matches!(event, Event::ToolFinished { .. })
}

fn is_end_of_loop(event: &Event) -> bool {
    matches!(event, Event::LoopEnded { .. })
}

fn is_start_of_tool(event: &Event) -> bool {
    matches!(event, Event::ToolStarted { .. })
}

/// The turns until the prompt has to be summarised.
fn too_long() -> Vec<Turn> {
    vec![
        looks("oak"),
        looks("elm"),
        looks("ash"),
        request_fails(ContextLength),
    ]
}

fn and(mut turns: Vec<Turn>, more: impl IntoIterator<Item = Turn>) -> Vec<Turn> {
    turns.extend(more);
    turns
}

pub(super) fn scenarios() -> Vec<Scenario> {
    let mut all = cancellations();
    all.extend(interruptions());
    all
}

fn cancellations() -> Vec<Scenario> {
    let stopped = |when| Stop::Cancel(when);
    let mut all: Vec<Scenario> = in_all_adapters(move || {
        scenario("cancelled while the model answers", cancelled())
            .script([looks("oak"), looks("elm")])
            .stopped_by(stopped(When::Asking(PredictorName::Step, 2)))
    })
    .collect();
    all.extend([
        scenario("cancelled before the first request", cancelled())
            .stopped_by(stopped(When::AtOnce)),
        scenario(
            "cancelled while a tool runs",
            cancelled().does_not_recover_from(1),
        )
        .tools(|| set([reporting("search")]))
        .script([looks("oak")])
        .stopped_by(stopped(When::InTool)),
        scenario(
            "cancelled between start and run of a tool",
            cancelled().does_not_recover_from(1),
        )
        .script([looks("oak")])
        .stopped_by(stopped(When::After(is_start_of_tool))),
        scenario("cancelled after a tool", cancelled())
            .script([looks("oak")])
            .stopped_by(stopped(When::After(is_finished))),
        scenario("cancelled when the loop is over", cancelled())
            .setup(|agent| agent.max_iterations(1))
            .script([looks("oak")])
            .stopped_by(stopped(When::After(is_end_of_loop))),
        scenario("cancelled while the answer is extracted", cancelled())
            .setup(|agent| agent.max_iterations(1))
            .script([looks("oak"), looks("elm"), answers()])
            .stopped_by(stopped(When::Asking(PredictorName::Extract, 1))),
        scenario("cancelled while the transcript is summarised", cancelled())
            .script(and(too_long(), [summarises()]))
            .stopped_by(stopped(When::Asking(PredictorName::Summarise, 1))),
        scenario(
            "cancelled while it waits for a person",
            cancelled().does_not_recover_from(1),
        )
        .tools(|| set([write().require_confirmation()]))
        .script([uses("write", "oak")])
        .people([Person::Cancels]),
        scenario(
            "cancelled after a tool failed",
            cancelled().does_not_recover_from(1),
        )
        .tools(|| set([crate::tools::failing("search")]))
        .script([looks("oak")])
        .stopped_by(stopped(When::After(is_finished))),
        scenario("cancelled too late", succeeds("a tree"))
            .script([looks("oak"), submits("a tree")])
            .stopped_by(stopped(When::After(|event| {
                matches!(event, Event::Finished { .. })
            }))),
    ]);
    all
}

fn interruptions() -> Vec<Scenario> {
    let stopped = |when| Stop::Interrupt(when);
    vec![
        scenario("interrupted before the first request", interrupted())
            .stopped_by(stopped(When::AtOnce)),
        scenario(
            "interrupted before the first request, then resumed",
            succeeds("a tree"),
        )
        .script([looks("oak"), submits("a tree")])
        .stopped_by(stopped(When::AtOnce))
        .resumed(1),
        scenario(
            "interrupted while the model answers, then resumed",
            succeeds("a tree"),
        )
        // The reply that nobody waited for is lost, and asked for again.
        .script([looks("oak"), looks("elm"), looks("elm"), submits("a tree")])
        .stopped_by(stopped(When::Asking(PredictorName::Step, 2)))
        .resumed(1),
        scenario(
            "interrupted while a tool runs, which may finish",
            interrupted(),
        )
        .tools(|| set([reporting("search")]))
        .script([looks("oak")])
        .stopped_by(stopped(When::InTool)),
        scenario(
            "interrupted while a tool runs, then resumed",
            succeeds("a tree"),
        )
        .tools(|| set([reporting("search"), named_search("archive")]))
        .script([looks("oak"), submits("a tree")])
        .stopped_by(stopped(When::InTool))
        .resumed(1),
        scenario(
            "interrupted while the answer is extracted, then resumed",
            partial(MaxIterations),
        )
        .setup(|agent| agent.max_iterations(1))
        .script([looks("oak"), looks("elm"), answers(), answers()])
        .stopped_by(stopped(When::Asking(PredictorName::Extract, 1)))
        .resumed(1),
        scenario(
            "interrupted while the transcript is summarised, then resumed",
            succeeds("a tree"),
        )
        .script(and(
            too_long(),
            [summarises(), summarises(), submits("a tree")],
        ))
        .stopped_by(stopped(When::Asking(PredictorName::Summarise, 1)))
        .resumed(1),
        scenario(
            "interrupted after a tool failed, then resumed",
            succeeds("a tree").recovers_from(1),
        )
        .tools(|| set([crate::tools::failing("archive"), search()]))
        .script([uses("archive", "oak"), looks("oak"), submits("a tree")])
        .stopped_by(stopped(When::After(is_finished)))
        .resumed(1),
    ]
}
