//! Runs as streams: what is told while a model writes, and what dropping a stream does.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use enact::adapter::{AdapterChoice, Piece, Task};
use enact::model::{
    Capabilities, Chunk, FinishReason, LanguageModel, Message, ModelError, ModelErrorKind,
    ReplyStream, Request, ScriptedModel, call, say,
};
use enact::run::store::{MemoryStore, RunFilter, Store as _};
use enact::run::{Entry, Event};
use enact::signature::{Signature, Validator};
use enact::{
    ErrorKind, FnTool, Outcome, Predict, ReAct, Settings, TerminationReason, ToolContext,
    ToolError, Tools, Update, values,
};
use futures_util::stream;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{agent, search};

/// A model that writes its replies in pieces of these sizes.
#[derive(Debug)]
struct Slow {
    replies: Vec<Vec<Chunk>>,
    asked: AtomicUsize,
    capabilities: Capabilities,
}

impl Slow {
    fn new(replies: Vec<Vec<Chunk>>) -> Self {
        Self {
            replies,
            asked: AtomicUsize::new(0),
            capabilities: Capabilities::FULL,
        }
    }
}

impl LanguageModel for Slow {
    fn name(&self) -> &str {
        "slow"
    }

    fn capabilities(&self) -> Capabilities {
        self.capabilities
    }

    fn stream(&self, _: Request) -> ReplyStream<'_> {
        let at = self.asked.fetch_add(1, Ordering::SeqCst);
        let mut chunks = self.replies[at].clone();
        chunks.push(Chunk::Finish(FinishReason::Stop));
        Box::pin(stream::iter(chunks.into_iter().map(Ok::<_, ModelError>)))
    }
}

fn pieces(text: &str, sizes: &[usize]) -> Vec<String> {
    let mut rest: Vec<char> = text.chars().collect();
    let mut sizes = sizes.iter().cycle();
    let mut pieces = Vec::new();
    while !rest.is_empty() {
        let size = (*sizes.next().unwrap()).clamp(1, rest.len());
        pieces.push(rest.drain(..size).collect());
    }
    pieces
}

fn text_chunks(text: &str, sizes: &[usize]) -> Vec<Chunk> {
    pieces(text, sizes).into_iter().map(Chunk::Text).collect()
}

/// A message of the model as it would come.
fn chunks(message: &Message, sizes: &[usize]) -> Vec<Chunk> {
    let Message::Assistant { text, calls, .. } = message else {
        panic!("{message:?}")
    };
    let mut chunks = text_chunks(text, sizes);
    for (index, call) in calls.iter().enumerate() {
        let mut name = Some(call.name.clone());
        for arguments in pieces(&call.arguments, sizes) {
            chunks.push(Chunk::Call {
                index,
                id: None,
                name: name.take(),
                arguments,
            });
        }
    }
    chunks
}

/// What the stream said of each piece, and how often that was whole or taken back.
#[derive(Debug, Default)]
struct Heard {
    texts: HashMap<Piece, String>,
    whole: HashMap<Piece, Vec<Value>>,
    taken_back: usize,
    tellings: usize,
}

impl Heard {
    fn take(&mut self, update: &Update) {
        match update {
            Update::Writing { piece, text } => {
                assert!(!text.is_empty());
                assert!(!self.whole.contains_key(piece), "{piece:?} goes on");
                self.tellings += 1;
                self.texts.entry(piece.clone()).or_default().push_str(text);
            }
            Update::Written { piece, value } => {
                self.whole
                    .entry(piece.clone())
                    .or_default()
                    .push(value.clone());
            }
            Update::TakenBack { piece } => {
                self.taken_back += 1;
                self.texts.remove(piece);
            }
            _ => {}
        }
    }

    /// Whoever puts the texts together has the value.
    fn check(&self) {
        for (piece, values) in &self.whole {
            assert_eq!(values.len(), 1, "{piece:?} was whole several times");
            let text = self.texts.get(piece).cloned().unwrap_or_default();
            match &values[0] {
                Value::String(value) => assert_eq!(&text, value, "{piece:?}"),
                other => assert_eq!(text, other.to_string(), "{piece:?}"),
            }
        }
        for piece in self.texts.keys() {
            assert!(self.whole.contains_key(piece), "{piece:?} has no end");
        }
    }
}

const ADAPTERS: [&str; 5] = ["native", "json", "chat", "xml", "tagged"];

fn adapter(name: &str) -> AdapterChoice {
    name.parse().unwrap()
}

fn signature() -> Signature {
    Signature::parse("question -> answer, note, count: int, tags: list[str]").unwrap()
}

fn step_task() -> Task {
    let agent = ReAct::dynamic(signature(), Tools::new()).unwrap();
    agent.predictors()[0].1.task().clone()
}

async fn hear<O>(mut run: enact::RunStream<O>) -> (Heard, Result<Outcome<O>, enact::Error>) {
    let mut heard = Heard::default();
    while let Some(update) = run.next().await {
        heard.take(&update);
    }
    (heard, run.outcome().await)
}

fn block_on<F: Future>(future: F) -> F::Output {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime.build().unwrap().block_on(future)
}

/// Texts with all that could be taken for structure.
fn odd_text() -> impl Strategy<Value = String> {
    let odd = prop::sample::select(vec![
        "[[ ## answer ## ]]",
        "[[",
        "]]",
        "\n",
        "\n\n",
        " ",
        "<answer>",
        "</answer>",
        "<",
        ">",
        "&",
        "&lt;",
        "&amp;",
        "{",
        "}",
        "\"",
        "\\",
        "\\\\",
        "Thought:",
        "\nThought: x",
        "\nAction: ",
        "ü",
        "😀",
        "`",
        "```",
        "a",
        "word ",
        "next_tool_name",
        "**",
        "\nanswer: b",
        "#",
        "\t",
        "null",
    ]);
    prop::collection::vec(odd, 1..12).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn the_texts_of_a_step_add_up_in_every_adapter(
        thought in odd_text(),
        answer in odd_text(),
        note in odd_text(),
        sizes in prop::collection::vec(1_usize..12, 1..5),
    ) {
        let values = values! { answer: answer, note: note, count: 3, tags: ["a", "b"] };
        for name in ADAPTERS {
            let task = step_task();
            let words = adapter(name).resolve(Capabilities::FULL);
            let entry = Entry::Outputs {
                values: values.clone(),
                thought: thought.trim().to_owned(),
                call_id: None,
            };
            let said = words.render(&task, &entry);
            let model = Slow::new(vec![chunks(&said[0], &sizes); 5]);
            let agent = ReAct::dynamic(signature(), Tools::new())
                .unwrap()
                .with_model(model)
                .with_adapter(adapter(name));
            let (heard, outcome) = block_on(async {
                hear(agent.call(values! { question: "q" }).stream()).await
            });
            heard.check();
            if let Ok(Outcome::Finished(done)) = outcome {
                prop_assert_eq!(heard.taken_back, 0, "{}: {:?}", name, said);
                for (field, value) in done.values() {
                    let piece = Piece::Output(field.clone());
                    prop_assert_eq!(&heard.whole[&piece][0], value, "{}", name);
                }
            }
        }
    }

    #[test]
    fn the_texts_of_outputs_add_up_in_every_adapter(
        answer in odd_text(),
        note in odd_text(),
        sizes in prop::collection::vec(1_usize..12, 1..5),
    ) {
        let values = values! { answer: answer, note: note, count: 3, tags: ["a", "b"] };
        for name in ADAPTERS {
            let declared = signature();
            let task = Task {
                outputs: Arc::new(Validator::new(declared.output_schema()).unwrap()),
                signature: declared.clone(),
                tooling: None,
            };
            let words = adapter(name).resolve(Capabilities::FULL);
            let entry = Entry::Outputs {
                values: values.clone(),
                thought: String::new(),
                call_id: None,
            };
            let said = words.render(&task, &entry);
            let model = Slow::new(vec![chunks(&said[0], &sizes); 4]);
            let predict = Predict::dynamic(declared)
                .unwrap()
                .with_model(model)
                .with_adapter(adapter(name));
            let (heard, outcome) = block_on(async {
                hear(predict.call(values! { question: "q" }).stream()).await
            });
            heard.check();
            prop_assert_eq!(heard.taken_back, 0, "{}: {:?}", name, said);
            let done = outcome.unwrap().finished().unwrap();
            for (field, value) in done.values() {
                let piece = Piece::Output(field.clone());
                prop_assert_eq!(&heard.whole[&piece][0], value, "{}", name);
            }
        }
    }

    #[test]
    fn garbage_adds_up_too(
        text in odd_text(),
        sizes in prop::collection::vec(1_usize..12, 1..5),
    ) {
        for name in ADAPTERS {
            let model = Slow::new(vec![text_chunks(&text, &sizes); 9]);
            let agent = ReAct::dynamic("question -> answer, count: int", Tools::new())
                .unwrap()
                .with_model(model)
                .with_adapter(adapter(name));
            let mut run_heard = Heard::default();
            block_on(async {
                let mut run = agent.call(values! { question: "q" }).stream();
                while let Some(update) = run.next().await {
                    // Several replies have thoughts of their own.
                    if matches!(update, Update::StepFinished { .. }) {
                        run_heard.check();
                        run_heard = Heard::default();
                    }
                    run_heard.take(&update);
                }
            });
            run_heard.check();
        }
    }
}

/// What is told of an ordinary reply is told while it comes, and nothing has to be taken back.
#[test]
fn ordinary_replies_are_told_as_they_come() {
    let thought = "I know what the capital of France is, and say it. It is\n\nnot far: (2 < 3).";
    let answer = "Paris, the city.\nIt lies on the Seine & has \"many\" bridges — all old.";
    let values = values! { answer: answer, note: "none", count: 3, tags: ["a"] };
    for name in ADAPTERS {
        let words = adapter(name).resolve(Capabilities::FULL);
        let task = step_task();
        let entry = Entry::Outputs {
            values: values.clone(),
            thought: thought.to_owned(),
            call_id: None,
        };
        let said = words.render(&task, &entry);
        let model = Slow::new(vec![chunks(&said[0], &[3])]);
        let agent = ReAct::dynamic(signature(), Tools::new())
            .unwrap()
            .with_model(model)
            .with_adapter(adapter(name));
        let (heard, outcome) =
            block_on(async { hear(agent.call(values! { question: "q" }).stream()).await });
        heard.check();
        assert!(outcome.is_ok(), "{name}: {outcome:?}");
        assert_eq!(heard.taken_back, 0, "{name}: {heard:?}");
        assert!(heard.tellings > 15, "{name}: {heard:?}");
        assert_eq!(heard.texts[&Piece::Thought], thought, "{name}");
    }
}

#[tokio::test]
async fn thinking_is_not_told() {
    let model = Slow::new(vec![text_chunks(
        "<think>Hm, {\"a\"}.</think>\nParis",
        &[2],
    )]);
    let predict = Predict::dynamic("question -> answer")
        .unwrap()
        .with_model(model);
    let (heard, _) = hear(predict.call(values! { question: "q" }).stream()).await;
    heard.check();
    assert_eq!(heard.taken_back, 0);
    assert_eq!(heard.texts[&Piece::Output("answer".into())], "Paris");
}

#[tokio::test]
async fn a_request_that_is_made_again_takes_back_what_was_told() {
    let mut reply = text_chunks("Lon", &[1]);
    reply.push(Chunk::Restart);
    reply.extend(text_chunks("Paris", &[2]));
    let predict = Predict::dynamic("question -> answer")
        .unwrap()
        .with_model(Slow::new(vec![reply]));
    let (heard, _) = hear(predict.call(values! { question: "q" }).stream()).await;
    heard.check();
    assert_eq!(heard.taken_back, 1);
    assert_eq!(heard.texts[&Piece::Output("answer".into())], "Paris");
}

#[tokio::test]
async fn a_submit_that_is_refused_is_taken_back() {
    let played = agent(
        "question -> answer, count: int",
        Tools::new(),
        [
            call("submit", json!({"answer": "Lyon", "count": "many"})),
            call("submit", json!({"answer": "Paris", "count": 1})),
        ],
    );
    let (heard, outcome) = hear(played.agent.call(values! { question: "q" }).stream()).await;
    heard.check();
    assert_eq!(heard.taken_back, 1);
    assert_eq!(heard.texts[&Piece::Output("answer".into())], "Paris");
    assert!(outcome.is_ok());
}

/// An update in a word or two.
fn word(update: &Update) -> String {
    match update {
        Update::Recorded { record } => match &record.event {
            Event::Started(_) => "started".into(),
            Event::Stepped(_) => "stepped".into(),
            Event::ToolStarted { call_id } => format!("{call_id} started"),
            Event::ToolFinished { call_id, .. } => format!("{call_id} finished"),
            Event::Asked(_) => "asked".into(),
            Event::Finished { .. } => "finished".into(),
            Event::Summarised { .. } => "summarised".into(),
            other => format!("{other:?}"),
        },
        Update::Asking { predictor } => format!("asking {}", predictor.as_str()),
        Update::Progress { message, .. } => format!("progress {message}"),
        Update::Writing { piece, text } => format!("writing {piece:?} {text}"),
        Update::Written { piece, .. } => format!("written {piece:?}"),
        Update::StepFinished { step } => format!("step {} finished", step.iteration),
        other => format!("{other:?}"),
    }
}

#[tokio::test]
async fn what_happens_comes_in_order() {
    let tool = FnTool::from_spec(
        enact::tool::ToolSpec::new("dig", "Digs.", json!({"type": "object"})),
        |_, context: ToolContext| async move {
            context.progress("half");
            Ok::<_, ToolError>("a bone")
        },
    );
    let played = agent(
        "question -> answer",
        Tools::new().with(tool),
        [
            call("dig", json!({})).thinking("Down."),
            call("submit", json!({"answer": "bone"})),
        ],
    );
    let mut run = played.agent.call(values! { question: "q" }).stream();
    let mut words = Vec::new();
    while let Some(update) = run.next().await {
        words.push(word(&update));
    }
    assert_eq!(
        words,
        [
            "started",
            "asking step",
            "writing Thought Down.",
            "written Thought",
            "stepped",
            "call_0_0 started",
            "progress half",
            "call_0_0 finished",
            "step 1 finished",
            "asking step",
            "writing Output(\"answer\") bone",
            "written Output(\"answer\")",
            "stepped",
            "step 2 finished",
            "finished",
        ]
    );
    let done = run.outcome().await.unwrap().finished().unwrap();
    assert_eq!(done.outputs["answer"], "bone");
}

#[tokio::test]
async fn a_stream_ends_where_a_run_waits_and_goes_on_when_it_is_resumed() {
    let tools = Tools::new().with(search().require_confirmation());
    let played = agent(
        "question -> answer",
        tools,
        [
            call("search", json!({"query": "x"})),
            call("submit", json!({"answer": "a"})),
        ],
    );
    let mut run = played.agent.call(values! { question: "q" }).stream();
    let mut last = None;
    while let Some(update) = run.next().await {
        last = Some(word(&update));
    }
    assert_eq!(last.as_deref(), Some("asked"));
    let Outcome::Paused(paused) = run.outcome().await.unwrap() else {
        panic!("it asks first")
    };
    let resumed = played.agent.resume(paused).respond("yes").stream();
    let (heard, outcome) = hear(resumed).await;
    heard.check();
    assert!(outcome.unwrap().finished().unwrap().success());
}

#[tokio::test]
async fn a_dropped_stream_cancels_the_run_cleanly() {
    let stuck = FnTool::from_spec(
        enact::tool::ToolSpec::new("stuck", "Never ends.", json!({"type": "object"})),
        |_, _| std::future::pending::<Result<(), ToolError>>(),
    );
    let played = agent(
        "question -> answer",
        Tools::new().with(stuck),
        [call("stuck", json!({}))],
    );
    let store = MemoryStore::new();
    let call = played.agent.call(values! { question: "q" });
    let mut run = call.store(store.clone()).stream();
    while let Some(update) = run.next().await {
        if word(&update) == "call_0_0 started" {
            break;
        }
    }
    drop(run);
    let ended = async {
        loop {
            let runs = store.list(&RunFilter::all()).await.unwrap();
            let stored = store.load(&runs[0].run_id).await.unwrap();
            if let Some(reason) = stored.run.termination() {
                return reason;
            }
            tokio::task::yield_now().await;
        }
    };
    let ended = tokio::time::timeout(std::time::Duration::from_secs(20), ended).await;
    assert_eq!(ended.unwrap(), TerminationReason::Cancelled);
}

#[tokio::test]
async fn a_stream_has_the_settings_of_its_scope() {
    let predict = Predict::dynamic("question -> answer").unwrap();
    let settings = Settings::new().model(ScriptedModel::new([say("Paris")]));
    let run = enact::scope(settings, async {
        predict.call(values! { question: "q" }).stream()
    })
    .await;
    let (_, outcome) = hear(run).await;
    assert_eq!(
        outcome.unwrap().finished().unwrap().outputs["answer"],
        "Paris"
    );
}

#[test]
fn a_stream_outside_a_runtime_says_so() {
    let predict = Predict::dynamic("question -> answer").unwrap();
    let run = predict.call(values! { question: "q" }).stream();
    let error = futures_util::FutureExt::now_or_never(run.outcome()).unwrap();
    assert_eq!(error.unwrap_err().kind(), ErrorKind::Misuse);
}

#[tokio::test]
async fn an_error_in_the_middle_takes_back_what_was_told() {
    #[derive(Debug)]
    struct Breaks;
    impl LanguageModel for Breaks {
        fn name(&self) -> &str {
            "breaks"
        }
        fn capabilities(&self) -> Capabilities {
            Capabilities::FULL
        }
        fn stream(&self, _: Request) -> ReplyStream<'_> {
            let error = ModelError::new(ModelErrorKind::Connection, "gone");
            Box::pin(stream::iter([Ok(Chunk::Text("Par".into())), Err(error)]))
        }
    }
    let predict = Predict::dynamic("question -> answer")
        .unwrap()
        .with_model(Breaks);
    let (heard, outcome) = hear(predict.call(values! { question: "q" }).stream()).await;
    assert_eq!(heard.taken_back, 1);
    heard.check();
    assert!(outcome.is_err());
}

#[test]
fn updates_are_json() {
    let update = Update::Writing {
        piece: Piece::Output("answer".into()),
        text: "Par".into(),
    };
    let json: Value = serde_json::to_value(&update).unwrap();
    assert_eq!(
        json,
        json!({"update": "writing", "piece": {"output": "answer"}, "text": "Par"})
    );
}
