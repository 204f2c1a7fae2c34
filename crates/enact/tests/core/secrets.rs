//! Secrets stay out of runs, whichever way they come.

use std::sync::{Arc, Mutex};

use enact::driver::{Answered, Asking, Doing, Durability, Effect, Effects};
use enact::model::{ModelErrorKind, ScriptedModel, Secrets, call, fail};
use enact::react::{CallCheck, ToolCall, Verdict};
use enact::run::{Call, Record, Run};
use enact::tool::Confirmation;
use enact::{
    Decision, FnTool, Outcome, ReAct, Settings, ToolContext, ToolError, Tools, forward_effects,
    values,
};
use futures_util::StreamExt as _;
use serde_json::{Value, json};

const SECRET: &str = "hush-\"hush\"-0123";

fn settings() -> Settings {
    Settings::new().secrets(Secrets::new().with(SECRET).unwrap())
}

fn leaky() -> FnTool {
    let spec = enact::tool::ToolSpec::new(
        "leak",
        "Tells too much.",
        json!({"type": "object", "properties": {"text": {"type": "string"}}}),
    );
    let tool = FnTool::from_spec(spec, |args, context: ToolContext| async move {
        context.progress(format!("reading {SECRET}"));
        match args["text"].as_str() {
            Some("fail") => Err(ToolError::new(format!("refused: {SECRET}"))),
            _ => Ok(json!({"key": SECRET, "list": [SECRET]})),
        }
    });
    tool.with_confirmation(Confirmation::when(|args| args["text"] == "ask"))
}

#[tokio::test]
async fn no_log_no_prompt_and_no_update_holds_a_secret() {
    let model = Arc::new(ScriptedModel::new([
        call("leak", json!({"text": SECRET})).thinking(format!("I saw {SECRET}.")),
        call("leak", json!({"text": "fail"})),
        call("leak", json!({"text": "ask"})),
        call("submit", json!({"answer": format!("It is {SECRET}.")})),
    ]));
    let agent = ReAct::builder("question -> answer")
        .tools(Tools::new().with(leaky()))
        .model(Arc::clone(&model))
        .build()
        .unwrap();
    let told = Arc::new(Mutex::new(String::new()));
    let listen = || {
        let told = Arc::clone(&told);
        move |update: &enact::Update| {
            let text = serde_json::to_string(update).unwrap();
            told.lock().unwrap().push_str(&text);
        }
    };
    let done = enact::scope(settings(), async {
        let question = format!("Is {SECRET} good?");
        let call = agent
            .call(values! { question: question })
            .on_update(listen());
        let Outcome::Paused(paused) = call.await.unwrap() else {
            panic!("the rule by arguments outlives the redaction");
        };
        let id = paused.questions()[0].confirmation_id.clone();
        let feedback = Decision::Feedback(format!("No, {SECRET} is wrong."));
        let call = agent.resume(paused).answer(id, feedback);
        call.on_update(listen()).await.unwrap().finished().unwrap()
    })
    .await;
    assert_eq!(done.outputs["answer"], "It is [redacted].");
    let log = serde_json::to_string(done.run().records()).unwrap();
    let prompts = format!("{:?}", model.requests());
    for (what, text) in [
        ("log", log),
        ("prompts", prompts),
        ("updates", told.lock().unwrap().clone()),
    ] {
        assert!(text.contains("[redacted]"), "{what}: {text}");
        assert!(!text.contains("hush"), "{what}: {text}");
    }
}

/// An engine that journals whatever comes through the door.
struct Journalling {
    inner: Box<dyn Effects>,
    journal: Arc<Mutex<String>>,
}

impl Journalling {
    fn journal<T: std::fmt::Debug>(&self, what: &str, given: T) -> T {
        let mut journal = self.journal.lock().unwrap();
        *journal += &format!("{what}: {given:?}\n");
        given
    }
}

impl Effects for Journalling {
    fn append<'a>(&'a self, records: Vec<Record>, when: Durability) -> Effect<'a, Vec<Record>> {
        let records = self.journal("append", records);
        Box::pin(async move { Ok(self.journal("kept", self.inner.append(records, when).await?)) })
    }

    fn ask<'a>(&'a self, asking: Asking<'a>) -> Effect<'a, Answered> {
        Box::pin(async move { Ok(self.journal("ask", self.inner.ask(asking).await?)) })
    }

    fn act<'a>(&'a self, run: &Run, calls: Vec<ToolCall>) -> Doing<'a> {
        let doing = self.inner.act(run, calls);
        Box::pin(doing.map(|done| Ok(self.journal("act", done?))))
    }

    fn check<'a>(&'a self, run: &'a Run, calls: Vec<&'a Call>) -> Effect<'a, Vec<CallCheck>> {
        Box::pin(async move { Ok(self.journal("check", self.inner.check(run, calls).await?)) })
    }

    forward_effects!(self => (self.inner): now, proceed, abandon, ends, tools, wait, stepped);
}

#[tokio::test]
async fn truth_an_engine_journals_no_secret() {
    let agent = ReAct::builder("question -> answer")
        .tools(Tools::new().with(leaky()))
        .model(ScriptedModel::new([
            call("leak", json!({"text": SECRET})).thinking(format!("I saw {SECRET}.")),
            call("leak", json!({"text": "fail"})),
            call("leak", json!({"text": "veto"})),
            call("leak", json!({"text": "change"})),
            call("submit", json!({"answer": format!("It is {SECRET}.")})),
        ]))
        .before_call(|call| match call.args.get("text").and_then(Value::as_str) {
            Some("veto") => Verdict::Veto(format!("{SECRET} is not for you.")),
            Some("change") => Verdict::Change(values! { text: SECRET }),
            _ => Verdict::Allow,
        })
        .build()
        .unwrap();
    let journal = Arc::new(Mutex::new(String::new()));
    let done = enact::scope(settings(), async {
        let journal = Arc::clone(&journal);
        let call = agent.call(values! { question: format!("Is {SECRET} good?") });
        let call = call.through(move |inner| Box::new(Journalling { inner, journal }));
        call.await.unwrap().finished().unwrap()
    })
    .await;
    assert_eq!(done.outputs["answer"], "It is [redacted].");
    let journal = journal.lock().unwrap();
    for what in ["append", "kept", "ask", "act", "check"] {
        let mut lines = journal.lines().filter(|line| line.starts_with(what));
        assert!(
            lines.any(|line| line.contains("[redacted]")),
            "{what}: {journal}"
        );
    }
    for line in journal.lines() {
        assert!(!line.contains("hush"), "{line}");
    }
}

#[tokio::test]
async fn an_error_that_quotes_a_key_is_told_without_it() {
    let step = fail(
        ModelErrorKind::Authentication,
        format!("wrong key: {SECRET}"),
    );
    let agent = ReAct::builder("question -> answer")
        .model(ScriptedModel::new([step]))
        .build()
        .unwrap();
    let call = agent.call(values! { question: "?" });
    let error = enact::scope(settings(), call.into_future())
        .await
        .unwrap_err();
    assert_eq!(error.to_string(), "wrong key: [redacted]");
    assert!(!format!("{error:?}").contains("hush"));
}

/// No four characters of it in a row.
fn assert_hidden(secret: &str, text: &str) {
    for at in 0..secret.len() - 3 {
        let part = &secret[at..at + 4];
        assert!(!text.contains(part), "{part} is in {text}");
    }
}

#[tokio::test]
async fn truth_a_problem_with_a_reply_quotes_no_part_of_a_secret() {
    // Longer than what a message quotes of a value.
    let secret: String = (0..160_u8)
        .map(|n| char::from(b'a' + n % 26 * 7 % 26))
        .collect();
    let agent = ReAct::builder("question -> answer: int")
        .tools(Tools::new().with(leaky()))
        .model(ScriptedModel::new([
            call("submit", json!({"answer": secret})),
            call("leak", json!({"text": [secret]})),
            call(format!("leak {secret}"), json!({})),
            call("submit", json!({"answer": 1})),
        ]))
        .build()
        .unwrap();
    let settings = Settings::new().secrets(Secrets::new().with(&secret).unwrap());
    let call = agent.call(values! { question: "?" });
    let done = enact::scope(settings, call.into_future()).await.unwrap();
    let done = done.finished().unwrap();
    let log = serde_json::to_string(done.run().records()).unwrap();
    assert!(log.contains("expected an integer"), "{log}");
    assert_hidden(&secret, &log);
}

#[tokio::test]
async fn truth_a_problem_with_inputs_quotes_no_part_of_a_secret() {
    let secret: String = (0..160_u8)
        .map(|n| char::from(b'a' + n % 26 * 7 % 26))
        .collect();
    let agent = ReAct::builder("n: int -> answer")
        .model(ScriptedModel::new([]))
        .build()
        .unwrap();
    let settings = Settings::new().secrets(Secrets::new().with(&secret).unwrap());
    let call = agent.call(values! { n: secret });
    let error = enact::scope(settings, call.into_future())
        .await
        .unwrap_err();
    assert!(error.to_string().contains("[redacted]"), "{error}");
    assert_hidden(&secret, &error.to_string());
}
