//! Whether a run is what its scenario says, and whether its trace tells all of it.

use enact::Run;
use enact::model::Usage;
use enact::run::{ActionKind, Event, PredictorName, Reading, Trace, TraceStep};
use enact_eval::Trial;
use enact_eval::criteria::{Criterion, criteria};
use enact_eval::dataset::Example;

use crate::play::{Played, shown};
use crate::scenario::{Expect, Said, Scenario};

/// The trial that an evaluation makes of a run.
pub(crate) fn trial(scenario: &Scenario, run: &Run) -> Trial {
    let example = Example {
        id: scenario.name.clone(),
        inputs: run.started().inputs.clone(),
        expected: None,
        termination: scenario.expect.reason,
    };
    Trial::of(&example, run)
}

/// The criterion of this name, as an evaluation computes it.
pub(crate) fn criterion(trials: &[Trial], name: &str) -> Criterion {
    let all = criteria(trials);
    all.into_iter().find(|one| one.name == name).unwrap()
}

/// What was found, in the form in which it was expected.
pub(crate) fn found(scenario: &Scenario, played: &Played) -> Expect {
    let run = &played.run;
    let trial = trial(scenario, run);
    let recovered = criterion(std::slice::from_ref(&trial), "error recovery").value;
    Expect {
        reason: run.termination(),
        success: run.trace().success,
        outputs: run.outputs().cloned(),
        error: played.error,
        tool_errors: trial.figures.tool_errors,
        recovers: recovered.map(|share| share == 1.0),
        observations: None,
    }
}

/// What a scenario is not as it should be.
pub(crate) fn problems(scenario: &Scenario, played: &Played) -> Vec<String> {
    let (expected, found) = (&scenario.expect, found(scenario, played));
    let mut problems = ending_problems(expected, &found);
    let mut compare = |what: &str, expected: String, found: String| {
        if expected != found {
            problems.push(format!("{what}: expected {expected}, found {found}"));
        }
    };
    compare(
        "error",
        format!("{:?}", expected.error),
        format!("{:?}", found.error),
    );
    compare(
        "tool errors",
        expected.tool_errors.to_string(),
        found.tool_errors.to_string(),
    );
    compare(
        "recovers",
        format!("{:?}", expected.recovers),
        format!("{:?}", found.recovers),
    );
    compare(
        "turns played",
        scenario.script.len().to_string(),
        played.turns.to_string(),
    );
    problems.extend(observation_problem(expected, &played.run.trace()));
    problems.extend(trace_problems(scenario, &played.run));
    problems
}

/// Whether the calls gave what they should, in order. The call that ends the run gives nothing.
fn observation_problem(expected: &Expect, trace: &Trace) -> Option<String> {
    let expected = expected.observations.as_ref()?;
    let actions = trace.steps.iter().flat_map(|step| &step.actions);
    let calls = actions.filter(|action| action.kind != ActionKind::FinalAnswer);
    let seen: Vec<String> = calls
        .map(|action| {
            action
                .observation
                .as_ref()
                .map_or("none".to_owned(), |one| one.text())
        })
        .collect();
    let is_so = seen.len() == expected.len()
        && seen
            .iter()
            .zip(expected)
            .all(|(seen, text)| seen.contains(text));
    (!is_so).then(|| format!("observations: expected {expected:?}, found {seen:?}"))
}

/// Whether a run ends as it should: for the right reason, with the right outputs.
pub(crate) fn ending_problems(expected: &Expect, found: &Expect) -> Vec<String> {
    let mut problems = Vec::new();
    if (expected.reason, expected.success) != (found.reason, found.success) {
        problems.push(format!(
            "ending: expected {:?} with success {}, found {:?} with success {}",
            expected.reason, expected.success, found.reason, found.success
        ));
    }
    if expected.outputs != found.outputs {
        let (expected, found) = (expected.outputs.as_ref(), found.outputs.as_ref());
        problems.push(format!(
            "outputs: expected {}, found {}",
            shown(expected),
            shown(found)
        ));
    }
    problems
}

/// What the trace does not tell, or tells wrongly.
fn trace_problems(scenario: &Scenario, run: &Run) -> Vec<String> {
    let trace = run.trace();
    let mut problems = Vec::new();
    let stepped = run
        .records()
        .iter()
        .filter_map(|record| match &record.event {
            Event::Replied(replied) if replied.stepped().is_some() => Some((record.at, replied)),
            _ => None,
        });
    let stepped: Vec<_> = stepped.collect();
    if trace.steps.len() != stepped.len() || trace.total_iterations != stepped.len() {
        problems.push(format!(
            "trace: {} steps of {}",
            trace.steps.len(),
            stepped.len()
        ));
    }
    for (number, (step, (at, stepped))) in (1..).zip(trace.steps.iter().zip(&stepped)) {
        let is_over = number < trace.steps.len() || run.termination().is_some();
        let lacks = lacks(step, is_over);
        let is_in_place = step.iteration == number
            && step.timestamp == *at
            && step.actions.len() == stepped.stepped().map_or(0, |step| step.calls.len())
            && step.attempts >= stepped.reply.attempts as usize;
        if !lacks.is_empty() || !is_in_place {
            problems.push(format!("trace: step {number} lacks {lacks:?}: {step:?}"));
        }
    }
    problems.extend(thought_problem(scenario, &trace));
    let mut sum = beside_steps(run);
    for step in &trace.steps {
        sum += step.token_usage;
    }
    if trace.total_tokens != sum {
        problems.push(format!(
            "trace: {:?} in total, {sum:?} in sum",
            trace.total_tokens
        ));
    }
    let is_told = trace.termination_reason == run.termination()
        && trace.final_result.as_ref() == run.outputs()
        && trace.execution_time == run.execution_time();
    if !is_told {
        problems.push("trace: its ending is not that of the run".to_owned());
    }
    problems
}

/// What a step should have and has not.
fn lacks(step: &TraceStep, is_over: bool) -> Vec<&'static str> {
    let usage = step.token_usage;
    let mut lacks = Vec::new();
    let mut need = |has: bool, what| {
        if !has {
            lacks.push(what);
        }
    };
    need(usage.input_tokens + usage.output_tokens > 0, "usage");
    need(!step.duration.is_zero(), "a duration");
    need(step.attempts > 0, "attempts");
    need(
        !step.actions.is_empty() || !step.notices.is_empty() || !step.thought.is_empty(),
        "an action",
    );
    for action in &step.actions {
        need(!action.call.name.is_empty(), "the name of a tool");
        need(!action.call.id.is_empty(), "the id of a call");
        need(action.observation.is_some() || !is_over, "an observation");
    }
    lacks
}

/// Whether the thoughts of the trace are those of the script, in order.
fn thought_problem(scenario: &Scenario, trace: &Trace) -> Option<String> {
    let mut scripted = scenario.script.iter().filter_map(|turn| match &turn.said {
        Said::Step { thought, .. } | Said::Text(thought) => Some(thought.as_str()),
        _ => None,
    });
    let mut thoughts = trace.steps.iter().map(|step| step.thought.as_str());
    let unknown = thoughts.find(|thought| !scripted.any(|known| known.contains(thought)));
    unknown.map(|thought| format!("trace: no turn of the script thinks `{thought}`"))
}

/// What a run spent beside its steps: on its answer, on summaries, in tools, and on replies after
/// its last step.
fn beside_steps(run: &Run) -> Usage {
    let mut usage = Usage::default();
    let mut since_step = Usage::default();
    for event in run.events() {
        match event {
            Event::Replied(replied) => match (&replied.read, replied.predictor) {
                (Reading::Step(_), _) => since_step = Usage::default(),
                (Reading::Unreadable { .. }, PredictorName::Step) => {
                    since_step += replied.reply.usage;
                }
                (Reading::Condensed { .. } | Reading::Judged { .. }, _) => {}
                _ => usage += replied.reply.usage,
            },
            Event::ToolFinished(finished) => usage += finished.usage,
            _ => {}
        }
    }
    usage += since_step;
    usage
}
