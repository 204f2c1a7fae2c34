//! Model requests fail: those that may pass are made again, the caller judges the others, and a
//! prompt that is too long is shortened.

use enact::ErrorKind;
use enact::TerminationReason::{MaxIterations, TokenBudget};
use enact::model::ModelErrorKind::{
    self, Authentication, Connection, ContentFilter, ContextLength, FormatRefused, InvalidRequest,
    NotFound, Protocol, RateLimit, Server, Timeout, ToolsRefused,
};

use super::in_all_adapters;
use crate::scenario::{
    Scenario, answers, fails, looks, partial, request_fails, says, scenario, stays_open, submits,
    succeeds, summarises,
};

const PASSING: [ModelErrorKind; 5] = [RateLimit, Server, Connection, Timeout, Protocol];
const LASTING: [ModelErrorKind; 4] = [Authentication, NotFound, ContentFilter, InvalidRequest];

pub(super) fn scenarios() -> Vec<Scenario> {
    let mut all = Vec::new();
    for kind in PASSING {
        let name = kind.as_str();
        all.push(
            scenario(format!("{name}, and it is asked again"), succeeds("a tree"))
                .retrying()
                .script([
                    looks("oak"),
                    request_fails(kind),
                    request_fails(kind),
                    submits("a tree"),
                ]),
        );
        all.push(
            scenario(
                format!("{name}, and the caller goes on"),
                succeeds("a tree"),
            )
            .script([looks("oak"), request_fails(kind), submits("a tree")])
            .resumed(1),
        );
    }
    for kind in LASTING {
        let name = kind.as_str();
        all.push(
            scenario(
                format!("{name} is not asked again"),
                stays_open(ErrorKind::Model(kind)),
            )
            .retrying()
            .script([looks("oak"), request_fails(kind)]),
        );
    }
    all.extend(others());
    all.extend(too_long());
    all
}

fn others() -> Vec<Scenario> {
    vec![
        scenario(
            "overloaded for longer than one waits",
            stays_open(ErrorKind::Model(Server)),
        )
        .retrying()
        .script([
            request_fails(Server),
            request_fails(Server),
            request_fails(Server),
            request_fails(Server),
        ]),
        scenario(
            "the key is mended, and the caller goes on",
            succeeds("a tree"),
        )
        .script([
            request_fails(Authentication),
            looks("oak"),
            submits("a tree"),
        ])
        .resumed(1),
        scenario(
            "the connection breaks while answering, and the caller goes on",
            partial(MaxIterations),
        )
        .setup(|agent| agent.max_iterations(1))
        .script([looks("oak"), request_fails(Connection), answers()])
        .resumed(1),
        scenario(
            "the content is refused while answering",
            stays_open(ErrorKind::Model(ContentFilter)),
        )
        .setup(|agent| agent.max_iterations(1))
        .script([
            looks("oak"),
            request_fails(ContentFilter),
            request_fails(ContentFilter),
        ]),
        scenario(
            "the server takes no tools, and the adapter is fixed",
            stays_open(ErrorKind::Model(ToolsRefused)),
        )
        .script([request_fails(ToolsRefused)]),
        scenario(
            "the server takes no schema while answering",
            partial(MaxIterations),
        )
        .setup(|agent| agent.max_iterations(1))
        .script([
            looks("oak"),
            looks("elm"),
            request_fails(FormatRefused),
            answers(),
        ]),
    ]
}

fn too_long() -> Vec<Scenario> {
    let too_long = || request_fails(ContextLength);
    let steps = || [looks("oak"), looks("elm"), looks("ash")];
    let then = |turns: Vec<crate::scenario::Turn>| steps().into_iter().chain(turns);
    let mut all: Vec<Scenario> = in_all_adapters(|| {
        scenario("the prompt is too long once", succeeds("a tree")).script(then(vec![
            too_long(),
            summarises(),
            submits("a tree"),
        ]))
    })
    .collect();
    all.extend([
        scenario("the prompt is too long twice", succeeds("a tree")).script(then(vec![
            too_long(),
            summarises(),
            too_long(),
            summarises(),
            submits("a tree"),
        ])),
        scenario("the prompt is too long at once", partial(TokenBudget))
            .script([too_long(), answers()]),
        scenario("the prompt is too long for the steps", partial(TokenBudget)).script(then(vec![
            too_long(),
            summarises(),
            too_long(),
            summarises(),
            too_long(),
            summarises(),
            too_long(),
            answers(),
        ])),
        scenario(
            "the prompt is too long for ever",
            fails(TokenBudget, ErrorKind::Model(ContextLength)),
        )
        .script(then(vec![
            too_long(),
            summarises(),
            too_long(),
            summarises(),
            too_long(),
            summarises(),
            too_long(),
            too_long(),
        ])),
        scenario(
            "the prompt is too long while answering",
            partial(MaxIterations),
        )
        .setup(|agent| agent.max_iterations(3))
        .script(then(vec![too_long(), too_long(), summarises(), answers()])),
        scenario("the summary is too long itself", succeeds("a tree")).script(then(vec![
            too_long(),
            too_long(),
            summarises(),
            submits("a tree"),
        ])),
        scenario("the summary is empty", succeeds("a tree")).script(then(vec![
            too_long(),
            says(""),
            summarises(),
            submits("a tree"),
        ])),
        scenario(
            "the connection breaks while summarising, and the caller goes on",
            succeeds("a tree"),
        )
        .script(then(vec![
            too_long(),
            request_fails(Connection),
            summarises(),
            submits("a tree"),
        ]))
        .resumed(1),
    ]);
    all
}
