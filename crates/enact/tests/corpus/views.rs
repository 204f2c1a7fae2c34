//! What is told of a run: what must not change when a later release reads its log.

use enact::Run;
use enact::react::{Next, RunState};
use enact::run::{Event, Record};
use serde_json::{Value, json};

use super::player::{program_of, wording_of};

/// The views of a run, and what comes next after each of its records.
pub fn of(run: &Run) -> Value {
    let trajectory = run.trajectory();
    json!({
        "outputs": run.outputs(),
        "termination": run.termination(),
        "trajectory": trajectory,
        "flat": trajectory.flat(),
        "history": run.history(),
        "questions": run.questions(),
        "open_questions": run.open_questions(),
        "usage": run.usage(),
        "execution_time_ms": run.execution_time().as_millis() as u64,
        "next": (1..=run.records().len()).map(|length| next(run, length)).collect::<Vec<_>>(),
    })
}

/// What a process does next that finds so many records of the run.
fn next(run: &Run, length: usize) -> String {
    let records: Vec<Record> = run.records()[..length].to_vec();
    let part = Run::try_from(records).unwrap();
    let (program, wording) = (program_of(run.started()), wording_of(run.started()));
    let mut state = RunState::resume(program, wording, part).unwrap();
    match state.decide() {
        Next::Record(event) => format!("record {}", name(&event)),
        Next::Model(call) => format!("model {}", call.predictor.as_str()),
        Next::Tools(calls) => {
            let ids: Vec<String> = calls.into_iter().map(|call| call.call.id.clone()).collect();
            format!("tools {}", ids.join(" "))
        }
        Next::Human(questions) => format!("human {}", questions.len()),
        Next::Wait => "wait".to_owned(),
        Next::Condition => "condition".to_owned(),
        Next::Done => "done".to_owned(),
        next => panic!("{next:?}"),
    }
}

fn name(event: &Event) -> String {
    let event = serde_json::to_value(event).unwrap();
    event["event"].as_str().unwrap().to_owned()
}
