//! Recorded runs replay to the same log, offline.

use std::path::PathBuf;
use std::sync::Arc;

use enact::model::{
    Capabilities, Chunk, LanguageModel, ModelError, ModelErrorKind, ModelInfo, Recording,
    Replaying, ReplyStream, Request, ScriptStep, ScriptedModel, Secrets, Usage, call, calls, fail,
    say,
};
use enact::{FnTool, ReAct, Run, ToolError, Tools, values};
use futures_util::{StreamExt as _, future, stream};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::ask;

fn place() -> (TempDir, PathBuf) {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("recording.jsonl");
    (folder, file)
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Pair {
    a: i64,
    b: i64,
}

fn agent(model: impl LanguageModel + 'static) -> ReAct {
    let add = FnTool::new("add", "Adds.", |args: Pair, _| async move {
        Ok::<_, ToolError>(args.a + args.b)
    });
    ReAct::builder("question -> answer: int")
        .tools(Tools::new().with(add.read_only()))
        .model(model)
        .build()
        .unwrap()
}

/// The events of a run, without what differs between any two runs.
fn events(run: &Run) -> Vec<Value> {
    let records = run.records().iter();
    let events = records.map(|record| {
        let text = serde_json::to_string(record).unwrap();
        let text = text.replace(run.id(), "RUN");
        let mut event: Value = serde_json::from_str(&text).unwrap();
        let fields = event.as_object_mut().unwrap();
        fields.shift_remove("at");
        fields.shift_remove("duration_ns");
        event
    });
    events.collect()
}

async fn finished(agent: ReAct) -> Run {
    let outcome = agent.call(values! { question: "1 + 2 and 3 + 4?" }).await;
    outcome.unwrap().finished().unwrap().run().clone()
}

/// Parallel calls, a reply that calls nothing, an unreadable one, a prompt that is too long and its
/// summary.
fn eventful() -> Vec<ScriptStep> {
    vec![
        calls([
            ("add", json!({"a": 1, "b": 2})),
            ("add", json!({"a": 3, "b": 4})),
        ])
        .thinking("Both at once.")
        .reasoning("hm")
        .with_ids(["x", "y"])
        .costing(Usage::of_request(100, 20)),
        call("add", json!("{\"a\": 1,")),
        say(""),
        call("add", json!({"a": "5", "b": 6})),
        fail(ModelErrorKind::ContextLength, "the prompt is too long"),
        say("1 + 2 is 3, 3 + 4 is 7."),
        call("submit", json!({"answer": "many"})),
        call("submit", json!({"answer": 10})),
    ]
}

#[tokio::test]
async fn a_run_replays_to_the_same_events() {
    let (_folder, file) = place();
    let model = Recording::to_file(ScriptedModel::new(eventful()), &file).unwrap();
    let recorded = finished(agent(model)).await;
    for loosely in [false, true] {
        let model = Replaying::open(&file).unwrap();
        let model = if loosely {
            model.loosely()
        } else {
            model.strictly()
        };
        let replayed = finished(agent(model.clone())).await;
        assert_eq!(events(&replayed), events(&recorded));
        assert_eq!(model.left(), 0);
    }
    let events = events(&recorded);
    let has = |holds: &dyn Fn(&Value) -> bool| events.iter().any(holds);
    for name in ["model_failed", "tool_finished"] {
        assert!(has(&|one| one["event"] == name), "{name}: {events:?}");
    }
    for read in ["step", "unreadable", "summary"] {
        assert!(
            has(&|one| one["read"][read].is_object()),
            "{read}: {events:?}"
        );
    }
}

#[tokio::test]
async fn runs_side_by_side_replay_in_any_order() {
    let (_folder, file) = place();
    let questions = ["a", "b", "c", "d"];
    let ask_all = |agent: ReAct, order: Vec<&'static str>| async move {
        let calls = order
            .iter()
            .map(|question| agent.call(values! { question: question }));
        let outcomes = future::join_all(calls.map(IntoFuture::into_future)).await;
        let mut answers: Vec<(String, Value)> = outcomes
            .into_iter()
            .zip(order)
            .map(|(outcome, question)| {
                let outputs = outcome.unwrap().finished().unwrap().outputs.clone();
                (question.to_owned(), outputs["answer"].clone())
            })
            .collect();
        answers.sort_by(|a, b| a.0.cmp(&b.0));
        answers
    };
    let steps = (0..4).map(|answer| call("submit", json!({"answer": answer})));
    let model = Recording::to_file(ScriptedModel::new(steps), &file).unwrap();
    let first = ask_all(agent(model), questions.to_vec()).await;
    let backwards = questions.into_iter().rev().collect();
    let model = Replaying::open(&file).unwrap();
    assert_eq!(ask_all(agent(model), backwards).await, first);
}

#[tokio::test]
async fn a_request_that_differs_is_shown_where_and_loosely_it_does_not_matter() {
    let (_folder, file) = place();
    let model = Recording::to_file(ScriptedModel::new([say("7"), say("8")]), &file).unwrap();
    for question in ["What is 3 + 4?", "What is 3 + 5?"] {
        model.complete(ask(question)).await.unwrap();
    }
    let strict = Replaying::open(&file).unwrap();
    let error = strict.complete(ask("What is 3 + 6?")).await.unwrap_err();
    assert_eq!(error.kind(), ModelErrorKind::InvalidRequest);
    let said = error.to_string();
    let problem = "`messages[0].parts[0].text` differs; recorded: … + 4?; now: … + 6?";
    assert!(said.contains(problem), "{said}");
    // Each reply is given once.
    assert_eq!(
        strict.complete(ask("What is 3 + 5?")).await.unwrap().text,
        "8"
    );
    assert_eq!(
        strict.complete(ask("What is 3 + 4?")).await.unwrap().text,
        "7"
    );
    let said = strict
        .complete(ask("What is 3 + 4?"))
        .await
        .unwrap_err()
        .to_string();
    assert!(said.contains("no reply left"), "{said}");

    let loose = Replaying::open(&file).unwrap().loosely();
    for text in ["7", "8"] {
        assert_eq!(loose.complete(ask("whatever")).await.unwrap().text, text);
    }
}

#[tokio::test]
async fn errors_replay_as_errors() {
    let (_folder, file) = place();
    let error = ModelError::new(ModelErrorKind::RateLimit, "slow down")
        .with_status(429)
        .with_retry_after(std::time::Duration::from_millis(1500));
    let model = Recording::to_file(Pieces::new([Ok(text("par"))], Some(error)), &file).unwrap();
    model.complete(ask("hi")).await.unwrap_err();
    let replayed = Replaying::open(&file).unwrap();
    let mut stream = replayed.stream(ask("hi"));
    assert_eq!(stream.next().await.unwrap().unwrap(), text("par"));
    let error = stream.next().await.unwrap().unwrap_err();
    assert_eq!(error.kind(), ModelErrorKind::RateLimit);
    assert_eq!(
        (error.to_string().as_str(), error.status()),
        ("slow down", Some(429))
    );
    assert_eq!(
        error.retry_after(),
        Some(std::time::Duration::from_millis(1500))
    );
    assert!(stream.next().await.is_none());
}

#[tokio::test]
async fn pieces_replay_as_pieces_and_the_model_as_itself() {
    let (_folder, file) = place();
    let pieces = [text("lost"), Chunk::Restart, text("a"), text("b"), done()];
    let model = Pieces::new(pieces.clone().map(Ok), None);
    let model = Recording::to_file(model, &file).unwrap();
    model.complete(ask("hi")).await.unwrap();
    let replayed = Replaying::open(&file).unwrap();
    assert_eq!(replayed.name(), "pieces");
    assert_eq!(replayed.base_url(), Some("http://pieces.example"));
    assert_eq!(replayed.capabilities(), Capabilities::TEXT);
    let all: Vec<Chunk> = replayed
        .stream(ask("hi"))
        .map(Result::unwrap)
        .collect()
        .await;
    assert_eq!(all, pieces);
}

#[tokio::test]
async fn a_recording_that_is_there_is_gone_on_with_and_holds_several_models() {
    let (_folder, file) = place();
    for text in ["one", "two"] {
        let model = Recording::to_file(ScriptedModel::new([say(text)]), &file).unwrap();
        model.complete(ask(text)).await.unwrap();
        let judge = ScriptedModel::new([say("fine")]).with_name("judge");
        model.beside(judge).complete(ask(text)).await.unwrap();
    }
    let other = ScriptedModel::new([]).with_capabilities(Capabilities::TEXT);
    let said = Recording::to_file(other, &file).unwrap_err().to_string();
    assert!(said.contains("another model called `scripted`"), "{said}");

    let replayed = Replaying::open(&file).unwrap();
    assert_eq!((replayed.name(), replayed.left()), ("scripted", 2));
    assert_eq!(replayed.complete(ask("two")).await.unwrap().text, "two");
    let judge = replayed.beside("judge").unwrap();
    assert_eq!(judge.complete(ask("two")).await.unwrap().text, "fine");
    let said = replayed.beside("nobody").unwrap_err().to_string();
    assert!(
        said.contains("nothing of the model `nobody`: it has scripted, judge"),
        "{said}"
    );
}

#[tokio::test]
async fn secrets_are_not_in_the_file_also_when_they_come_in_pieces() {
    let (_folder, file) = place();
    let secret = "hush-hush-0123";
    let secrets = Secrets::new().with(secret).unwrap();
    let pieces = [text("It is hush-hu"), text("sh-0123, no?"), done()].map(Ok);
    let model = Recording::to_file(Pieces::new(pieces, None), &file).unwrap();
    let model = model.with_secrets(secrets);
    let reply = model
        .complete(ask(&format!("What is {secret}?")))
        .await
        .unwrap();
    assert!(
        reply.text.contains(secret),
        "whoever asks gets what was said"
    );
    let written = std::fs::read_to_string(&file).unwrap();
    assert!(!written.contains("hush-hu"), "{written}");
    // Who replays it does not have to know the secret.
    for question in ["What is hush-hush-0123?", "What is [redacted]?"] {
        let replayed = Replaying::open(&file).unwrap();
        let reply = replayed.complete(ask(question)).await.unwrap();
        assert_eq!(reply.text, "It is [redacted], no?");
    }
}

#[tokio::test]
async fn truth_no_string_of_a_recorded_reply_is_a_secret() {
    let (_folder, file) = place();
    let secret = "hush-hush-0123";
    let opaque = json!({"signature": secret, (secret): [secret]});
    let piece = |id: Option<&str>, name: &str| Chunk::Call {
        index: 0,
        id: id.map(str::to_owned),
        name: Some(name.to_owned()),
        arguments: String::new(),
    };
    let pieces = [
        piece(Some(secret), "hush-hu"),
        piece(None, "sh-0123"),
        Chunk::Opaque(opaque.as_object().unwrap().clone()),
        done(),
    ];
    let model = Recording::to_file(Pieces::new(pieces.map(Ok), None), &file).unwrap();
    let model = model.with_secrets(Secrets::new().with(secret).unwrap());
    model.complete(ask("hi")).await.unwrap();
    let written = std::fs::read_to_string(&file).unwrap();
    assert!(!written.contains("hush-hu"), "{written}");
}

#[tokio::test]
async fn what_cannot_be_written_down_fails() {
    struct Full;
    impl std::io::Write for Full {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::Error::other("the disk is full"))
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let model = Recording::new(ScriptedModel::new([say("hi")]), Full);
    let error = model.complete(ask("hi")).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the exchange could not be recorded: the disk is full"
    );
}

#[test]
fn damaged_files_and_newer_ones_are_named_with_the_line() {
    let (_folder, file) = place();
    let heading =
        r#"{"enact_recording":1,"model":"m","capabilities":{"tools":true,"response_schema":true}}"#;
    for (text, problem) in [
        ("", "in line 1: it is empty"),
        (
            "{}\n",
            "in line 1: a recording begins with the field `enact_recording`",
        ),
        ("nonsense\n", "in line 1: expected"),
        (
            "{\"enact_recording\":2}\n",
            "has the format 2, and this release reads up to 1",
        ),
        (
            &format!("{heading}\n{{\"model\":\"m\"}}\n"),
            "in line 2: missing field `request`",
        ),
        (
            &format!("{heading}\n{{\"model\":\"n\",\"request\":{{}},\"chunks\":[]}}\n"),
            "in line 2: no line before it is about `n`",
        ),
        (&format!("{heading}\n{{\"mod"), "in line 2: it is cut off"),
    ] {
        std::fs::write(&file, text).unwrap();
        let said = Replaying::open(&file).unwrap_err().to_string();
        assert!(said.contains(problem), "{said}");
    }
    let nowhere = Replaying::open(file.with_file_name("none"))
        .unwrap_err()
        .to_string();
    assert!(nowhere.contains("cannot be used"), "{nowhere}");
    // What is damaged is not written to.
    let model = Arc::new(ScriptedModel::new([]));
    assert!(Recording::to_file(model, &file).is_err());
}

fn text(text: &str) -> Chunk {
    Chunk::Text(text.into())
}

fn done() -> Chunk {
    Chunk::Finish(enact::model::FinishReason::Stop)
}

/// A model that writes these pieces.
#[derive(Debug)]
struct Pieces {
    items: Vec<Result<Chunk, ModelError>>,
}

impl Pieces {
    fn new(
        items: impl IntoIterator<Item = Result<Chunk, ModelError>>,
        error: Option<ModelError>,
    ) -> Self {
        let items = items.into_iter().chain(error.map(Err)).collect();
        Self { items }
    }
}

impl LanguageModel for Pieces {
    fn info(&self) -> ModelInfo<'_> {
        ModelInfo::new("pieces", Capabilities::TEXT).with_base_url(Some("http://pieces.example"))
    }

    fn stream(&self, _: Request) -> ReplyStream<'_> {
        Box::pin(stream::iter(self.items.clone()))
    }
}
