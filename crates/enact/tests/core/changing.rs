//! Tools that change while a run is under way.

use std::pin::Pin;
use std::sync::{Arc, Mutex};

use enact::model::{Request, ScriptStep, call};
use enact::run::{Event, Record};
use enact::tool::{Confirmation, Effect, ToolSpec, Toolbox};
use enact::{Decision, FnTool, Run, Tool, ToolError, Tools, values};
use serde_json::{Value, json};

use super::{Played, add, agent, paused};

/// A toolbox with whatever was put into it.
#[derive(Clone, Default)]
pub(super) struct Changing(Arc<Mutex<Inside>>);

#[derive(Default)]
struct Inside {
    specs: Vec<ToolSpec>,
    /// What it has after the tool `turn` was called.
    then: Vec<ToolSpec>,
    /// What it cannot say at the moment.
    problem: Option<&'static str>,
}

impl Changing {
    pub(super) fn of(specs: impl IntoIterator<Item = ToolSpec>) -> Self {
        let new = Self::default();
        new.put(specs);
        new
    }

    pub(super) fn turning_to(self, then: impl IntoIterator<Item = ToolSpec>) -> Self {
        self.0.lock().unwrap().then = then.into_iter().collect();
        self
    }

    pub(super) fn put(&self, specs: impl IntoIterator<Item = ToolSpec>) {
        self.0.lock().unwrap().specs = specs.into_iter().collect();
    }

    fn tool(&self, spec: &ToolSpec) -> FnTool {
        let (inside, name) = (self.clone(), spec.name.clone());
        FnTool::from_spec(spec.clone(), move |_, _| {
            let (inside, name) = (inside.clone(), name.clone());
            async move {
                if name == "turn" {
                    let mut inside = inside.0.lock().unwrap();
                    inside.specs = inside.then.clone();
                }
                Ok::<_, ToolError>(format!("{name} ran"))
            }
        })
    }
}

impl Toolbox for Changing {
    fn tools(&self, _: &[&str]) -> Vec<Arc<dyn Tool>> {
        let specs = self.0.lock().unwrap().specs.clone();
        let tools = specs.iter().map(|spec| Arc::new(self.tool(spec)) as _);
        tools.collect()
    }

    fn refresh<'a>(&'a self) -> Pin<Box<dyn Future<Output = Result<(), ToolError>> + Send + 'a>> {
        let problem = self.0.lock().unwrap().problem;
        Box::pin(async move {
            match problem {
                Some(problem) => Err(ToolError::new(problem)),
                None => Ok(()),
            }
        })
    }
}

pub(super) fn tool(name: &str) -> ToolSpec {
    let parameters = json!({"type": "object", "properties": {"x": {"type": "integer"}}});
    ToolSpec::new(name, format!("Does {name}."), parameters).with_effect(Effect::Idempotent)
}

pub(super) fn tools(inside: &Changing) -> Tools {
    Tools::new()
        .with(add())
        .with_toolbox(Arc::new(inside.clone()))
}

pub(super) fn played(inside: &Changing, script: impl IntoIterator<Item = ScriptStep>) -> Played {
    agent("question -> answer", tools(inside), script)
}

pub(super) fn done() -> ScriptStep {
    call("submit", json!({"answer": "a"}))
}

fn names(request: &Request) -> Vec<String> {
    let list = request.tools.list().iter();
    list.map(|tool| tool.name.clone()).collect()
}

pub(super) fn changes(run: &Run) -> Vec<Vec<ToolSpec>> {
    let changes = run.events().filter_map(|event| match event {
        Event::ToolsChanged { tools } => Some(tools.clone()),
        _ => None,
    });
    changes.collect()
}

pub(super) fn observation(run: &Run, index: usize) -> Value {
    run.trajectory().steps()[index].observation.clone()
}

#[tokio::test]
async fn the_next_request_has_the_tools_as_they_now_are_and_the_log_says_so() {
    let new = tool("new").with_confirmation(Confirmation::Never);
    let inside = Changing::of([tool("turn")]).turning_to([new.clone()]);
    let played = played(
        &inside,
        [
            call("turn", json!({})),
            // What is gone is told as any unknown tool, with what there is.
            call("turn", json!({})),
            call("new", json!({"x": 1})),
            done(),
        ],
    );
    let run = played.call(values! { question: "q" }).await.run().clone();
    let requests = played.model.requests();
    assert_eq!(names(&requests[0]), ["add", "turn", "submit"]);
    for request in &requests[1..] {
        assert_eq!(names(request), ["add", "new", "submit"]);
    }
    assert_eq!(observation(&run, 2), "new ran");
    let refused = observation(&run, 1).to_string();
    assert!(
        refused.contains("new") && refused.contains("turn"),
        "{refused}"
    );
    // Schemas and all, once.
    assert_eq!(changes(&run), [vec![add().spec().clone(), new]]);
    assert_eq!(run.tools(), changes(&run)[0]);
    // The change stands before the step that knows of it.
    let kinds: Vec<bool> = run
        .events()
        .filter(|event| event.is_step() || matches!(event, Event::ToolsChanged { .. }))
        .map(|event| matches!(event, Event::ToolsChanged { .. }))
        .collect();
    assert_eq!(kinds, [false, true, false, false, false]);
}

#[tokio::test]
async fn in_every_adapter_the_prompt_speaks_of_the_new_tools_alone() {
    for adapter in ["native", "json", "chat", "xml", "tagged"] {
        let inside = Changing::of([tool("stale")]);
        let played = played(&inside, [done()])
            .map(|agent| agent.adapter(adapter.parse::<enact::AdapterChoice>().unwrap()));
        inside.put([tool("fresh")]);
        // The reply is in the words of one adapter alone: what is asked is what counts here.
        let _ = played.agent.call(values! { question: "q" }).await;
        let request = &played.model.requests()[0];
        let head = format!("{:?} {:?}", request.prompt.iter().next(), request.tools);
        assert!(
            head.contains("fresh") && !head.contains("stale"),
            "{adapter}: {head}"
        );
        played.model.abandon();
    }
}

/// The log up to an event, as a crash leaves it.
pub(super) fn cut(run: &Run, length: usize) -> Run {
    let mut records: Vec<Record> = run.clone().into();
    records.truncate(length);
    // Through JSON, as from a disk.
    let text = serde_json::to_string(&records).unwrap();
    Run::try_from(serde_json::from_str::<Vec<Record>>(&text).unwrap()).unwrap()
}

#[tokio::test]
async fn after_a_crash_at_any_event_the_run_has_the_tools_that_its_log_says() {
    let inside = || Changing::of([tool("turn")]).turning_to([tool("new")]);
    let script = || {
        [
            call("turn", json!({})),
            call("new", json!({"x": 1})),
            done(),
        ]
    };
    let first = played(&inside(), script());
    let whole = first.call(values! { question: "q" }).await.run().clone();
    let requests = first.model.requests();
    for length in 1..whole.records().len() {
        let run = cut(&whole, length);
        let answered = run.steps().len();
        // The other process finds the tools as the first one left them.
        let inside = inside();
        let turned = run
            .events()
            .any(|event| matches!(event, Event::ToolFinished { .. }));
        if turned {
            inside.put([tool("new")]);
        }
        let again = played(&inside, script().into_iter().skip(answered));
        let ended = again.agent.resume(run).await.unwrap().finished().unwrap();
        let ended = ended.run();
        // Not one request is different from those of the run that nothing happened to.
        let asked = format!("{:?}", again.model.requests());
        assert_eq!(asked, format!("{:?}", &requests[answered..]), "{length}");
        assert_eq!(changes(ended), changes(&whole), "{length}");
        assert_eq!(ended.trajectory(), whole.trajectory(), "{length}");
    }
}

#[tokio::test]
async fn a_call_that_a_crash_cut_off_says_so_if_its_tool_is_gone() {
    let inside = Changing::of([tool("old")]);
    let first = played(&inside, [call("old", json!({})), done()]);
    let whole = first.call(values! { question: "q" }).await.run().clone();
    let started = whole
        .events()
        .position(|event| matches!(event, Event::ToolStarted { .. }))
        .unwrap();
    inside.put([tool("new")]);
    let again = played(&inside, [done()]);
    let resumed = again.agent.resume(cut(&whole, started + 1)).await.unwrap();
    let run = resumed.run().clone();
    let said = observation(&run, 0).to_string();
    assert!(said.contains("old: it is not available any more"), "{said}");
    assert_eq!(names(&again.model.requests()[0]), ["add", "new", "submit"]);
    assert_eq!(changes(&run).len(), 1);
}

#[tokio::test]
async fn what_was_allowed_for_good_is_not_allowed_to_another_tool_of_the_name() {
    let asks = |about: &str| {
        let mut spec = tool("send").with_confirmation(Confirmation::Always);
        spec.description = about.to_owned();
        spec
    };
    let inside = Changing::of([asks("Sends a card."), tool("turn")])
        .turning_to([asks("Sends everything."), tool("turn")]);
    let send = || call("send", json!({}));
    let script = [send(), send(), call("turn", json!({})), send()];
    let played = played(&inside, script);
    let first = paused(played.agent.call(values! { question: "q" }).await.unwrap());
    let id = first.questions()[0].confirmation_id.clone();
    let resumed = played
        .agent
        .resume(first)
        .answer(id, Decision::ApproveAlways);
    // The second one ran unasked; the third one is another tool.
    let second = paused(resumed.await.unwrap());
    let run = second.run();
    assert_eq!(observation(run, 1), "send ran");
    assert_eq!(observation(run, 2), "turn ran");
    assert_eq!(second.questions()[0].tool_call.name, "send");
}

#[tokio::test]
async fn a_rule_from_outside_holds_for_a_tool_that_comes_back() {
    let inside =
        Changing::of([tool("turn"), tool("send")]).turning_to([tool("turn"), tool("other")]);
    let script = [
        call("turn", json!({})),
        call("other", json!({})),
        call("send", json!({})),
    ];
    let played =
        played(&inside, script).map(|agent| agent.confirmation("send", Confirmation::Always));
    // Back before the third step.
    let back = inside.clone();
    let call = played
        .agent
        .call(values! { question: "q" })
        .on_update(move |update| {
            if let enact::Update::StepFinished { step } = update
                && step.iteration == 2
            {
                back.put([tool("send")]);
            }
        });
    let waiting = paused(call.await.unwrap());
    assert_eq!(waiting.questions()[0].tool_call.name, "send");
    assert_eq!(changes(waiting.run()).len(), 2);
}

#[tokio::test]
async fn a_toolbox_that_cannot_say_or_offers_what_cannot_be_used_changes_nothing() {
    let inside = Changing::of([tool("turn")]).turning_to([tool("turn"), tool("submit")]);
    let played = played(
        &inside,
        [call("turn", json!({})), call("turn", json!({})), done()],
    );
    let run = played.call(values! { question: "q" }).await.run().clone();
    assert_eq!(observation(&run, 1), "turn ran");
    assert_eq!(changes(&run), [] as [Vec<ToolSpec>; 0]);

    let inside = Changing::of([tool("turn")]).turning_to([tool("new")]);
    inside.0.lock().unwrap().problem = Some("nobody answers");
    let played = self::played(&inside, [call("turn", json!({})), done()]);
    let run = played.call(values! { question: "q" }).await.run().clone();
    assert_eq!(changes(&run), [] as [Vec<ToolSpec>; 0]);
}

#[tokio::test]
async fn a_secret_in_what_a_tool_says_of_itself_stays_out_of_the_log_and_changes_nothing() {
    let mut told = tool("new");
    told.description = "Opens the door with correct-horse.".to_owned();
    let inside = Changing::of([tool("turn")]).turning_to([told]);
    let new = || call("new", json!({"x": 1}));
    let played = played(&inside, [call("turn", json!({})), new(), done()]);
    let secrets = enact::model::Secrets::new().with("correct-horse").unwrap();
    let settings = enact::Settings::new().secrets(secrets);
    let ended = enact::scope(settings, played.call(values! { question: "q" })).await;
    let changes = changes(ended.run());
    assert_eq!(changes.len(), 1);
    assert_eq!(changes[0][1].description, "Opens the door with [redacted].");
    let asked = format!("{:?}", played.model.requests());
    assert!(!asked.contains("correct-horse"), "{asked}");
}
