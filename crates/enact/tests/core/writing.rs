//! What is told of a reply while a model writes it, in every adapter.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use enact::adapter::{AdapterChoice, Piece, Task};
use enact::model::{
    Capabilities, Chunk, FinishReason, LanguageModel, Message, ModelError, ModelInfo, ReplyStream,
    Request, call,
};
use enact::run::Entry;
use enact::signature::{Signature, Validator};
use enact::{Module, Outcome, Predict, ReAct, RunStream, Tools, Update, values};
use futures_util::stream;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::agent;

/// A model that writes its replies in pieces of these sizes.
#[derive(Debug)]
pub(super) struct Slow {
    replies: Vec<Vec<Chunk>>,
    asked: AtomicUsize,
    capabilities: Capabilities,
}

impl Slow {
    pub(super) fn new(replies: Vec<Vec<Chunk>>) -> Self {
        Self {
            replies,
            asked: AtomicUsize::new(0),
            capabilities: Capabilities::FULL,
        }
    }
}

impl LanguageModel for Slow {
    fn info(&self) -> ModelInfo<'_> {
        ModelInfo::new("slow", self.capabilities)
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

pub(super) fn text_chunks(text: &str, sizes: &[usize]) -> Vec<Chunk> {
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
pub(super) struct Heard {
    pub(super) texts: HashMap<Piece, String>,
    whole: HashMap<Piece, Vec<Value>>,
    pub(super) taken_back: usize,
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
    pub(super) fn check(&self) {
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
    let agent = ReAct::builder(signature()).build().unwrap();
    agent.predictors()[0].1.task().clone()
}

pub(super) async fn hear<O>(mut run: RunStream<O>) -> (Heard, Result<Outcome<O>, enact::Error>) {
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
            let agent = ReAct::builder(signature())
                .model(model)
                .adapter(adapter(name))
                .build().unwrap();
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
            let predict = Predict::builder(declared)
                .model(model)
                .adapter(adapter(name))
                .build().unwrap();
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
            let agent = ReAct::builder("question -> answer, count: int")
                .model(model)
                .adapter(adapter(name))
                .build().unwrap();
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
        let agent = ReAct::builder(signature())
            .model(model)
            .adapter(adapter(name))
            .build()
            .unwrap();
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
    let predict = Predict::builder("question -> answer")
        .model(model)
        .build()
        .unwrap();
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
    let predict = Predict::builder("question -> answer")
        .model(Slow::new(vec![reply]))
        .build()
        .unwrap();
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
