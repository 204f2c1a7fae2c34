//! Approvals and rules are for one tool: the one that the person was asked about.

use std::sync::Arc;

use enact::model::{call, calls};
use enact::run::store::{MemoryStore, RunFilter, Store as _};
use enact::run::{ConfirmationStatus, Event, QuestionKind};
use enact::tool::{Confirmation, Effect, ToolSpec};
use enact::{Confirmations, Decision, FnTool, Outcome, Paused, Run, ToolError, Tools, values};
use serde_json::{Value, json};

use super::changing::{Changing, changes, cut, done, observation, played, tool};
use super::{Played, agent, paused};

/// A tool that asks before every call, described like this.
pub(super) fn asking(name: &str, description: &str) -> ToolSpec {
    let mut spec = tool(name).with_confirmation(Confirmation::Always);
    spec.description = description.to_owned();
    spec.effect = Effect::Effectful;
    spec
}

fn send(description: &str) -> ToolSpec {
    asking("send", description)
}

fn with_parameters(mut spec: ToolSpec, parameters: Value) -> ToolSpec {
    spec.parameters = parameters;
    spec
}

/// A run that waits for approval of `send`, as another process reads it.
async fn waiting(spec: ToolSpec) -> Paused {
    let inside = Changing::of([spec]);
    let first = played(&inside, [call("send", json!({"x": 1}))]);
    over_there(paused(
        first.agent.call(values! { question: "q" }).await.unwrap(),
    ))
}

pub(super) fn over_there(paused: Paused) -> Paused {
    serde_json::from_str(&serde_json::to_string(&paused).unwrap()).unwrap()
}

fn id(paused: &Paused) -> String {
    let [question] = paused.questions() else {
        panic!("one question: {:?}", paused.questions());
    };
    question.confirmation_id.clone()
}

pub(super) fn has_started(run: &Run) -> bool {
    run.events()
        .any(|event| matches!(event, Event::ToolStarted { .. }))
}

pub(super) async fn approved(played: &Played, waiting: Paused) -> Outcome<enact::Values> {
    let id = id(&waiting);
    let resumed = played.agent.resume(waiting).answer(id, Decision::Approve);
    resumed.await.unwrap()
}

#[tokio::test]
async fn truth_an_approved_call_of_a_tool_that_changed_is_asked_about_again() {
    let first = waiting(send("Sends a card.")).await;
    let old = id(&first);
    let inside = Changing::of([send("Sends everything.")]);
    let again = played(&inside, [done()]);
    let second = paused(approved(&again, first).await);
    assert!(!has_started(second.run()));
    let question = &second.questions()[0];
    assert_ne!(question.confirmation_id, old);
    for said in ["Sends a card.", "Sends everything."] {
        assert!(question.question.contains(said), "{}", question.question);
    }
    // The old answer was for the old question.
    let late = again.agent.resume(second.clone());
    let late = late.answer(old, Decision::Approve).await.unwrap_err();
    assert_eq!(late.kind(), enact::ErrorKind::Answer);
    let run = approved(&again, second).await.finished().unwrap();
    assert_eq!(observation(run.run(), 0), "send ran");
}

#[tokio::test]
async fn truth_an_approved_call_that_does_not_fit_the_changed_tool_is_not_executed() {
    let first = waiting(send("Sends a card.")).await;
    let stricter = json!({
        "type": "object",
        "properties": {"x": {"type": "integer"}, "to": {"type": "string"}},
        "required": ["to"],
    });
    let inside = Changing::of([with_parameters(send("Sends a card."), stricter)]);
    let again = played(&inside, [done()]);
    let ended = approved(&again, first).await.finished().unwrap();
    assert!(!has_started(ended.run()));
    let said = observation(ended.run(), 0).to_string();
    assert!(
        said.contains("not executed") && said.contains("`to`"),
        "{said}"
    );
    let step = &ended.run().trace().steps[0];
    assert!(step.actions[0].observation.as_ref().unwrap().is_error);
}

#[tokio::test]
async fn truth_an_open_question_about_a_call_that_no_longer_fits_is_closed() {
    let first = waiting(send("Sends a card.")).await;
    let other = json!({"type": "object", "properties": {"x": {"type": "string"}}});
    let inside = Changing::of([with_parameters(send("Sends a card."), other)]);
    let again = played(&inside, [done()]);
    // Nobody has answered; a coerced argument would be another call than the model made.
    let ended = again.agent.resume(first).await.unwrap().finished().unwrap();
    assert!(!has_started(ended.run()));
    let asked = ended.run().questions();
    assert_eq!(asked.len(), 1);
    assert_eq!(asked[0].status, ConfirmationStatus::Rejected);
    let said = observation(ended.run(), 0).to_string();
    assert!(said.contains("not executed"), "{said}");
}

#[tokio::test]
async fn truth_an_approved_call_of_a_tool_that_is_gone_is_not_executed() {
    let first = waiting(send("Sends a card.")).await;
    let inside = Changing::of([tool("other")]);
    let again = played(&inside, [done()]);
    let ended = approved(&again, first).await.finished().unwrap();
    assert!(!has_started(ended.run()));
    let said = observation(ended.run(), 0).to_string();
    assert!(said.contains("not available any more"), "{said}");
}

#[tokio::test]
async fn truth_the_same_schema_written_in_another_order_is_no_change() {
    let one = json!({"type": "object", "properties": {"x": {"type": "integer", "minimum": 0}}});
    let other = json!({"properties": {"x": {"minimum": 0, "type": "integer"}}, "type": "object"});
    let first = waiting(with_parameters(send("Sends a card."), one)).await;
    let inside = Changing::of([with_parameters(send("Sends a card.\n"), other)]);
    let again = played(&inside, [done()]);
    let ended = approved(&again, first).await.finished().unwrap();
    assert_eq!(observation(ended.run(), 0), "send ran");
}

#[tokio::test]
async fn truth_a_call_that_waits_for_another_is_not_executed_by_a_tool_that_took_its_place() {
    // The first of two approved calls changes the tool of the second.
    let before = asking("turn", "Turns the page.").serial();
    let after = asking("turn", "Turns the house over.").serial();
    let inside = Changing::of([before]).turning_to([after]);
    let turn = |x: i64| ("turn", json!({"x": x}));
    let played = played(&inside, [calls([turn(1), turn(2)]), done()]);
    let first = paused(played.agent.call(values! { question: "q" }).await.unwrap());
    let mut resumed = played.agent.resume(first.clone());
    for question in first.questions() {
        resumed = resumed.answer(&question.confirmation_id, Decision::Approve);
    }
    let second = paused(resumed.await.unwrap());
    let [question] = second.questions() else {
        panic!("one question")
    };
    assert_eq!(question.tool_call.args["x"], 2);
    assert!(
        question.question.contains("Turns the house over."),
        "{}",
        question.question
    );
    let started = second.run().events();
    let started = started.filter(|event| matches!(event, Event::ToolStarted { .. }));
    assert_eq!(started.count(), 1);
    let done = approved(&played, second).await.finished().unwrap();
    assert_eq!(observation(done.run(), 1), "turn ran");
}

#[tokio::test]
async fn truth_a_question_is_about_the_tool_as_it_is_when_the_run_pauses() {
    let inside = Changing::of([send("Sends a card."), tool("turn")])
        .turning_to([send("Sends everything."), tool("turn")]);
    let both = calls([("send", json!({"x": 1})), ("turn", json!({}))]);
    let played = played(&inside, [both, done()]);
    let first = paused(played.agent.call(values! { question: "q" }).await.unwrap());
    let text = &first.questions()[0].question;
    assert!(text.contains("Sends everything."), "{text}");
    assert_eq!(first.questions().len(), 1);
    // The question that it took the place of is no longer open anywhere.
    let asked = first.run().questions();
    assert_eq!(asked.len(), 2);
    assert_eq!(asked[0].status, ConfirmationStatus::Superseded);
    assert_eq!(first.run().open_questions().len(), 1);
    let done = approved(&played, first).await.finished().unwrap();
    let ran = done.run().trajectory();
    assert_eq!(ran.steps()[0].observation, "send ran");
}

/// The log of a run that ended while the tool was at work.
async fn cut_off(spec: ToolSpec) -> Run {
    let inside = Changing::of([spec]);
    let first = played(&inside, [call("work", json!({"x": 1})), done()]);
    let whole = first.call(values! { question: "q" }).await.run().clone();
    let started = whole
        .events()
        .position(|event| matches!(event, Event::ToolStarted { .. }));
    cut(&whole, started.unwrap() + 1)
}

pub(super) fn work(description: &str, effect: Effect) -> ToolSpec {
    let mut spec = tool("work").with_effect(effect);
    spec.description = description.to_owned();
    spec
}

#[tokio::test]
async fn truth_a_call_in_doubt_is_not_repeated_with_another_tool_unasked() {
    for effect in [Effect::Effectful, Effect::Idempotent] {
        let run = cut_off(work("Works.", effect)).await;
        let inside = Changing::of([work("Plays.", effect)]);
        let again = played(&inside, [done()]);
        let waiting = paused(again.agent.resume(run).await.unwrap());
        let [question] = waiting.questions() else {
            panic!("one question")
        };
        assert_eq!(question.kind, QuestionKind::InDoubt);
        assert!(
            question.question.contains("Plays."),
            "{}",
            question.question
        );
        let ended = approved(&again, waiting).await.finished().unwrap();
        assert_eq!(observation(ended.run(), 0), "work ran");
    }
}

#[tokio::test]
async fn truth_a_call_in_doubt_that_no_longer_fits_is_not_repeated_even_if_approved() {
    let run = cut_off(work("Works.", Effect::Effectful)).await;
    let other = json!({"type": "object", "properties": {"x": {"type": "boolean"}}});
    let inside = Changing::of([with_parameters(work("Works.", Effect::Effectful), other)]);
    let again = played(&inside, [done()]);
    let waiting = paused(again.agent.resume(run).await.unwrap());
    assert_eq!(waiting.questions()[0].kind, QuestionKind::InDoubt);
    let ended = approved(&again, waiting).await.finished().unwrap();
    let said = observation(ended.run(), 0).to_string();
    assert!(said.contains("not run again"), "{said}");
}

#[tokio::test]
async fn truth_a_read_that_was_cut_off_runs_again_though_its_tool_is_described_anew() {
    let run = cut_off(work("Looks.", Effect::ReadOnly)).await;
    let inside = Changing::of([work("Looks again.", Effect::ReadOnly)]);
    let again = played(&inside, [done()]);
    let ended = again.agent.resume(run).await.unwrap().finished().unwrap();
    assert_eq!(observation(ended.run(), 0), "work ran");
}

#[tokio::test]
async fn truth_a_tool_that_is_described_anew_each_time_is_not_asked_about_for_ever() {
    let mut waiting = waiting(send("It is 0 o'clock.")).await;
    let mut ended = None;
    for hour in 1..20 {
        let inside = Changing::of([send(&format!("It is {hour} o'clock."))]);
        let again = played(&inside, [done()]);
        match approved(&again, over_there(waiting)).await {
            Outcome::Paused(paused) => {
                again.model.abandon();
                waiting = paused;
            }
            Outcome::Finished(prediction) => {
                ended = Some((hour, prediction));
                break;
            }
        }
    }
    let (hour, ended) = ended.unwrap();
    assert_eq!(hour, 4, "three more questions, then no more");
    assert!(!has_started(ended.run()));
    let said = observation(ended.run(), 0).to_string();
    assert!(said.contains("not executed"), "{said}");
}

/// `search` of a source, which asks before every call.
pub(super) fn search_of(source: &str) -> ToolSpec {
    asking("search", "Searches.").with_source(source)
}

fn fixed(spec: ToolSpec) -> Tools {
    let name = spec.name.clone();
    Tools::new().with(FnTool::from_spec(spec, move |_, _| {
        let name = name.clone();
        async move { Ok::<_, ToolError>(format!("{name} ran")) }
    }))
}

#[tokio::test]
async fn truth_a_program_that_was_built_anew_with_another_tool_asks_again() {
    let arrow = "question -> answer";
    let first = agent(
        arrow,
        fixed(send("Sends a card.")),
        [call("send", json!({"x": 1}))],
    );
    let waiting = over_there(paused(
        first.agent.call(values! { question: "q" }).await.unwrap(),
    ));
    let again = agent(arrow, fixed(send("Sends everything.")), [done()]);
    let second = paused(approved(&again, waiting).await);
    assert!(!has_started(second.run()));
    assert!(second.questions()[0].question.contains("Sends everything."));
    assert_eq!(changes(second.run()).len(), 1);
    let ended = approved(&again, second).await.finished().unwrap();
    assert_eq!(observation(ended.run(), 0), "send ran");
    // The prompt speaks of the tool as it now is.
    let asked = format!("{:?}", again.model.requests());
    assert!(asked.contains("Sends everything.") && !asked.contains("Sends a card."));
}

#[tokio::test]
async fn truth_a_program_that_was_built_anew_with_the_same_tools_says_nothing_of_a_change() {
    let arrow = "question -> answer";
    let script = || [call("send", json!({"x": 1})), done()];
    let first = agent(arrow, fixed(send("Sends a card.")), script());
    let waiting = over_there(paused(
        first.agent.call(values! { question: "q" }).await.unwrap(),
    ));
    first.model.abandon();
    let again = agent(arrow, fixed(send("Sends a card.")), [done()]);
    let ended = approved(&again, waiting).await.finished().unwrap();
    assert_eq!(observation(ended.run(), 0), "send ran");
    assert_eq!(changes(ended.run()).len(), 0);
}

#[tokio::test]
async fn truth_an_edit_is_for_the_tool_that_it_named() {
    let store = MemoryStore::new();
    let pay = |text: &str| work(text, Effect::Effectful);
    let inside = Changing::of([send("Sends a card."), pay("Works.")]);
    let first = played(&inside, [call("send", json!({"x": 1}))]);
    let call = first.agent.call(values! { question: "q" });
    let waiting = paused(call.store(store.clone()).await.unwrap());
    let (run_id, old) = (waiting.run().id().to_owned(), id(&waiting));
    let questions = Confirmations::of(store.clone(), &run_id);
    let edit = Decision::Edit {
        name: "work".to_owned(),
        args: values! { x: 2 },
    };
    questions.respond(&old, edit).await.unwrap();

    inside.put([send("Sends a card."), pay("Plays.")]);
    let again = played(&inside, [done()]);
    let resumed = again.agent.resume_stored(store.clone(), &run_id);
    let second = paused(resumed.await.unwrap());
    assert!(!has_started(second.run()));
    let question = &second.questions()[0];
    assert_eq!(question.tool_call.name, "work");
    assert_eq!(question.tool_call.args["x"], 2);
    assert!(
        question.question.contains("Plays."),
        "{}",
        question.question
    );
    // An answer to what is no longer asked cannot be taken back, and one question is open.
    assert!(questions.clear(&old).await.is_err());
    let listed = store.list(&RunFilter::all()).await.unwrap();
    assert_eq!(listed[0].open_questions, 1);

    // Looked at once more before anybody has answered, and changed once more.
    inside.put([send("Sends a card."), pay("Sleeps.")]);
    let resumed = again.agent.resume_stored(store.clone(), &run_id);
    let third = paused(resumed.await.unwrap());
    let listed = store.list(&RunFilter::all()).await.unwrap();
    assert_eq!(listed[0].open_questions, 1);
    questions
        .respond(&id(&third), Decision::Approve)
        .await
        .unwrap();
    let ended = again.agent.resume_stored(store, &run_id).await.unwrap();
    let ended = ended.finished().unwrap();
    assert_eq!(ended.run().trajectory().steps()[0].tool_name, "work");
    assert_eq!(observation(ended.run(), 0), "work ran");
}

#[tokio::test]
async fn truth_a_secret_in_a_description_is_no_change() {
    let secrets = enact::model::Secrets::new().with("correct-horse").unwrap();
    let settings = enact::Settings::new().secrets(secrets);
    enact::scope(settings, async {
        for tools in [
            fixed(send("Opens with correct-horse.")),
            Tools::new().with_toolbox(Arc::new(Changing::of([send("Opens with correct-horse.")]))),
        ] {
            let arrow = "question -> answer";
            let first = agent(arrow, tools.clone(), [call("send", json!({"x": 1}))]);
            let waiting = over_there(paused(
                first.agent.call(values! { question: "q" }).await.unwrap(),
            ));
            let again = agent(arrow, tools, [done()]);
            let ended = approved(&again, waiting).await.finished().unwrap();
            assert_eq!(observation(ended.run(), 0), "send ran");
            assert_eq!(changes(ended.run()).len(), 0);
        }
    })
    .await;
}

#[tokio::test]
async fn truth_an_approved_call_is_not_executed_by_the_tool_of_another_source() {
    let inside = Changing::of([search_of("a")]);
    let first = played(&inside, [call("search", json!({"x": 1}))]);
    let waiting = over_there(paused(
        first.agent.call(values! { question: "q" }).await.unwrap(),
    ));
    inside.put([search_of("b")]);
    let again = played(&inside, [done()]);
    let second = paused(approved(&again, waiting).await);
    assert!(!has_started(second.run()));
    let question = &second.questions()[0];
    assert_eq!(question.changes, ["it now comes from `b`, before from `a`"]);
    assert!(question.question.contains(&question.changes[0]));
    again.model.abandon();
}
