//! What models beside the loop do, the words of the classic text, and how sure a model is.

use enact::adapter::{Tagged, Tags};
use enact::model::{ScriptStep, ScriptedModel, call, say};
use enact::run::ThoughtsInContext;
use enact::{AgentTool, HandOver, ReAct, TerminationReason, Tools};
use serde_json::json;

use crate::scripted::{answers, gives, looks, scripted, submits, with_tools};
use crate::{Row, rows};

pub(crate) fn rows() -> Vec<Row> {
    let mut all = rows! { "early termination by a model":
        "success detection by a model" => success_by_a_model,
        "failure detection by a model" => failure_by_a_model,
    };
    all.extend(rows! { "observation processing by a model":
        "summarisation of large outputs" => summarisation,
    });
    all.extend(rows! { "configuration of the text":
        "thought_tag" => thought_tag,
        "action_tag" => action_tag,
        "observation_tag" => observation_tag,
        "enable_scratchpad" => enable_scratchpad,
    });
    all.extend(rows! { "open questions":
        "thoughts in later prompts" => enable_scratchpad,
        "a confidence score" => confidence,
        "hand-over by name" => hand_over,
    });
    all
}

fn judged(standing: &str) -> ScriptStep {
    say(json!({"why": "So it stands.", "standing": standing}).to_string())
}

async fn ending_by_a_model(standing: &str) -> TerminationReason {
    let agent = scripted([looks("oak"), judged(standing), answers("a tree")])
        .with(|agent| agent.rules(|rules| rules.judges = true));
    let done = agent.run().await;
    assert_eq!(done.outputs["answer"], "a tree");
    done.termination
}

async fn success_by_a_model() {
    assert_eq!(ending_by_a_model("done").await, TerminationReason::Success);
}

async fn failure_by_a_model() {
    let reason = ending_by_a_model("impossible").await;
    assert_eq!(reason, TerminationReason::Failure);
}

async fn summarisation() {
    let long = gives("search", |_| Ok("oak ".repeat(5_000).into()));
    let script = [looks("oak"), say("Oaks, many times."), submits("a tree")];
    let agent = with_tools(Tools::new().with(long), script)
        .with(|agent| agent.rules(|rules| rules.condenses = true));
    let done = agent.run().await;
    assert!(
        agent.told(2).starts_with("Oaks, many times."),
        "{}",
        agent.told(2)
    );
    let whole = done.trajectory().steps()[0].observation.clone();
    assert_eq!(whole.as_str().unwrap().len(), 20_000);
}

/// The prompts of an agent with words of its own.
async fn tagged() -> (String, String) {
    let tags = Tags {
        thought: "Idea".to_owned(),
        action: "Do".to_owned(),
        observation: "Seen".to_owned(),
    };
    let script = [
        say("Idea: I look.\nDo: search(query=\"oak\")"),
        say("Idea: I know.\nDo: submit(answer=\"a tree\")"),
    ];
    let agent = scripted(script).with(|agent| agent.adapter(Tagged::new(tags)));
    let done = agent.run().await;
    assert!(done.success());
    assert_eq!(done.run().trace().steps[0].thought, "I look.");
    (agent.prompt(0), agent.prompt(1))
}

async fn thought_tag() {
    assert!(tagged().await.1.contains("Idea: I look."));
}

async fn action_tag() {
    assert!(tagged().await.1.contains("Do: search(query=\"oak\")"));
}

async fn observation_tag() {
    let (first, second) = tagged().await;
    assert!(first.contains("Seen:"));
    assert!(second.contains("Seen: about oak"));
}

async fn enable_scratchpad() {
    for (kept, is_shown) in [
        (ThoughtsInContext::All, true),
        (ThoughtsInContext::None, false),
    ] {
        let agent = scripted([looks("oak"), submits("a tree")])
            .with(|agent| agent.rules(|rules| rules.thoughts_in_context = kept));
        let done = agent.run().await;
        assert_eq!(agent.prompt(1).contains("I search for oak."), is_shown);
        // People can read it in any case.
        assert!(
            done.run()
                .scratchpad()
                .contains("Thought: I search for oak.")
        );
    }
}

async fn confidence() {
    let sure = call("submit", json!({"answer": "a tree", "confidence": 0.8}));
    let agent = scripted([sure]).with(|agent| agent.confidence());
    assert_eq!(agent.run().await.confidence(), Some(0.8));
}

async fn hand_over() {
    let inner = ReAct::builder("topic -> summary")
        .model(ScriptedModel::new([call(
            "submit",
            json!({"summary": "a tree"}),
        )]))
        .build()
        .unwrap();
    let team = HandOver::among([AgentTool::new(inner, "botanist", "Knows trees.")]).unwrap();
    let to = json!({"agent": "botanist", "inputs": {"topic": "oak"}});
    let agent = with_tools(
        Tools::new().with(team),
        [call("hand_over", to), submits("a tree")],
    );
    let done = agent.run().await;
    assert_eq!(done.trajectory().steps()[0].observation, "a tree");
}
