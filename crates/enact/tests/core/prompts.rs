//! The requests of a run, made again from its log.

use std::sync::Arc;

use enact::model::{ModelErrorKind, Request, ScriptStep, ScriptedModel, call, calls, fail, say};
use enact::{AdapterChoice, Completion, Demo, Outcome, ReAct, Run, Tools, values};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{failing, search, search_and_add};

/// All of a request that a model sees.
fn seen(request: &Request) -> Value {
    let messages: Vec<Value> = request
        .prompt
        .iter()
        .map(|message| serde_json::to_value(message).unwrap())
        .collect();
    json!({
        "messages": messages,
        "tools": request.tools.list(),
        "tool_choice": request.tool_choice,
        "response_format": request.response_format,
        "stop": request.stop,
        "options": request.options,
    })
}

/// A log that was written and read again.
fn kept(run: &Run) -> Run {
    serde_json::from_str(&serde_json::to_string(run).unwrap()).unwrap()
}

fn assert_same(agent: &ReAct, model: &ScriptedModel, run: &Run) {
    let asked = agent.prompts(&kept(run)).unwrap();
    let asked: Vec<Value> = asked.iter().map(|asked| seen(&asked.request)).collect();
    let sent: Vec<Value> = model.requests().iter().map(seen).collect();
    assert_eq!(asked, sent);
}

/// One reply of a model, of every kind that changes what is asked next.
fn reply() -> impl Strategy<Value = ScriptStep> {
    let text = "[a-z]{1,6}( [a-z]{1,6}){0,40}";
    prop_oneof![
        4 => text.prop_map(|query| {
            call("search", json!({"query": query})).thinking("I look it up.")
        }),
        2 => (0..9_i64).prop_map(|a| calls([
            ("add", json!({"a": a, "b": 1})),
            ("search", json!({"query": "x"})),
        ])),
        1 => Just(call("failing_tool", json!({}))),
        1 => Just(call("no_such_tool", json!({}))),
        1 => Just(call("add", json!({"a": "no number"}))),
        1 => Just(say("I am about to call a tool.")),
        1 => Just(say("")),
        2 => Just(fail(ModelErrorKind::ContextLength, "too long")),
        1 => text.prop_map(|summary| say(json!({"summary": summary}).to_string())),
        1 => Just(say(json!({"why": "w", "standing": "open"}).to_string())),
        1 => Just(call("submit", json!({"answer": 1}))),
    ]
}

#[derive(Debug, Clone)]
struct Setting {
    adapter: &'static str,
    step_adapter: Option<&'static str>,
    is_finish: bool,
    judges: bool,
    condenses: bool,
    thoughts: u32,
    token_budget: Option<u64>,
    has_demo: bool,
}

fn setting() -> impl Strategy<Value = Setting> {
    let adapters = || prop::sample::select(vec!["auto", "native", "json", "chat", "xml", "tagged"]);
    (
        adapters(),
        prop::option::of(adapters()),
        any::<[bool; 4]>(),
        0..4_u32,
        prop::option::of(2_000..60_000_u64),
    )
        .prop_map(|(adapter, step_adapter, flags, thoughts, token_budget)| {
            let [is_finish, judges, condenses, has_demo] = flags;
            Setting {
                adapter,
                step_adapter,
                is_finish,
                judges,
                condenses,
                thoughts,
                token_budget,
                has_demo,
            }
        })
}

fn agent(setting: &Setting, model: Arc<ScriptedModel>) -> ReAct {
    let choice = |name: &str| name.parse::<AdapterChoice>().unwrap();
    let mut builder = ReAct::builder("question -> answer: str, k: int = 3")
        .tools(search_and_add().with(failing()))
        .model(model)
        .adapter(choice(setting.adapter))
        .completion(match setting.is_finish {
            true => Completion::Finish,
            false => Completion::Submit,
        })
        .thought_prompt("Which of {tools} helps with {outputs}?")
        .limits(|limits| {
            limits.token_budget = setting.token_budget;
            limits.max_observation_tokens = 20;
        })
        .rules(|rules| {
            rules.judges = setting.judges;
            rules.condenses = setting.condenses;
            rules.thoughts.new = setting.thoughts == 3;
            rules.thoughts_in_context = match setting.thoughts {
                0 => enact::run::ThoughtsInContext::All,
                1 => enact::run::ThoughtsInContext::None,
                last => enact::run::ThoughtsInContext::Last(last),
            };
        });
    if let Some(step) = setting.step_adapter {
        builder = builder.step_adapter(choice(step));
    }
    if setting.has_demo {
        let demo = Demo::new(values! { question: "d" }, values! { answer: "e", k: 1 });
        builder = builder.demos([demo]);
    }
    builder.build().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// With every adapter, through compaction, notices, judges, summaries, budgets and failures.
    #[test]
    fn promise_6_prompts_made_from_a_log_are_those_that_were_sent(
        setting in setting(),
        script in prop::collection::vec(reply(), 1..16),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let end = call("submit", json!({"answer": "done", "k": 2}));
        let script = script.into_iter().chain(vec![end; 30]);
        let model = Arc::new(ScriptedModel::new(script));
        // Nobody minds what is left of the script.
        std::mem::forget(model.clone());
        let agent = agent(&setting, model.clone());
        let ended = runtime.block_on(agent.call(values! { question: "What?" }).into_future());
        let run = match ended {
            Ok(outcome) => outcome.finished().unwrap().run().clone(),
            // A request that nothing can be done about is in the log, too.
            Err(error) => error.run().unwrap().clone(),
        };
        assert_same(&agent, &model, &run);
    }
}

#[tokio::test]
async fn a_run_that_was_resumed_asked_once_for_each_reply() {
    let model = Arc::new(ScriptedModel::new([
        call("search", json!({"query": "oak"})),
        call("submit", json!({"answer": "a tree"})),
    ]));
    let build = |tools: Tools| {
        let builder = ReAct::builder("question -> answer").tools(tools);
        builder.model(model.clone()).build().unwrap()
    };
    let agent = build(Tools::new().with(search().require_confirmation()));
    let waiting = agent.call(values! { question: "?" }).await.unwrap();
    let Outcome::Paused(waiting) = waiting else {
        panic!("{waiting:?}");
    };
    assert_same(&agent, &model, waiting.run());
    let done = agent.resume(waiting).respond("yes").await.unwrap();
    let done = done.finished().unwrap();
    assert_same(&agent, &model, done.run());
    let asked = agent.prompts(done.run()).unwrap();
    let records = done.run().records();
    for asked in &asked {
        let at = usize::try_from(asked.answered_at).unwrap();
        assert!(matches!(records[at].event, enact::run::Event::Replied(_)));
    }
    // The tools are those of the log.
    let other = build(search_and_add());
    assert_eq!(other.prompts(done.run()).unwrap().len(), 2);
    assert_same(&other, &model, done.run());
}

#[tokio::test]
async fn a_run_of_another_agent_is_refused() {
    let model = ScriptedModel::new([call("submit", json!({"answer": "a"}))]);
    let agent = ReAct::builder("question -> answer")
        .model(model)
        .build()
        .unwrap();
    let done = agent.call(values! { question: "?" }).await.unwrap();
    let run = done.finished().unwrap().run().clone();
    let other = ReAct::builder("question -> count: int")
        .model(ScriptedModel::new([]))
        .build()
        .unwrap();
    let error = other.prompts(&run).unwrap_err();
    assert!(
        error.to_string().contains("made by another agent"),
        "{error}"
    );
}
