//! The configuration options, and what happens when the steps are used up.

use enact::run::{Limits, ThoughtRules};
use enact::{ReAct, TerminationReason, Tools};

use crate::scripted::{answers, looks, question, scripted, search, submits};
use crate::{Row, rows};

pub(crate) fn rows() -> Vec<Row> {
    let mut all = rows! { "configuration options":
        "max_iterations is 10 unless set" => ten_steps_unless_set,
        "max_iterations can be set" => steps_can_be_set,
        "max_iterations can be set for one call" => steps_can_be_set_for_one_call,
        "thought_prompt can be set" => thought_prompt,
        "require_thought" => require_thought,
        "stall_threshold is 3 unless set" => stall_threshold,
        "max_observation_tokens is 2000 unless set" => max_observation_tokens,
    };
    all.extend(rows! { "maximum iterations":
        "a final response summarises the progress" => a_final_response,
        "the response says that the limit was reached" => the_limit_is_indicated,
        "partial results are returned" => partial_results,
    });
    all
}

async fn ten_steps_unless_set() {
    assert_eq!(Limits::default().max_iterations, 10);
    let steps = (0..10).map(|number| looks(&format!("tree {number}")));
    let agent = scripted(steps.chain([answers("partly")]));
    let done = agent.run().await;
    assert_eq!(done.termination, TerminationReason::MaxIterations);
    assert_eq!(done.run().trace().total_iterations, 10);
}

async fn steps_can_be_set() {
    let agent = scripted([looks("oak"), looks("elm"), answers("partly")])
        .with(|agent| agent.max_iterations(2));
    assert_eq!(agent.run().await.run().trace().total_iterations, 2);
}

async fn steps_can_be_set_for_one_call() {
    let agent = scripted([looks("oak"), answers("partly")]);
    let call = agent.agent.call(question()).max_iterations(1);
    let done = call.await.unwrap().finished().unwrap();
    assert_eq!(done.run().trace().total_iterations, 1);
}

async fn thought_prompt() {
    // The template that the pattern proposes.
    let template = "Based on the current state of the task:\n\
                    - What do I know so far?\n\
                    - What do I still need to find out or accomplish?\n\
                    - What is the most logical next step?\n\
                    - Which tool or action would best accomplish this step?\n\n\
                    Think step by step before deciding on an action.";
    let agent = scripted([submits("a tree")]).with(|agent| agent.thought_prompt(template));
    agent.run().await;
    assert!(agent.prompt(0).contains(template));
    // A template that means nothing is told at once.
    let agent = ReAct::builder("question -> answer")
        .tools(Tools::new().with(search()))
        .thought_prompt("Think of {everything}.");
    assert!(agent.build().is_err());
}

async fn require_thought() {
    let silent = || looks("oak").thinking("");
    let agent = scripted([silent(), looks("oak"), submits("a tree")]).with(|agent| {
        agent.rules(|rules| {
            rules.thoughts = ThoughtRules {
                required: true,
                ..ThoughtRules::default()
            }
        })
    });
    let done = agent.run().await;
    assert!(agent.told(1).contains("without a thought"));
    let trace = done.run().trace();
    assert!(trace.steps.iter().all(|step| !step.thought.is_empty()));
    assert_eq!(trace.steps[0].attempts, 2);
    // It can be left to the model.
    let agent = scripted([silent(), submits("a tree")]);
    assert!(agent.run().await.success());
}

async fn stall_threshold() {
    assert_eq!(Limits::default().stall_threshold, 3);
    // Three repeats are warned of, the fourth one is the last.
    let steps = (0..5).map(|_| looks("oak"));
    let done = scripted(steps.chain([answers("partly")])).run().await;
    assert_eq!(done.termination, TerminationReason::Stalled);
    assert_eq!(done.run().trace().total_iterations, 5);
}

async fn max_observation_tokens() {
    let done = scripted([submits("a tree")]).run().await;
    assert_eq!(done.run().started().limits.max_observation_tokens, 2000);
    let agent = scripted([submits("a tree")])
        .with(|agent| agent.limits(|limits| limits.max_observation_tokens = 500));
    let done = agent.run().await;
    assert_eq!(done.run().started().limits.max_observation_tokens, 500);
}

async fn a_final_response() {
    let agent = scripted([looks("oak"), answers("It has to do with trees.")])
        .with(|agent| agent.max_iterations(1));
    let done = agent.run().await;
    assert_eq!(done.outputs["answer"], "It has to do with trees.");
    assert_eq!(done.reasoning(), Some("The search was not finished."));
    // The response is made from what was done.
    assert!(agent.prompt(1).contains("about oak"));
}

async fn the_limit_is_indicated() {
    let agent = scripted([looks("oak"), answers("partly")]).with(|agent| agent.max_iterations(1));
    let done = agent.run().await;
    assert!(!done.success());
    assert_eq!(done.termination.as_str(), "max_iterations");
}

async fn partial_results() {
    let agent = scripted([looks("oak"), answers("partly")]).with(|agent| agent.max_iterations(1));
    let done = agent.run().await;
    assert_eq!(done.trajectory().steps()[0].observation, "about oak");
    assert_eq!(done.outputs["answer"], "partly");
}
