//! Each criterion on runs whose true values are known.

use enact::TerminationReason;
use enact_eval::criteria::{Criterion, criteria};
use enact_eval::figures::Figures;
use enact_eval::{Share, Status, Trial};
use serde_json::{Value, json};

use crate::log::{Log, example};

fn one(trials: &[Trial], name: &str) -> Criterion {
    let all = criteria(trials);
    all.into_iter().find(|one| one.name == name).unwrap()
}

fn share(hits: u64, of: u64) -> Share {
    Share { hits, of }
}

#[test]
fn reasoning_coherence_counts_steps_whose_thought_connects_to_the_call() {
    let run = Log::new()
        .step("I evaluate the expression.") // the description
        .step("Now for the calculator.") // the name
        .step("That makes 6 times 7.") // the arguments
        .step("The weather is fine.") // something else
        .step("") // nothing
        .nudge() // no action
        .submit() // no tool
        .finished("success");
    let trial = run.trial();
    assert_eq!(trial.figures.connected, share(3, 6));
    let criterion = one(&[trial], "reasoning coherence");
    assert_eq!(criterion.value, Some(0.5));
    assert_eq!(criterion.is_met, Some(false));
    assert_eq!(criterion.basis, "3 of 6 steps that act");

    // Nine of ten over two runs is enough.
    let nine = (0..9).fold(Log::new(), |log, _| log.step("The calculator will do."));
    let trials = [nine.trial(), Log::new().step("Well, well.").trial()];
    let criterion = one(&trials, "reasoning coherence");
    assert_eq!((criterion.value, criterion.is_met), (Some(0.9), Some(true)));

    // Reasoning in the provider's own channel is a thought.
    let reasoned = Log::new().step("").change(1, |record| {
        record["reply"]["reasoning"] = "The calculator will do.".into();
    });
    assert_eq!(reasoned.trial().figures.connected, share(1, 1));

    // Who takes no step has no thought to judge.
    let criterion = one(&[Log::new().submit().trial()], "reasoning coherence");
    assert_eq!((criterion.value, criterion.is_met), (None, None));
}

#[test]
fn termination_accuracy_counts_runs_that_ended_as_expected() {
    let trial = |expected: Option<TerminationReason>, log: Log| {
        let mut example = example("e");
        example.termination = expected;
        Trial::of(&example, &log.run())
    };
    let success = Some(TerminationReason::Success);
    let limit = Some(TerminationReason::MaxIterations);
    let trials = [
        trial(success, Log::new().submit().finished("success")),
        trial(limit, Log::new().submit().finished("max_iterations")),
        trial(limit, Log::new().submit().finished("success")),
        // Not over: not as expected.
        trial(success, Log::new().calls("I calculate.").asked()),
        // Nothing is expected: not counted.
        trial(None, Log::new().submit().finished("failure")),
    ];
    let criterion = one(&trials, "termination accuracy");
    assert_eq!(
        (criterion.value, criterion.is_met),
        (Some(0.5), Some(false))
    );
    assert_eq!(criterion.basis, "2 of 4 runs whose ending is expected");
    let criterion = one(&trials[..2], "termination accuracy");
    assert_eq!((criterion.value, criterion.is_met), (Some(1.0), Some(true)));
    let criterion = one(&trials[4..], "termination accuracy");
    assert_eq!((criterion.value, criterion.is_met), (None, None));
}

#[test]
fn trace_completeness_misses_whatever_is_missing() {
    let whole = || {
        Log::new()
            .step("I calculate it.")
            .submit()
            .finished("success")
    };
    assert_eq!(whole().trial().figures.complete, share(2, 2));
    type Change = fn(&mut Value);
    let changes: [(&str, usize, Change); 7] = [
        ("no usage", 1, |one| {
            one["reply"]["usage"] = json!({"requests": 1})
        }),
        ("no duration", 1, |one| one["duration_ns"] = json!(0)),
        ("no action", 1, |one| {
            one["read"]["step"]["calls"] = json!([])
        }),
        ("no name", 1, |one| {
            one["read"]["step"]["calls"][0]["name"] = json!("")
        }),
        ("no observation", 2, |one| one["call_id"] = json!("another")),
        ("out of time", 2, |one| {
            one["at"] = json!("2025-01-01T00:00:00Z")
        }),
        ("no outputs", 3, |one| {
            one["read"]["step"]["calls"][0]["args"] = json!({})
        }),
    ];
    for (missing, index, change) in changes {
        let trial = whole().change(index, change).trial();
        assert_eq!(trial.figures.complete, share(1, 2), "{missing}");
        let criterion = one(&[trial], "trace completeness");
        assert_eq!(criterion.is_met, Some(false), "{missing}");
    }
    assert_eq!(
        one(&[whole().trial()], "trace completeness").is_met,
        Some(true)
    );

    // A refused call has its answer in the step itself.
    let refused = Log::new().calls("I calculate it.").change(1, |record| {
        record["read"]["step"]["calls"][0]["refusal"] = "unknown".into();
    });
    assert_eq!(refused.trial().figures.complete, share(1, 1));
    // A step that waits is not over; in a run that is over, it should be.
    let waits = Log::new().calls("I calculate it.").asked();
    assert_eq!(waits.trial().figures.complete, share(0, 0));
    let ended = Log::new().calls("I calculate it.").with(json!({
        "event": "failed", "reason": "cancelled", "message": "cancelled",
    }));
    assert_eq!(ended.trial().figures.complete, share(0, 1));
}

#[test]
fn error_recovery_counts_runs_that_succeeded_after_a_tool_error() {
    let trials = [
        Log::new()
            .failing_step()
            .submit()
            .finished("success")
            .trial(),
        Log::new()
            .failing_step()
            .failing_step()
            .submit()
            .finished("success")
            .trial(),
        Log::new().failing_step().finished("max_iterations").trial(),
        // Without an error there is nothing to recover from.
        Log::new()
            .step("I calculate.")
            .submit()
            .finished("success")
            .trial(),
        // Not over: nobody knows.
        Log::new()
            .failing_step()
            .calls("I calculate.")
            .asked()
            .trial(),
    ];
    let errors: Vec<u64> = trials
        .iter()
        .map(|trial| trial.figures.tool_errors)
        .collect();
    assert_eq!(errors, [1, 2, 1, 0, 1]);
    let criterion = one(&trials, "error recovery");
    assert_eq!(criterion.basis, "2 of 3 runs with a tool error");
    assert_eq!(criterion.is_met, Some(false));
    assert_eq!(one(&trials[..2], "error recovery").is_met, Some(true));
    assert_eq!(one(&trials[3..], "error recovery").value, None);

    // A call that could not run is an error; an output that did not fit is not a tool's.
    let refused = |name: &str| {
        let log = Log::new().calls("I calculate it.").change(1, |record| {
            record["read"]["step"]["calls"][0]["refusal"] = "does not fit".into();
            record["read"]["step"]["calls"][0]["name"] = name.into();
        });
        log.trial().figures.tool_errors
    };
    assert_eq!((refused("calculator"), refused("submit")), (1, 0));
}

#[test]
fn iteration_efficiency_is_the_mean_of_steps_taken_by_steps_allowed() {
    let taken = |steps: usize| {
        let log = (1..steps).fold(Log::new(), |log, _| log.step("I calculate it."));
        log.submit().finished("success").trial()
    };
    let trials = [taken(2), taken(5), taken(10)];
    let efforts: Vec<_> = trials.iter().map(|trial| trial.figures.effort()).collect();
    assert_eq!(efforts, [Some(0.2), Some(0.5), Some(1.0)]);
    let criterion = one(&trials, "iteration efficiency");
    assert!((criterion.value.unwrap() - 17.0 / 30.0).abs() < 1e-12);
    assert_eq!(criterion.is_met, Some(false));
    assert!(criterion.basis.contains("1 of 3 runs below 50 %"));
    // Half of the steps is not below half of them.
    assert_eq!(
        one(&trials[1..2], "iteration efficiency").is_met,
        Some(false)
    );
    assert_eq!(one(&trials[..1], "iteration efficiency").is_met, Some(true));
    // Who is not over is not counted.
    let waits = Log::new().calls("I calculate.").asked().trial();
    assert_eq!(one(&[waits], "iteration efficiency").value, None);
}

#[test]
fn the_time_in_which_nobody_worked_does_not_count() {
    let log = Log::new()
        .step("I calculate it.")
        .submit()
        .finished("success");
    let figures = Figures::of(&log.run());
    assert_eq!(figures.seconds, 1.5);
    assert_eq!((figures.steps, figures.usage.input_tokens), (2, 20));
    // The process ended after the first step, and another one went on the next day.
    let later = Log::new()
        .step("I calculate it.")
        .submit()
        .finished("success")
        .change(3, |record| record["at"] = "2026-01-02T00:00:00Z".into())
        .change(4, |record| record["at"] = "2026-01-02T00:00:01Z".into());
    assert_eq!(Figures::of(&later.run()).seconds, 1.5);
    // Two calls side by side, of which one took the time of both.
    let parallel = Log::new()
        .step("I calculate it.")
        .change(2, |record| record["duration_ns"] = 1_000_000_000_u64.into())
        .with(json!({
            "event": "tool_finished", "call_id": "other", "observation": {"value": 1},
            "duration_ns": 1_000_000_000_u64,
        }))
        .change(3, |record| record["at"] = "2026-01-01T00:00:02.25Z".into());
    assert_eq!(Figures::of(&parallel.run()).seconds, 0.5 + 1.0 + 0.25);
}

#[test]
fn how_a_trial_stands() {
    let stands = |log: Log| {
        let trial = log.trial();
        (trial.status, trial.is_over())
    };
    let submitted = || Log::new().submit();
    assert_eq!(
        stands(submitted().finished("success")),
        (Status::Finished, true)
    );
    assert_eq!(
        stands(Log::new().calls("I").asked()),
        (Status::Paused, false)
    );
    assert_eq!(stands(Log::new()), (Status::Failed, false));
    let failed = Log::new().with(json!({
        "event": "failed", "reason": "failure", "message": "no answer",
    }));
    let trial = failed.trial();
    assert_eq!((trial.status, trial.is_over()), (Status::Failed, true));
    assert_eq!(trial.fault.unwrap().message, "no answer");
}
