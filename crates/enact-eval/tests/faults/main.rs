//! Scripted agents with injected faults, of which it is known how they truly end: termination
//! accuracy, trace completeness and error recovery are measured against the truth, by the same
//! functions that `enact eval` uses.

#![expect(clippy::unwrap_used, reason = "test code outside of test functions")]

mod check;
mod play;
mod scenario;
mod themes;
mod tools;
mod words;
mod world;

use std::collections::BTreeSet;

use enact::TerminationReason;
use enact::model::ModelErrorKind;
use enact_eval::Share;
use serde::de::DeserializeOwned;

use check::{criterion, ending_problems, found, problems, trial};
use play::play;
use scenario::{Said, Scenario};
use themes::all;

fn percent(share: Share) -> String {
    let value = share.value().map_or(0.0, |value| value * 100.0);
    format!("{value:.1} % ({} of {})", share.hits, share.of)
}

#[tokio::test(start_paused = true)]
async fn every_scenario_ends_as_it_truly_does() {
    let scenarios = all();
    let mut failures = Vec::new();
    let mut trials = Vec::new();
    let (mut recovering, mut lost) = (Vec::new(), Vec::new());
    for scenario in &scenarios {
        let played = play(scenario, None).await;
        let wrong = problems(scenario, &played);
        if !wrong.is_empty() {
            failures.push(format!("{}:\n    {}", scenario.name, wrong.join("\n    ")));
        }
        let trial = trial(scenario, &played.run);
        match scenario.expect.recovers {
            Some(true) => recovering.push(trial.clone()),
            Some(false) => lost.push(trial.clone()),
            None => {}
        }
        trials.push(trial);
    }
    println!(
        "{} scenarios, {} not as they should be",
        scenarios.len(),
        failures.len()
    );
    for name in [
        "termination accuracy",
        "trace completeness",
        "error recovery",
    ] {
        let one = criterion(&trials, name);
        let value = one.value.unwrap() * 100.0;
        println!("{name}: {value:.1} % ({})", one.basis);
    }
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));

    // The criteria say what is true, both ways.
    let accuracy = criterion(&trials, "termination accuracy");
    assert_eq!((accuracy.value, accuracy.is_met), (Some(1.0), Some(true)));
    let completeness = criterion(&trials, "trace completeness");
    assert_eq!(completeness.value, Some(1.0));
    assert_eq!(criterion(&recovering, "error recovery").value, Some(1.0));
    assert_eq!(criterion(&lost, "error recovery").value, Some(0.0));
    println!(
        "error recovery: 100 % of the {} that recover, 0 % of the {} that do not",
        recovering.len(),
        lost.len()
    );
}

/// Whatever event is the last that a process could write: another one takes the run up, and it
/// ends for the same reason, with the same outputs.
#[tokio::test(start_paused = true)]
async fn a_crash_at_any_event_changes_no_ending() {
    let mut failures = Vec::new();
    let mut endings = Share::default();
    for scenario in all().iter().filter(|one| one.stop.is_none()) {
        let events = play(scenario, None).await.run.records().len();
        for event in 1..events {
            let played = play(scenario, Some(event)).await;
            let wrong = ending_problems(&scenario.expect, &found(scenario, &played));
            endings.add(wrong.is_empty());
            if !wrong.is_empty() {
                let wrong = wrong.join("\n    ");
                failures.push(format!(
                    "{}, crash after {event} of {events} events:\n    {wrong}",
                    scenario.name
                ));
            }
        }
    }
    println!("endings after a crash: {}", percent(endings));
    assert!(endings.of > 500, "{endings:?}");
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}

/// The names of all variants, as the type itself tells them.
fn variants<T: DeserializeOwned>() -> BTreeSet<String> {
    let error = serde_json::from_str::<T>("\"?\"")
        .err()
        .unwrap()
        .to_string();
    let (_, names) = error.split_once("expected one of").unwrap();
    let names = names.split('`').skip(1).step_by(2);
    names.map(str::to_owned).collect()
}

fn seen<'a>(names: impl Iterator<Item = &'a str>) -> BTreeSet<String> {
    names.map(str::to_owned).collect()
}

#[test]
fn every_reason_every_adapter_and_every_failure_of_a_model_occurs() {
    let scenarios = all();
    assert!(scenarios.len() >= 60, "{}", scenarios.len());
    let names = seen(scenarios.iter().map(|one| one.name.as_str()));
    assert_eq!(names.len(), scenarios.len(), "two scenarios have one name");

    let reasons = scenarios.iter().filter_map(|one| one.expect.reason);
    let reasons = seen(reasons.map(TerminationReason::as_str));
    assert_eq!(reasons, variants::<TerminationReason>());

    let adapters = seen(scenarios.iter().map(|one| one.adapter));
    assert_eq!(adapters, seen(themes::ADAPTERS.into_iter()));

    let turns = scenarios.iter().flat_map(|one: &Scenario| &one.script);
    let kinds = turns.filter_map(|turn| match turn.said {
        Said::Fails(kind) => Some(kind.as_str()),
        _ => None,
    });
    assert_eq!(seen(kinds), variants::<ModelErrorKind>());
}
