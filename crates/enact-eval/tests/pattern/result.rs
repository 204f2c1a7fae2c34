//! The trace, the result and the views that the interface asks for.

use enact::model::Usage;
use enact::run::ActionKind;
use enact::tool::builtin::Files;
use enact::{Prediction, TerminationReason, Values};
use serde_json::json;

use crate::scripted::{looks, scripted, spent, submits, with_tools};
use crate::{Row, rows};

pub(crate) fn rows() -> Vec<Row> {
    let mut all = rows! { "a step of the trace":
        "iteration" => iteration,
        "thought" => thought,
        "action" => action,
        "observation" => observation,
        "timestamp" => timestamp,
        "token_usage" => token_usage,
    };
    all.extend(rows! { "the trace":
        "steps" => steps,
        "final_result" => final_result,
        "termination_reason" => termination_reason,
        "total_iterations" => total_iterations,
        "total_tokens" => total_tokens,
        "it can be written as JSON" => as_json,
    });
    all.extend(rows! { "the interface":
        "execute" => execute,
        "get_trace" => get_trace,
        "get_current_scratchpad" => get_current_scratchpad,
    });
    all.extend(rows! { "the result":
        "success" => success,
        "final_answer" => final_answer,
        "trace" => get_trace,
        "termination_reason" => termination_reason,
        "token_usage" => token_usage_of_the_result,
        "execution_time" => execution_time,
    });
    all.extend(rows! { "example usage":
        "an agent that analyses code" => code_analysis,
    });
    all
}

async fn done() -> Prediction<Values> {
    let agent = scripted([looks("oak"), looks("elm"), submits("a tree")]);
    agent.run().await
}

async fn iteration() {
    let trace = done().await.run().trace();
    let numbers: Vec<usize> = trace.steps.iter().map(|step| step.iteration).collect();
    assert_eq!(numbers, [1, 2, 3]);
}

async fn thought() {
    let trace = done().await.run().trace();
    let thoughts: Vec<&str> = trace.steps.iter().map(|step| &*step.thought).collect();
    assert_eq!(
        thoughts,
        ["I search for oak.", "I search for elm.", "Now I know."]
    );
}

async fn action() {
    let trace = done().await.run().trace();
    let first = &trace.steps[0].actions[0];
    assert_eq!(
        (first.kind, &*first.call.name),
        (ActionKind::ToolCall, "search")
    );
    let last = &trace.steps[2].actions[0];
    assert_eq!(
        (last.kind, &*last.call.name),
        (ActionKind::FinalAnswer, "submit")
    );
}

async fn observation() {
    let trace = done().await.run().trace();
    let seen = trace.steps[1].actions[0].observation.as_ref().unwrap();
    assert_eq!(seen.text(), "about elm");
}

async fn timestamp() {
    let done = done().await;
    let records = done.run().records();
    let (first, last) = (records[0].at, records[records.len() - 1].at);
    let trace = done.run().trace();
    for pair in trace.steps.windows(2) {
        assert!(first <= pair[0].timestamp && pair[0].timestamp <= pair[1].timestamp);
    }
    assert!(trace.steps[2].timestamp <= last);
}

async fn token_usage() {
    let trace = done().await.run().trace();
    assert!(trace.steps.iter().all(|step| step.token_usage == spent()));
}

async fn steps() {
    assert_eq!(done().await.run().trace().steps.len(), 3);
}

async fn final_result() {
    let trace = done().await.run().trace();
    assert_eq!(trace.final_result.unwrap()["answer"], "a tree");
}

async fn termination_reason() {
    let done = done().await;
    assert_eq!(done.termination, TerminationReason::Success);
    let trace = done.run().trace();
    assert_eq!(trace.termination_reason, Some(TerminationReason::Success));
}

async fn total_iterations() {
    assert_eq!(done().await.run().trace().total_iterations, 3);
}

fn thrice() -> Usage {
    let mut usage = spent();
    usage += spent();
    usage += spent();
    usage
}

async fn total_tokens() {
    assert_eq!(done().await.run().trace().total_tokens, thrice());
}

async fn as_json() {
    let trace = serde_json::to_value(done().await.run().trace()).unwrap();
    assert_eq!(trace["steps"][0]["iteration"], 1);
    assert_eq!(trace["steps"][0]["actions"][0]["kind"], "tool_call");
    assert_eq!(trace["termination_reason"], "success");
}

async fn execute() {
    assert_eq!(done().await.outputs["answer"], "a tree");
}

async fn get_trace() {
    let done = done().await;
    // A view: it can be taken again and again.
    assert_eq!(done.run().trace(), done.run().trace());
    assert!(done.run().trace().success);
}

async fn get_current_scratchpad() {
    let scratchpad = done().await.run().scratchpad();
    let expected = "Thought: I search for oak.\n\
                    Action: search {\"query\":\"oak\"}\n\
                    Observation: about oak\n\n\
                    Thought: I search for elm.\n\
                    Action: search {\"query\":\"elm\"}\n\
                    Observation: about elm\n\n\
                    Thought: Now I know.\n\
                    Final Answer: a tree";
    assert_eq!(scratchpad, expected);
}

async fn success() {
    assert!(done().await.success());
}

async fn final_answer() {
    assert_eq!(done().await.outputs["answer"], "a tree");
}

async fn token_usage_of_the_result() {
    assert_eq!(done().await.usage, thrice());
}

async fn execution_time() {
    let done = done().await;
    assert_eq!(done.execution_time(), done.run().execution_time());
    assert!(!done.execution_time().is_zero());
}

/// The first example of the pattern: three tools for files, 15 steps, thoughts required.
async fn code_analysis() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(
        folder.path().join("login.py"),
        "def authenticate(user):\n    ...\n",
    )
    .unwrap();
    let tools = Files::open(folder.path()).unwrap().reading_tools();
    let agent = with_tools(
        tools,
        [
            enact::model::call("list_files", json!({})).thinking("Which files are there?"),
            enact::model::call("search_files", json!({"text": "def "}))
                .thinking("Where are functions?"),
            enact::model::call("read_file", json!({"path": "login.py"}))
                .thinking("login.py handles authentication."),
            submits("authenticate, in login.py"),
        ],
    )
    .with(|agent| {
        agent
            .instructions("You are a code analysis assistant.")
            .max_iterations(15)
            .limits(|limits| limits.stall_threshold = 3)
            .rules(|rules| rules.thoughts.required = true)
    });
    let done = agent.run().await;
    assert!(done.success());
    for step in &done.run().trace().steps {
        let seen = step.actions[0].observation.as_ref().unwrap();
        assert!(!step.thought.is_empty() && !seen.is_error, "{step:?}");
    }
    let read = done.trajectory().steps()[2].observation.to_string();
    assert!(read.contains("authenticate"), "{read}");
}
