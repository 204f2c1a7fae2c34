//! Builders: any order of calls gives the same agent, and everything is checked once.

use std::sync::Arc;

use enact::model::{ModelOptions, Price, Prices, ScriptedModel, call};
use enact::predictor::SavedModule;
use enact::run::store::MemoryStore;
use enact::run::store::Store as _;
use enact::tool::Confirmation;
use enact::{
    AdapterChoice, Builder, Completion, Demo, ErrorKind, Module as _, Predict, ReAct, Verdict,
    values,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::search_and_add;

type Setter = fn(Builder<ReAct>) -> Builder<ReAct>;

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

/// Every setter but that of the model.
const SETTERS: [Setter; 18] = [
    |builder| builder.tools(search_and_add()),
    |builder| builder.adapter(named("xml")),
    |builder| builder.step_adapter(named("native")),
    |builder| builder.instructions("Answer like a pirate."),
    |builder| {
        let demo = Demo::new(values! { question: "demo?" }, values! { answer: "demo!" });
        builder.demos([demo])
    },
    |builder| builder.max_repairs(1),
    |builder| {
        let mut options = ModelOptions::default();
        options.max_tokens = Some(77);
        builder.options(options)
    },
    |builder| builder.completion(Completion::Finish),
    |builder| builder.confidence(),
    |builder| builder.max_iterations(3),
    |builder| builder.limits(|limits| limits.stall_threshold = 9),
    |builder| builder.rules(|rules| rules.thoughts.required = true),
    |builder| builder.thought_prompt("Which of {tools} helps with {outputs}?"),
    |builder| builder.prices(prices()),
    |builder| builder.before_call(|_| Verdict::Veto("not now".to_owned())),
    |builder| builder.ending_when(|step| step.iteration > 1),
    |builder| builder.confirmation("search", Confirmation::Always),
    |builder| builder.load(saved()),
];

/// What an agent is, as far as it can be seen: what it saves, what it asks, and what its log says.
async fn seen(setters: &[usize]) -> Result<(Value, String, Vec<Value>), String> {
    let model = Arc::new(ScriptedModel::new([
        call("search", json!({"query": "x"})).thinking("I look it up."),
        call("finish", json!({})),
    ]));
    // Whether it is played to its end is not what is compared.
    model.abandon();
    let mut builder = ReAct::builder("question -> answer");
    let half = setters.len() / 2;
    for (place, setter) in setters.iter().enumerate() {
        if place == half {
            builder = builder.model(model.clone());
        }
        builder = SETTERS[*setter](builder);
    }
    if half == setters.len() {
        builder = builder.model(model.clone());
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
        let shuffled: Vec<usize> = order.into_iter().filter(|setter| kept[*setter]).collect();
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
