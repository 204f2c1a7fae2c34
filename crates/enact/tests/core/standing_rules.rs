//! Rules that let calls run unasked, and tools that become others under them.

use enact::model::{call, calls};
use enact::run::{Answerer, Event, QuestionKind};
use enact::tool::{Confirmation, Effect};
use enact::{Decision, values};
use serde_json::json;

use super::changing::{Changing, changes, cut, done, observation, played, tool};
use super::identity::{approved, over_there, search_of, work};
use super::paused;

#[tokio::test]
async fn truth_always_is_for_the_tool_of_one_source() {
    let turn = || call("turn", json!({}));
    let search = || call("search", json!({"x": 1}));
    let inside =
        Changing::of([search_of("a"), tool("turn")]).turning_to([search_of("b"), tool("turn")]);
    let played = played(
        &inside,
        [search(), search(), turn(), search(), search(), done()],
    );
    let first = paused(played.agent.call(values! { question: "q" }).await.unwrap());
    let id = first.questions()[0].confirmation_id.clone();
    let resumed = played.agent.resume(first);
    let second = paused(resumed.answer(id, Decision::ApproveAlways).await.unwrap());
    assert_eq!(observation(second.run(), 1), "search ran");
    let question = &second.questions()[0];
    assert_eq!(question.changes, ["it now comes from `b`, before from `a`"]);
    // A yes is for one call; once it was told, nothing is new any more.
    let third = paused(approved(&played, second).await);
    assert_eq!(third.questions()[0].changes, [] as [String; 0]);
    // Allowed for good is what it was: that of the first source.
    inside.put([search_of("a"), tool("turn")]);
    let ended = approved(&played, third).await.finished().unwrap();
    assert_eq!(observation(ended.run(), 4), "search ran");
    let last = ended.run().questions().last().unwrap();
    assert_eq!(last.by, Some(Answerer::Rule));
}

#[tokio::test]
async fn truth_a_call_that_nobody_has_to_approve_is_not_executed_by_another_source() {
    let reads = |source: &str, text: &str| work(text, Effect::ReadOnly).with_source(source);
    let turn = || tool("turn").serial();
    for (then, expected) in [
        (reads("b", "Looks."), "not executed"),
        // The model is not troubled with another wording.
        (reads("a", "Looks well."), "work ran"),
    ] {
        let inside = Changing::of([turn(), reads("a", "Looks.").serial()])
            .turning_to([turn(), then.serial()]);
        let both = calls([
            ("turn", json!({})),
            ("work", json!({"x": 1})),
            ("work", json!({"x": 2})),
        ]);
        let played = played(&inside, [both, done()]);
        let run = played.call(values! { question: "q" }).await.run().clone();
        let said = observation(&run, 2).to_string();
        assert!(said.contains(expected), "{said}");
    }
}

#[tokio::test]
async fn truth_a_rule_from_outside_is_for_the_tool_that_it_was_set_for() {
    let turn = || call("turn", json!({}));
    let search = || call("search", json!({"x": 1}));
    let inside =
        Changing::of([search_of("a"), tool("turn")]).turning_to([search_of("b"), tool("turn")]);
    let played = played(&inside, [search(), turn(), search()])
        .map(|agent| agent.confirmation("search", Confirmation::Never));
    let first = paused(played.agent.call(values! { question: "q" }).await.unwrap());
    assert_eq!(observation(first.run(), 0), "search ran");
    assert_eq!(
        first.questions()[0].changes,
        ["it now comes from `b`, before from `a`"]
    );
}

#[tokio::test]
async fn truth_another_tool_under_a_rule_from_outside_is_asked_for_its_own_rule() {
    let turn = || call("turn", json!({}));
    let search = || call("search", json!({"x": 1}));
    // It does not say which calls, so it asks about all.
    let asking = |source: &str| search_of(source).with_confirmation(Confirmation::When);
    let inside = Changing::of([asking("a"), tool("turn")]).turning_to([asking("b"), tool("turn")]);
    let played = played(&inside, [search(), turn(), search()])
        .map(|agent| agent.confirmation("search", Confirmation::Never));
    let first = paused(played.agent.call(values! { question: "q" }).await.unwrap());
    assert_eq!(observation(first.run(), 0), "search ran");
    assert_eq!(first.questions()[0].tool_call.name, "search");
}

#[tokio::test]
async fn truth_a_hint_never_makes_a_run_less_careful() {
    let turn = || call("turn", json!({}));
    let search = || call("search", json!({"x": 1}));
    let harmless = || {
        search_of("a")
            .with_effect(Effect::ReadOnly)
            .with_confirmation(Confirmation::Never)
    };
    let inside =
        Changing::of([search_of("a"), tool("turn")]).turning_to([harmless(), tool("turn")]);
    let first = played(&inside, [turn(), search()]);
    let waiting = paused(first.agent.call(values! { question: "q" }).await.unwrap());
    assert_eq!(
        waiting.questions()[0].changes,
        ["its effect is now `read_only`, before `effectful`"]
    );
    // The log says what was seen.
    let seen = changes(waiting.run());
    assert_eq!(seen[0][1].effect, Effect::ReadOnly);
    assert_eq!(seen[0][1].confirmation, Confirmation::Never);
    // And in another process, which knows the tool only as harmless.
    let again = played(&inside, [search()]);
    let second = paused(approved(&again, over_there(waiting)).await);
    assert_eq!(second.questions()[0].tool_call.name, "search");
    // A call of it that is cut off is in doubt, as those of a tool with effects are.
    let run = second.run();
    let started = run.events();
    let started = started
        .enumerate()
        .filter(|(_, event)| matches!(event, Event::ToolStarted { .. }));
    let last = started.map(|(index, _)| index).last().unwrap();
    let doubted = played(&inside, []);
    let third = paused(doubted.agent.resume(cut(run, last + 1)).await.unwrap());
    assert_eq!(third.questions()[0].kind, QuestionKind::InDoubt);
    // To a new run it is what it says.
    let fresh = played(&inside, [search(), done()]);
    assert_eq!(
        observation(fresh.call(values! { question: "q" }).await.run(), 0),
        "search ran"
    );
}
