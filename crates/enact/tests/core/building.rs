//! Builders: any order of calls gives the same agent, and everything is checked once.

use std::sync::Arc;

use enact::model::{
    ModelErrorKind, ModelOptions, Price, Prices, ScriptStep, ScriptedModel, call, fail, say,
};
use enact::predictor::SavedModule;
use enact::run::store::MemoryStore;
use enact::run::store::Store as _;
use enact::tool::Confirmation;
use enact::{
    AdapterChoice, Builder, Completion, Demo, ErrorKind, Module as _, Predict, ReAct, Signature,
    Verdict, values,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::search_and_add;

type Setter = fn(Builder<ReAct>, &Arc<ScriptedModel>) -> Builder<ReAct>;

fn named(adapter: &str) -> AdapterChoice {
    adapter.parse().unwrap()
}

fn saved() -> SavedModule {
    let mut agent = ReAct::builder("question -> answer")
        .tools(search_and_add())
        .build()
        .unwrap();
    let step = agent.predictor_mut("step").unwrap();
    step.set_instructions("Tuned: think twice.");
    agent.save()
}

fn prices() -> Prices {
    let price = Price {
        input: 1.0,
        cached_input: None,
        output: 2.0,
    };
    Prices::new().with("scripted", price)
}

/// A model that need not be asked for all of this.
fn scripted(script: impl IntoIterator<Item = ScriptStep>) -> Arc<ScriptedModel> {
    let model = Arc::new(ScriptedModel::new(script));
    model.abandon();
    model
}

fn extraction() -> Predict {
    let signature = Signature::parse("question -> answer, confidence: float").unwrap();
    Predict::builder(signature.with_trajectory().unwrap())
        .model(scripted([say(
            r#"{"answer": "extracted", "confidence": 1}"#,
        )]))
        .build()
        .unwrap()
}

fn compaction() -> Predict {
    Predict::builder("task, transcript -> summary")
        .model(scripted([say(r#"{"summary": "compacted"}"#)]))
        .build()
        .unwrap()
}

/// Every setter, by its name.
const SETTERS: [(&str, Setter); 22] = [
    ("model", |builder, model| builder.model(model.clone())),
    ("tools", |builder, _| builder.tools(search_and_add())),
    ("adapter", |builder, _| builder.adapter(named("xml"))),
    ("step_adapter", |builder, _| {
        builder.step_adapter(named("native"))
    }),
    ("instructions", |builder, _| {
        builder.instructions("Answer like a pirate.")
    }),
    ("demos", |builder, _| {
        let demo = Demo::new(values! { question: "demo?" }, values! { answer: "demo!" });
        builder.demos([demo])
    }),
    ("max_repairs", |builder, _| builder.max_repairs(1)),
    ("options", |builder, _| {
        let mut options = ModelOptions::default();
        options.max_tokens = Some(77);
        builder.options(options)
    }),
    ("completion", |builder, _| {
        builder.completion(Completion::Finish)
    }),
    ("confidence", |builder, _| builder.confidence()),
    ("max_iterations", |builder, _| builder.max_iterations(3)),
    ("limits", |builder, _| {
        builder.limits(|limits| limits.stall_threshold = 9)
    }),
    ("rules", |builder, _| {
        builder.rules(|rules| rules.thoughts.required = true)
    }),
    ("thought_prompt", |builder, _| {
        builder.thought_prompt("Which of {tools} helps with {outputs}?")
    }),
    ("prices", |builder, _| builder.prices(prices())),
    ("before_call", |builder, _| {
        builder.before_call(|call| match call.name.as_str() {
            "add" => Verdict::Veto("not now".to_owned()),
            _ => Verdict::Allow,
        })
    }),
    ("after_call", |builder, _| {
        builder.after_call(|_, mut observation| {
            observation.value = json!("changed");
            observation
        })
    }),
    ("ending_when", |builder, _| {
        builder.ending_when(|step| step.iteration > 2)
    }),
    ("confirmation", |builder, _| {
        builder.confirmation("add", Confirmation::Always)
    }),
    ("load", |builder, _| builder.load(saved())),
    ("extraction", |builder, _| builder.extraction(extraction())),
    ("compaction", |builder, _| builder.compaction(compaction())),
];

/// The setters of builders, as the source has them. The asynchronous form of a hook replaces the other
/// one, so that the last of the two counts.
fn setters_of_the_source() -> Vec<&'static str> {
    let source = include_str!("../../../enact-core/src/module/builder.rs");
    let functions = source.split("    pub fn ").skip(1);
    let setters = functions.filter_map(|function| {
        let (name, rest) = function.split_once('(')?;
        let (name, _) = name.split_once('<').unwrap_or((name, ""));
        let takes = rest.trim_start().trim_start_matches("mut ");
        let is_setter = takes.starts_with("self,") || takes.starts_with("self)");
        (is_setter && name != "build" && !name.ends_with("_async")).then_some(name)
    });
    setters.collect()
}

#[test]
fn no_setter_is_left_out() {
    let mut source = setters_of_the_source();
    let mut tried = SETTERS.map(|(name, _)| name).to_vec();
    source.sort_unstable();
    tried.sort_unstable();
    assert_eq!(tried, source);
}

/// What an agent is, as far as it can be seen: what it saves, what it asks, and what its log says.
async fn seen(setters: &[usize]) -> Result<(Value, String, Vec<Value>), String> {
    // Whether it is played to its end is not what is compared.
    let model = scripted([
        call("search", json!({"query": "x"})).thinking("I look it up."),
        fail(ModelErrorKind::ContextLength, "too long"),
        call("add", json!({"a": 1, "b": 2})).thinking("I add."),
        call("finish", json!({})),
    ]);
    let mut builder = ReAct::builder("question -> answer");
    for setter in setters {
        let (_, set) = SETTERS[*setter];
        builder = set(builder, &model);
    }
    let agent = builder.build().map_err(|error| error.to_string())?;
    let saved = serde_json::to_value(agent.save()).unwrap();
    let store = MemoryStore::new();
    let call = agent.call(values! { question: "q" }).run_id("r");
    let _ = call.store(store.clone()).await;
    let asked = format!("{:?}", model.requests());
    let run = store.load("r").await.unwrap().run;
    let events = run.events().map(|event| {
        let mut event = serde_json::to_value(event).unwrap();
        if let Some(fields) = event.as_object_mut() {
            fields.remove("duration_ns");
        }
        event
    });
    Ok((saved, asked, events.collect()))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn any_order_of_calls_gives_the_same_agent(
        (order, kept) in (
            Just((0..SETTERS.len()).collect::<Vec<_>>()).prop_shuffle(),
            proptest::collection::vec(proptest::bool::weighted(0.7), SETTERS.len()),
        )
    ) {
        // Nothing can be seen of an agent without a model.
        let is_kept = |setter: &usize| kept[*setter] || SETTERS[*setter].0 == "model";
        let shuffled: Vec<usize> = order.into_iter().filter(is_kept).collect();
        let mut sorted = shuffled.clone();
        sorted.sort_unstable();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let (one, other) = runtime.block_on(async { (seen(&sorted).await, seen(&shuffled).await) });
        prop_assert_eq!(one, other);
    }
}

#[test]
fn what_was_tuned_is_there_whatever_is_set_after_it() {
    let tuned = ReAct::builder("question -> answer").load(saved());
    let agent = tuned
        .tools(search_and_add())
        .completion(Completion::Finish)
        .confirmation("search", Confirmation::Always)
        .instructions("Something else.")
        .build()
        .unwrap();
    let (_, step) = &agent.predictors()[0];
    assert_eq!(step.signature().instructions(), "Tuned: think twice.");
}

#[tokio::test]
async fn a_prompt_for_thoughts_names_what_the_agent_has_in_the_end() {
    let model = Arc::new(ScriptedModel::new([call(
        "submit",
        json!({"answer": "a", "confidence": 1}),
    )]));
    let agent = ReAct::builder("question -> answer")
        .thought_prompt("Which of {tools} helps with {outputs}?")
        .model(model.clone())
        .tools(search_and_add())
        .confidence()
        .build()
        .unwrap();
    let done = agent.call(values! { question: "q" }).await.unwrap();
    assert_eq!(done.finished().unwrap().confidence(), Some(1.0));
    let sent = format!("{:?}", model.requests()[0].prompt);
    let wanted = "Which of `search`, `add` helps with `answer`, `confidence`?";
    assert!(sent.contains(wanted), "{sent}");
}

#[test]
fn what_does_not_fit_is_an_error_of_building() {
    let agent = || ReAct::builder("question -> answer").tools(search_and_add());
    let kind = |builder: Builder<ReAct>| builder.build().unwrap_err().kind();
    assert_eq!(kind(ReAct::builder("question ->")), ErrorKind::Signature);
    let twice = search_and_add().and(search_and_add());
    assert_eq!(kind(agent().tools(twice)), ErrorKind::Tools);
    let rule = agent().confirmation("serch", Confirmation::Always);
    assert_eq!(kind(rule), ErrorKind::Tools);
    assert_eq!(kind(agent().thought_prompt("{toolz}")), ErrorKind::Template);
    let other = Predict::builder("question -> answer").build().unwrap();
    assert_eq!(kind(agent().load(other.save())), ErrorKind::State);
    let asks_for_more = Predict::builder("question, mood -> answer")
        .build()
        .unwrap();
    let error = agent().extraction(asks_for_more).build().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Signature);
    assert!(error.to_string().contains("`mood`"), "{error}");
    let gives_less = Predict::builder("transcript -> gist").build().unwrap();
    let error = agent().compaction(gives_less).build().unwrap_err();
    assert!(
        error.to_string().contains("does not give `summary`"),
        "{error}"
    );
}
