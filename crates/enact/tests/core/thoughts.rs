//! Thoughts: whether there is one, whether it is any good, and how long prompts keep it.

use enact::model::{ScriptStep, call};
use enact::run::{ThoughtRules, ThoughtsInContext};
use enact::{ErrorKind, values};
use serde_json::json;

use super::{Played, agent, search_and_add};

fn look(query: &str) -> ScriptStep {
    call("search", json!({"query": query}))
}

fn done() -> ScriptStep {
    call("submit", json!({"answer": "a"}))
}

fn thinking(rules: ThoughtRules, script: Vec<ScriptStep>) -> Played {
    agent("question -> answer", search_and_add(), script)
        .map(|agent| agent.rules(|all| all.thoughts = rules))
}

fn last_message(played: &Played, request: usize) -> String {
    let requests = played.model.requests();
    requests[request].prompt.iter().last().unwrap().text()
}

#[tokio::test]
async fn a_call_without_a_required_thought_is_asked_for_again() {
    let rules = ThoughtRules {
        required: true,
        ..ThoughtRules::default()
    };
    let script = vec![
        look("x"),
        look("x").thinking("I know nothing of x yet, so I look it up."),
        done(),
    ];
    let played = thinking(rules, script);
    let run = played.call(values! { question: "q" }).await;
    assert!(last_message(&played, 1).contains("without a thought. `search` was not executed"));
    assert_eq!(run.trajectory().steps().len(), 2);
    let trace = run.run().trace();
    assert_eq!(trace.steps[0].attempts, 2);
    // It is asked for from the start, in one sentence, and tools are called as ever.
    let requests = played.model.requests();
    let system = requests[0].prompt.iter().next().unwrap().text();
    assert!(
        system.contains("Before each call say in plain text"),
        "{system}"
    );
    assert!(!requests[0].tools.is_empty());
}

#[tokio::test]
async fn a_required_thought_costs_one_sentence() {
    let bytes = |required| async move {
        let rules = ThoughtRules {
            required,
            ..ThoughtRules::default()
        };
        let played = thinking(rules, vec![look("x").thinking("I look x up."), done()]);
        played.call(values! { question: "q" }).await;
        played.model.requests()[1].prompt.bytes()
    };
    let (with, without) = (bytes(true).await, bytes(false).await);
    println!("the prompt of step 2: {without} bytes, with a required thought {with}");
    assert!(with - without <= 128, "{with} {without}");
}

#[tokio::test]
async fn a_poor_thought_is_told_why_and_has_to_do_in_the_end() {
    let rules = ThoughtRules {
        substantive: true,
        min_length: 10,
        new: true,
        required: true,
    };
    let poor = || look("x").thinking("I will use the tool.");
    let played = thinking(
        rules,
        vec![
            look("x").thinking("So."),
            poor(),
            look("x").thinking("x may be in the archive."),
            look("y").thinking("X may be in the archive!"),
            look("y").thinking("Now the same for y."),
            poor(),
            poor(),
            poor(),
            poor(),
            done(),
        ],
    );
    let run = played.call(values! { question: "q" }).await;
    assert!(last_message(&played, 1).contains("needs at least 10"));
    assert!(last_message(&played, 2).contains("says nothing about the task"));
    assert!(last_message(&played, 4).contains("same as the last one"));
    // Three times in a row; then the fourth is taken.
    let misread = run.run().events();
    let misread = misread.filter_map(|event| event.reply()?.problem());
    assert_eq!(misread.count(), 6);
    assert!(run.success());
}

#[tokio::test]
async fn prompts_keep_all_thoughts_the_last_or_none_and_the_log_keeps_all() {
    for (kept, seen) in [
        (ThoughtsInContext::All, [true, true, true]),
        (ThoughtsInContext::Last(1), [false, false, true]),
        (ThoughtsInContext::Last(2), [false, true, true]),
        (ThoughtsInContext::None, [false, false, false]),
    ] {
        let steps =
            ["first", "second", "third"].map(|word| look(word).thinking(format!("thought {word}")));
        let mut script = Vec::from(steps);
        script.push(done());
        let played = agent("question -> answer", search_and_add(), script)
            .map(|agent| agent.rules(|rules| rules.thoughts_in_context = kept));
        let run = played.call(values! { question: "q" }).await;
        let requests = played.model.requests();
        let prompt: Vec<String> = requests[3]
            .prompt
            .iter()
            .map(|message| message.text())
            .collect();
        let prompt = prompt.join("\n");
        for (word, is_seen) in ["first", "second", "third"].iter().zip(seen) {
            assert_eq!(
                prompt.contains(&format!("thought {word}")),
                is_seen,
                "{kept:?} {word}"
            );
            assert!(
                prompt.contains(&format!("about {word}")),
                "observations stay"
            );
        }
        let thoughts = run.trajectory();
        assert_eq!(thoughts.steps()[0].thought, "thought first");
    }
}

#[tokio::test]
async fn a_thought_prompt_is_checked_when_it_is_set() {
    let played = agent("question -> answer", search_and_add(), [done()]);
    for (wrong, told) in [
        ("", "empty"),
        ("Think of {weather}.", "`{weather}` means nothing"),
        ("Think of {tools", "not closed"),
    ] {
        let builder = played.builder.clone().thought_prompt(wrong);
        let error = builder.build().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Template);
        assert!(error.to_string().contains(told), "{error}");
    }
    let played = played.map(|agent| {
        agent.thought_prompt("What of {outputs} is known? Which of {tools} helps? {{}}")
    });
    played.call(values! { question: "q" }).await;
    let requests = played.model.requests();
    let system = requests[0].prompt.iter().next().unwrap().text();
    let said = "What of `answer` is known? Which of `search`, `add` helps? {}";
    assert!(system.ends_with(said), "{system}");
}
