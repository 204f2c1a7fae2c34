//! How the pattern wants an agent to behave, as far as a library can see to it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use enact::model::{ModelErrorKind, ScriptStep, call, fail, say};
use enact::run::{Event, Notice, Run};
use enact::{TerminationReason, Tools};
use serde_json::json;

use crate::scripted::{answers, failing, gives, looks, scripted, search, submits, with_tools};
use crate::{Row, rows};

pub(crate) fn rows() -> Vec<Row> {
    let mut all = rows! { "reasoning quality":
        "thoughts progress" => thoughts_progress,
        "thoughts can refer to prior observations" => prior_observations,
        "thoughts justify actions" => thoughts_justify,
    };
    all.extend(rows! { "action selection":
        "simpler tools can be asked for" => simpler_tools,
        "failed actions are not repeated unchanged" => repeated_failures,
        "sufficient information is recognised" => sufficient_information,
    });
    all.extend(rows! { "error recovery":
        "a thought analyses the error" => analysed_errors,
        "alternatives are tried" => alternatives,
        "unrecoverable errors end gracefully" => graceful_end,
    });
    all.extend(rows! { "context efficiency":
        "no redundant calls" => redundant_calls,
        "prior observations are referred to" => known_answers,
        "lengthy chains are summarised" => summarised,
    });
    all
}

fn notices(run: &Run) -> Vec<(Notice, String)> {
    let events = run.events().filter_map(|event| match event {
        Event::Noticed { about, text } => Some((*about, text.clone())),
        _ => None,
    });
    events.collect()
}

async fn thoughts_progress() {
    let stuck = || looks("oak").thinking("The same thought as ever.");
    let agent = scripted([stuck(), stuck(), looks("elm"), submits("a tree")])
        .with(|agent| agent.rules(|rules| rules.thoughts.new = true));
    agent.run().await;
    assert!(agent.told(2).contains("same as the last one"));
}

async fn prior_observations() {
    let agent = scripted([
        looks("oak"),
        looks("elm").thinking("After about oak, the elm."),
        submits("a tree"),
    ]);
    agent.run().await;
    // Each thought is made with all observations before it in sight.
    assert!(agent.prompt(1).contains("about oak"));
    assert!(agent.prompt(2).contains("about oak") && agent.prompt(2).contains("about elm"));
}

async fn thoughts_justify() {
    let agent = scripted([
        looks("oak").thinking("I will use the tool."),
        looks("oak"),
        submits("a tree"),
    ])
    .with(|agent| agent.rules(|rules| rules.thoughts.substantive = true));
    agent.run().await;
    assert!(agent.told(1).contains("why this call comes next"));
}

async fn simpler_tools() {
    let agent = with_tools(
        Tools::new().with(search()).with(failing("archive")),
        [submits("a tree")],
    )
    .with(|agent| {
        let prompt = "Take the simplest of {tools} that will do.";
        agent.thought_prompt(prompt)
    });
    agent.run().await;
    let asked = "Take the simplest of `search`, `archive` that will do.";
    assert!(agent.prompt(0).contains(asked));
}

async fn repeated_failures() {
    let agent = with_tools(
        Tools::new().with(failing("search")),
        [looks("oak"), looks("oak"), submits("a tree")],
    );
    let done = agent.run().await;
    let told = notices(done.run());
    assert_eq!(told[0].0, Notice::RepeatedFailure);
    assert!(agent.told(2).contains("Use another tool"));
}

async fn sufficient_information() {
    // Who asks for what is known is told that it is known; who has few steps left, to answer.
    let agent = scripted([looks("oak"), looks("oak"), submits("a tree")])
        .with(|agent| agent.max_iterations(3));
    let done = agent.run().await;
    let about: Vec<Notice> = notices(done.run())
        .into_iter()
        .map(|(about, _)| about)
        .collect();
    assert_eq!(about, [Notice::RepeatedCall, Notice::FewSteps]);
    assert!(
        agent
            .told(2)
            .contains("Come to the answer with what you know")
    );
}

fn archive_fails() -> Tools {
    Tools::new().with(failing("archive")).with(search())
}

fn tries_the_archive() -> ScriptStep {
    call("archive", json!({"query": "oak"})).thinking("The archive may have it.")
}

async fn analysed_errors() {
    let thought = "The index of the archive is locked, so I search.";
    let agent = with_tools(
        archive_fails(),
        [
            tries_the_archive(),
            looks("oak").thinking(thought),
            submits("a tree"),
        ],
    );
    let done = agent.run().await;
    // The thought after an error is made with the error in sight.
    let error = "Error: Error executing archive: the index is locked";
    assert_eq!(agent.told(1), error);
    assert_eq!(done.run().trace().steps[1].thought, thought);
}

async fn alternatives() {
    let agent = with_tools(
        archive_fails(),
        [tries_the_archive(), looks("oak"), submits("a tree")],
    );
    let done = agent.run().await;
    assert!(done.success());
    let errors: Vec<bool> = done
        .trajectory()
        .steps()
        .iter()
        .map(|one| one.is_error)
        .collect();
    assert_eq!(errors, [true, false, false]);
}

async fn graceful_end() {
    let agent = with_tools(
        Tools::new().with(failing("search")),
        [
            looks("oak"),
            looks("elm").thinking("Once more, else it cannot be done."),
            answers("The index is locked."),
        ],
    )
    .with(|agent| agent.rules(|rules| rules.failure_phrases = vec!["cannot be done".to_owned()]));
    let done = agent.run().await;
    assert_eq!(done.termination, TerminationReason::Failure);
    assert_eq!(done.outputs["answer"], "The index is locked.");
}

/// A search that counts, and is asked for the same twice.
async fn asked_twice() -> (usize, Run) {
    let count = Arc::new(AtomicUsize::new(0));
    let counted = count.clone();
    let tool = gives("search", move |_| {
        counted.fetch_add(1, Ordering::SeqCst);
        Ok("about oak".into())
    });
    let agent = with_tools(
        Tools::new().with(tool.read_only()),
        [looks("oak"), looks("oak"), submits("a tree")],
    );
    let done = agent.run().await;
    assert!(agent.told(2).contains("was not run again"));
    (count.load(Ordering::SeqCst), done.run().clone())
}

async fn redundant_calls() {
    assert_eq!(asked_twice().await.0, 1);
}

async fn known_answers() {
    let (_, run) = asked_twice().await;
    let trace = run.trace();
    let again = &trace.steps[1].actions[0];
    assert!(again.from_record);
    assert_eq!(again.observation, trace.steps[0].actions[0].observation);
}

async fn summarised() {
    let agent = scripted([
        looks("oak"),
        looks("elm"),
        looks("ash"),
        fail(ModelErrorKind::ContextLength, "too long"),
        say("Oak was looked for."),
        submits("a tree"),
    ]);
    let done = agent.run().await;
    assert!(done.success());
    let shown = agent.prompt(5);
    assert!(shown.contains("Oak was looked for.") && !shown.contains("about oak"));
    // The record keeps everything.
    assert_eq!(done.trajectory().steps()[0].observation, "about oak");
}
