//! Programs of users: made of modules, and given to agents.

use std::sync::Arc;

use enact::model::{ModelErrorKind, Price, Prices, ScriptedModel, Usage, call, fail, say};
use enact::module::{Completed, Forward};
use enact::predictor::SavedModule;
use enact::{
    Completion, ErrorKind, Module, ModuleTool, Predict, ReAct, Run, Signature, Tools, Values,
    values,
};
use serde_json::json;

use super::search_and_add;

/// Drafts, then shortens.
#[derive(Clone)]
struct Brief {
    draft: Predict,
    shorten: Predict,
    signature: Signature,
}

impl Brief {
    fn new(model: &Arc<ScriptedModel>) -> Self {
        let part = |signature: &str| {
            let part = Predict::builder(signature).model(model.clone());
            part.build().unwrap()
        };
        Self {
            draft: part("topic -> text"),
            shorten: part("text -> short"),
            signature: Signature::parse("topic -> short").unwrap(),
        }
    }
}

impl Module for Brief {
    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn forward(&self, inputs: Values) -> Forward<'_> {
        Box::pin(async move {
            let draft = self.draft.forward(inputs).await?;
            let short = self.shorten.forward(draft.outputs.clone()).await?;
            Ok(short.after(&draft))
        })
    }

    fn kind(&self) -> &str {
        "brief"
    }

    fn parts(&self) -> Vec<(&str, &dyn Module)> {
        vec![("draft", &self.draft), ("shorten", &self.shorten)]
    }

    fn parts_mut(&mut self) -> Vec<(&str, &mut dyn Module)> {
        vec![("draft", &mut self.draft), ("shorten", &mut self.shorten)]
    }
}

fn scripted(script: impl IntoIterator<Item = enact::model::ScriptStep>) -> Arc<ScriptedModel> {
    Arc::new(ScriptedModel::new(script))
}

/// What an extraction of this agent takes and gives.
fn extracting(agent: &str) -> Signature {
    Signature::parse(agent).unwrap().with_trajectory().unwrap()
}

#[tokio::test]
async fn a_program_names_tunes_saves_and_loads_the_predictors_of_its_parts() {
    let model = scripted([say("A long text."), say("Text.")]);
    let mut brief = Brief::new(&model);
    let names: Vec<String> = brief
        .predictors()
        .into_iter()
        .map(|(name, _)| name)
        .collect();
    assert_eq!(names, ["draft.predict", "shorten.predict"]);
    let shorten = brief.predictor_mut("shorten.predict").unwrap();
    shorten.set_instructions("Ten words at most.");
    assert!(brief.predictor_mut("shorten.step").is_none());
    assert!(brief.predictor_mut("lengthen.predict").is_none());

    let text = serde_json::to_string(&brief.save()).unwrap();
    let saved: SavedModule = serde_json::from_str(&text).unwrap();
    let mut other = Brief::new(&model);
    other.load(&saved).unwrap();
    assert_eq!(other.save(), saved);
    let done = other.forward(values! { topic: "Rust" }).await.unwrap();
    assert_eq!(done.outputs["short"], "Text.");
    assert_eq!(done.usage.requests, 2);
    let sent = format!("{:?}", model.requests()[1].prompt);
    assert!(sent.contains("Ten words at most."), "{sent}");
}

#[test]
fn saved_state_that_does_not_fit_a_part_changes_nothing() {
    let model = scripted([]);
    let mut brief = Brief::new(&model);
    let draft = brief.predictor_mut("draft.predict").unwrap();
    draft.set_instructions("Tuned.");
    let mut saved = brief.save();
    let other = Predict::builder("text -> long").build().unwrap();
    saved.parts.insert("shorten".to_owned(), other.save());
    let mut fresh = Brief::new(&model);
    let before = fresh.save();
    let error = fresh.load(&saved).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::State);
    assert!(error.to_string().contains("short"), "{error}");
    assert_eq!(fresh.save(), before);
    saved.parts.remove("shorten");
    let error = fresh.load(&saved).unwrap_err();
    assert!(error.to_string().contains("parts"), "{error}");
    assert_eq!(fresh.save(), before);
}

#[tokio::test]
async fn a_prediction_extracts_without_reasoning() {
    let spent = Usage::of_request(100, 10);
    let model = scripted([
        call("search", json!({"query": "x"})).costing(spent),
        call("finish", json!({})).costing(spent),
    ]);
    let asked = scripted([say("found").costing(spent)]);
    let extraction = Predict::builder(extracting("question -> answer"))
        .model(asked.clone())
        .build()
        .unwrap();
    let agent = ReAct::builder("question -> answer")
        .tools(search_and_add())
        .completion(Completion::Finish)
        .extraction(extraction)
        .model(model)
        .build()
        .unwrap();
    let done = agent.call(values! { question: "q" }).await.unwrap();
    let done = done.finished().unwrap();
    assert_eq!(done.outputs["answer"], "found");
    assert_eq!(done.reasoning(), None);
    assert_eq!(done.usage, {
        let mut all = spent;
        all += spent;
        all += spent;
        all
    });
    let sent = format!("{:?}", asked.requests()[0].prompt);
    assert!(sent.contains("about x"), "it sees the trajectory: {sent}");
    let names: Vec<String> = agent
        .predictors()
        .into_iter()
        .map(|(name, _)| name)
        .collect();
    assert_eq!(
        names,
        [
            "step",
            "summarise",
            "judge",
            "condense",
            "extraction.predict"
        ]
    );
}

/// Gives its answer for a price.
#[derive(Clone)]
struct Priced(Signature, f64);

impl Module for Priced {
    fn signature(&self) -> &Signature {
        &self.0
    }

    fn forward(&self, _: Values) -> Forward<'_> {
        let mut done = Completed::new(values! { answer: "found" });
        done.usage = Usage::of_request(5_000, 500);
        done.cost = self.1;
        Box::pin(std::future::ready(Ok(done)))
    }
}

#[tokio::test]
async fn a_run_pays_for_a_program_what_it_cost() {
    let spent = Usage::of_request(100, 10);
    // One per token. A program that knows no price is priced like the model of the agent.
    for (known, expected) in [(0.25, 220.25), (0.0, 220.0 + 5_500.0)] {
        let price = Price {
            input: 1_000_000.0,
            cached_input: None,
            output: 1_000_000.0,
        };
        let agent = ReAct::builder("question -> answer")
            .tools(search_and_add())
            .completion(Completion::Finish)
            .extraction(Priced(extracting("question -> answer"), known))
            .prices(Prices::new().with("scripted", price))
            .model(scripted([
                call("search", json!({"query": "x"})).costing(spent),
                call("finish", json!({})).costing(spent),
            ]))
            .build()
            .unwrap();
        let done = agent.call(values! { question: "q" }).await.unwrap();
        let done = done.finished().unwrap();
        assert_eq!(done.run().cost(), Some(expected));
        let text = serde_json::to_string(done.run()).unwrap();
        let back: Run = serde_json::from_str(&text).unwrap();
        assert_eq!(back.cost(), Some(expected));
    }
}

/// Gives what it counts.
#[derive(Clone)]
struct Counting(Signature);

impl Module for Counting {
    fn signature(&self) -> &Signature {
        &self.0
    }

    fn forward(&self, inputs: Values) -> Forward<'_> {
        let transcript = inputs["transcript"].as_str().unwrap_or_default();
        let summary = format!("{} lines were said", transcript.lines().count());
        Box::pin(async move { Ok(Completed::new(values! { summary: summary })) })
    }
}

#[tokio::test]
async fn a_program_summarises_what_no_longer_fits() {
    let model = scripted([
        call("search", json!({"query": "x"})),
        fail(ModelErrorKind::ContextLength, "too long"),
        call("submit", json!({"answer": "a"})),
    ]);
    let counting = Counting(Signature::parse("task, transcript -> summary").unwrap());
    let agent = ReAct::builder("question -> answer")
        .tools(search_and_add())
        .compaction(counting)
        .model(model.clone())
        .build()
        .unwrap();
    let done = agent.call(values! { question: "q" }).await.unwrap();
    assert_eq!(done.finished().unwrap().outputs["answer"], "a");
    let sent = format!("{:?}", model.requests()[2].prompt);
    assert!(sent.contains("lines were said"), "{sent}");
    assert!(!sent.contains("about x"), "{sent}");
}

#[tokio::test]
async fn an_extraction_that_fails_leaves_a_run_that_can_be_resumed() {
    let model = scripted([call("finish", json!({}))]);
    let asked = scripted([fail(ModelErrorKind::RateLimit, "not now"), say("found")]);
    let extraction = Predict::builder(extracting("question -> answer")).model(asked);
    let agent = ReAct::builder("question -> answer")
        .completion(Completion::Finish)
        .extraction(extraction.build().unwrap())
        .model(model)
        .build()
        .unwrap();
    let error = agent.call(values! { question: "q" }).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Model(ModelErrorKind::RateLimit));
    let run = error.into_run().unwrap();
    let done = agent.resume(run).await.unwrap().finished().unwrap();
    assert_eq!(done.outputs["answer"], "found");
}

#[test]
fn clones_of_an_agent_are_tuned_apart() {
    let extraction = Predict::builder(extracting("question -> answer"))
        .build()
        .unwrap();
    let agent = ReAct::builder("question -> answer").extraction(extraction);
    let agent = agent.build().unwrap();
    let mut clone = agent.clone();
    let before = agent.save();
    let inner = clone.predictor_mut("extraction.predict").unwrap();
    inner.set_instructions("Only this one.");
    assert_eq!(agent.save(), before);
    assert_ne!(clone.save(), before);
}

#[tokio::test]
async fn a_program_is_a_tool() {
    let inner = scripted([
        say("Long.").costing(Usage::of_request(5, 1)),
        say("Short.").costing(Usage::of_request(5, 1)),
        fail(ModelErrorKind::Server, "down"),
    ]);
    let brief = ModuleTool::new(Brief::new(&inner), "brief", "Writes a brief text.");
    let model = scripted([
        call("brief", json!({"topic": "Rust"})),
        call("brief", json!({"topic": "C"})),
        call("submit", json!({"answer": "a"})),
    ]);
    let agent = ReAct::builder("question -> answer")
        .tools(Tools::new().with(brief))
        .model(model)
        .build()
        .unwrap();
    let done = agent.call(values! { question: "q" }).await.unwrap();
    let done = done.finished().unwrap();
    let steps = done.trajectory().steps().to_vec();
    assert_eq!(steps[0].observation, "Short.");
    assert!(steps[1].is_error && steps[1].observation.to_string().contains("down"));
    assert!(done.usage.input_tokens >= 10, "{:?}", done.usage);
}
