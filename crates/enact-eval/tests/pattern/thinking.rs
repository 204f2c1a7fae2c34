//! Thoughts: what they should address, how they are checked, and where they are shown.

use enact::model::ScriptStep;
use enact::run::{ThoughtRules, ThoughtsInContext};

use crate::scripted::{Scripted, looks, scripted, submits};
use crate::{Row, rows};

pub(crate) fn rows() -> Vec<Row> {
    let mut all = rows! { "thought structure":
        "the current understanding" => asked_for_what_is_known,
        "what has been accomplished" => what_was_done_is_shown,
        "what is still needed" => asked_for_what_is_missing,
        "the reasoning for the next action" => asked_for_the_reason,
    };
    all.extend(rows! { "thought validation":
        "substantive reasoning" => substantive,
        "minimum length" => min_length,
        "degenerate thoughts" => degenerate,
        "it is optional" => optional,
    });
    all.extend(rows! { "thoughts in context":
        "all of them unless set" => all_thoughts,
        "only actions and observations" => no_thoughts,
    });
    all
}

fn checked(rules: ThoughtRules, script: impl IntoIterator<Item = ScriptStep>) -> Scripted {
    scripted(script).with(|agent| agent.rules(|all| all.thoughts = rules))
}

fn none() -> ThoughtRules {
    ThoughtRules::default()
}

async fn instructions() -> String {
    let rules = ThoughtRules {
        required: true,
        ..none()
    };
    let agent = checked(rules, [submits("a tree")]);
    agent.run().await;
    agent.prompt(0)
}

async fn asked_for_what_is_known() {
    assert!(
        instructions()
            .await
            .contains("say in plain text what you know")
    );
}

async fn what_was_done_is_shown() {
    let agent = scripted([looks("oak"), looks("elm"), submits("a tree")]);
    agent.run().await;
    let shown = agent.prompt(2);
    for part in [
        "I search for oak.",
        "about oak",
        "I search for elm.",
        "about elm",
    ] {
        assert!(shown.contains(part), "{part} in {shown}");
    }
}

async fn asked_for_what_is_missing() {
    assert!(instructions().await.contains("what is still missing"));
}

async fn asked_for_the_reason() {
    assert!(instructions().await.contains("why this call comes next"));
}

async fn substantive() {
    let rules = ThoughtRules {
        substantive: true,
        ..none()
    };
    let poor = looks("oak").thinking("Let me call search now.");
    let agent = checked(rules, [poor, looks("oak"), submits("a tree")]);
    let done = agent.run().await;
    assert!(agent.told(1).contains("says nothing about the task"));
    assert_eq!(done.trajectory().steps().len(), 2);
}

async fn min_length() {
    let rules = ThoughtRules {
        min_length: 12,
        ..none()
    };
    let short = looks("oak").thinking("Oak.");
    let agent = checked(rules, [short, looks("oak"), submits("a tree")]);
    agent.run().await;
    assert!(agent.told(1).contains("needs at least 12"));
}

async fn degenerate() {
    let rules = ThoughtRules {
        substantive: true,
        new: true,
        ..none()
    };
    let same = looks("elm").thinking("I search for OAK!");
    let agent = checked(
        rules,
        [
            looks("oak").thinking("I will use the tool"),
            looks("oak"),
            same,
            looks("elm"),
            submits("a tree"),
        ],
    );
    agent.run().await;
    assert!(agent.told(1).contains("says nothing about the task"));
    assert!(agent.told(3).contains("same as the last one"));
}

async fn optional() {
    let poor = looks("oak").thinking("I will use the tool");
    let agent = scripted([poor, submits("a tree")]);
    assert_eq!(agent.run().await.usage.requests, 2);
}

async fn shown_thoughts(kept: ThoughtsInContext) -> String {
    let agent = scripted([looks("oak"), submits("a tree")])
        .with(|agent| agent.rules(|rules| rules.thoughts_in_context = kept));
    let done = agent.run().await;
    // The record has them all the same.
    assert_eq!(done.trajectory().steps()[0].thought, "I search for oak.");
    agent.prompt(1)
}

async fn all_thoughts() {
    let shown = shown_thoughts(ThoughtsInContext::default()).await;
    assert!(shown.contains("I search for oak."));
}

async fn no_thoughts() {
    let shown = shown_thoughts(ThoughtsInContext::None).await;
    assert!(!shown.contains("I search for oak.") && shown.contains("about oak"));
}
