//! The 100 real episodes of the ReAct paper's FEVER runs, replayed: the recorded replies are the
//! model, the recorded observations are the tools.

use std::sync::{Arc, Mutex};

use enact::adapter::Tagged;
use enact::model::{Capabilities, ScriptedModel, say};
use enact::{FnTool, Outcome, ReAct, ToolError, Tools, values};
use serde_json::Value;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Text {
    #[expect(
        dead_code,
        reason = "the observation is recorded, whatever was looked for"
    )]
    text: String,
}

#[tokio::test]
async fn truth_recorded_episodes_end_as_recorded() {
    let shared = std::env::var("ENACT_SHARED")
        .unwrap_or_else(|_| concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared").to_owned());
    let path = format!("{shared}/data/fever-react-gpt3.jsonl");
    let Ok(data) = std::fs::read_to_string(&path) else {
        println!(
            "skipped: no recorded episodes at {path}; set ENACT_SHARED to the folder with them"
        );
        return;
    };
    let mut answered = 0;
    for (number, line) in data.lines().enumerate() {
        let episode: Value = serde_json::from_str(line).unwrap();
        let steps = episode["steps"].as_array().unwrap();
        let answer = episode["answer"].as_str().unwrap_or_default();
        let model = Arc::new(
            ScriptedModel::new(steps.iter().enumerate().map(|(index, step)| {
                let number = index + 1;
                let (thought, action) = (
                    step["thought"].as_str().unwrap(),
                    step["action"].as_str().unwrap(),
                );
                say(format!(
                    "Thought {number}: {thought}\nAction {number}: {action}"
                ))
            }))
            .with_capabilities(Capabilities::TEXT),
        );
        // Each tool gives the recorded observation of the step that the model is at.
        let observations: Vec<Value> = steps
            .iter()
            .map(|step| step["observation"].clone())
            .collect();
        let (observations, at) = (Arc::new(observations), Arc::new(Mutex::new(())));
        let tool = |name: &str, model: &Arc<ScriptedModel>| {
            let (observations, at, model) = (observations.clone(), at.clone(), model.clone());
            FnTool::new(name, "As recorded.", move |_: Text, _| {
                let _one_at_a_time = at.lock();
                let observation = observations[model.requests().len() - 1].clone();
                async move { Ok::<_, ToolError>(observation) }
            })
            .read_only()
            // A repeated look-up goes on to the next place.
            .volatile()
        };
        let tools = Tools::new()
            .with(tool("Search", &model))
            .with(tool("Lookup", &model));
        let agent = ReAct::builder("claim -> answer")
            .tools(tools)
            .adapter(Tagged::default())
            .max_iterations(20)
            .max_repairs(20)
            .model(model.clone())
            .build()
            .unwrap();
        let outcome = agent.call(values! { claim: episode["claim"] }).await;
        model.abandon();
        // Nobody was cut off. One agent that never got its answer across is understood here.
        let asked = model.requests().len();
        let has_finished = matches!(&outcome, Ok(Outcome::Finished(done)) if done.success());
        assert!(
            asked >= steps.len() || has_finished,
            "episode {number} ended at {asked}"
        );
        if answer.is_empty() {
            continue;
        }
        answered += 1;
        let done = outcome
            .unwrap_or_else(|error| panic!("episode {number}: {error}"))
            .finished()
            .unwrap();
        assert_eq!(done.outputs["answer"], answer, "episode {number}: {line}");
        assert!(done.success(), "episode {number}");
    }
    assert!(answered > 50, "only {answered} episodes have an answer");
    println!("{answered} episodes replayed");
}
