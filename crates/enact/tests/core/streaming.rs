//! Runs as streams: what comes in which order, and what dropping a stream does.

use enact::adapter::Piece;
use enact::model::{
    Capabilities, Chunk, Delivery, LanguageModel, ModelError, ModelErrorKind, ModelInfo,
    ReplyStream, Request, ScriptedModel, call, say,
};
use enact::run::store::{MemoryStore, RunFilter, Store as _};
use enact::run::{Event, Reading};
use enact::{
    ErrorKind, FnTool, Outcome, Predict, Settings, TerminationReason, ToolContext, ToolError,
    Tools, Update, values,
};
use futures_util::stream;
use serde_json::{Value, json};

use super::writing::hear;
use super::{agent, search};

/// An update in a word or two.
fn word(update: &Update) -> String {
    match update {
        Update::Recorded { record } => match &record.event {
            Event::Started(_) => "started".into(),
            Event::Replied(replied) => match &replied.read {
                Reading::Step(_) => "stepped".into(),
                Reading::Summary { .. } => "summarised".into(),
                other => format!("{other:?}"),
            },
            Event::ToolStarted { call_id } => format!("{call_id} started"),
            Event::ToolFinished(finished) => format!("{} finished", finished.call_id),
            Event::Asked(_) => "asked".into(),
            Event::Finished { .. } => "finished".into(),
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
async fn replies_are_streamed_to_those_who_read_along_alone() {
    let script = || [say("done")];
    let played = agent("question -> answer", Tools::new().with(search()), script());
    played.call(values! { question: "q" }).await;
    assert_eq!(played.model.requests()[0].delivery, Delivery::Whole);

    let played = agent("question -> answer", Tools::new().with(search()), script());
    let mut run = played.agent.call(values! { question: "q" }).stream();
    while run.next().await.is_some() {}
    assert_eq!(played.model.requests()[0].delivery, Delivery::Streamed);
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
    let predict = Predict::builder("question -> answer").build().unwrap();
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
    let predict = Predict::builder("question -> answer").build().unwrap();
    let run = predict.call(values! { question: "q" }).stream();
    let error = futures_util::FutureExt::now_or_never(run.outcome()).unwrap();
    assert_eq!(error.unwrap_err().kind(), ErrorKind::Misuse);
}

#[tokio::test]
async fn an_error_in_the_middle_takes_back_what_was_told() {
    #[derive(Debug)]
    struct Breaks;
    impl LanguageModel for Breaks {
        fn info(&self) -> ModelInfo<'_> {
            ModelInfo::new("breaks", Capabilities::FULL)
        }

        fn stream(&self, _: Request) -> ReplyStream<'_> {
            let error = ModelError::new(ModelErrorKind::Connection, "gone");
            Box::pin(stream::iter([Ok(Chunk::Text("Par".into())), Err(error)]))
        }
    }
    let predict = Predict::builder("question -> answer")
        .model(Breaks)
        .build()
        .unwrap();
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
