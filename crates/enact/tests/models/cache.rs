//! Which requests are the same, and what a kept reply says.

use std::sync::Arc;

use enact::model::{
    ANSWERED_BY_CACHE, Cached, Function, Functions, LanguageModel as _, ModelErrorKind,
    ModelOptions, Recording, Request, ScriptedModel, Secrets, ToolChoice, Usage, call, fail, say,
};
use serde_json::{Map, Value, json};

use crate::ask;

#[tokio::test]
async fn the_same_request_gets_the_same_reply_for_nothing() {
    let opaque = Map::from_iter([("anthropic".to_owned(), json!({"thinking": []}))]);
    let step = call("weather", json!({"city": "Paris"}))
        .thinking("Looking.")
        .reasoning("hm")
        .with_ids(["a"])
        .with_opaque(opaque)
        .costing(Usage::of_request(100, 20));
    let model = Cached::in_memory(ScriptedModel::new([step]));
    let first = model.complete(ask("hi")).await.unwrap();
    assert_eq!(first.usage, Usage::of_request(100, 20));
    assert_eq!(first.answered_by, None);

    let again = model.complete(ask("hi")).await.unwrap();
    let mut expected = first;
    expected.usage = Usage::default();
    expected.answered_by = Some(ANSWERED_BY_CACHE.into());
    assert_eq!(again, expected);
    assert_eq!(model.inner().requests().len(), 1);
}

#[tokio::test]
async fn any_difference_is_another_request() {
    let function = |parameters: Value| {
        Arc::new(Functions::new(vec![Function {
            name: "weather".into(),
            description: String::new(),
            parameters,
        }]))
    };
    let mut options = ModelOptions::default();
    options.temperature = Some(0.0);
    let tools = function(json!({"type": "object", "title": "t"}));
    let different: Vec<Request> = vec![
        ask("hi"),
        ask("ho"),
        ask("hi").with_options(options),
        ask("hi").with_stop(vec!["END".into()]),
        ask("hi").with_tools(Arc::clone(&tools)),
        ask("hi")
            .with_tools(Arc::clone(&tools))
            .with_tool_choice(ToolChoice::Required),
    ];
    let steps = (0..different.len()).map(|number| say(number.to_string()));
    let model = Cached::in_memory(ScriptedModel::new(steps));
    for _ in 0..2 {
        for (number, request) in different.iter().enumerate() {
            let reply = model.complete(request.clone()).await.unwrap();
            assert_eq!(reply.text, number.to_string());
        }
    }
    // The order of keys is no difference.
    let turned = ask("hi").with_tools(function(json!({"title": "t", "type": "object"})));
    assert_eq!(model.complete(turned).await.unwrap().text, "4");
}

#[tokio::test]
async fn a_failure_is_not_kept() {
    let steps = [fail(ModelErrorKind::Server, "down"), say("hi")];
    let model = Cached::in_memory(ScriptedModel::new(steps));
    assert!(model.complete(ask("hi")).await.is_err());
    assert_eq!(model.complete(ask("hi")).await.unwrap().answered_by, None);
}

#[tokio::test]
async fn models_do_not_answer_for_each_other() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a", "b"] {
        let scripted = ScriptedModel::new([say(name)]).with_name(name);
        let model = Cached::in_folder(scripted, folder.path()).unwrap();
        assert_eq!(model.complete(ask("hi")).await.unwrap().text, name);
    }
}

#[tokio::test]
async fn a_folder_outlives_the_program() {
    let folder = tempfile::tempdir().unwrap();
    let kept = folder.path().join("new/cache");
    let first = Cached::in_folder(ScriptedModel::new([say("hi")]), &kept).unwrap();
    first.complete(ask("hi")).await.unwrap();
    drop(first);

    let second = Cached::in_folder(ScriptedModel::new([]), &kept).unwrap();
    let reply = second.complete(ask("hi")).await.unwrap();
    assert_eq!(reply.text, "hi");
    assert_eq!(reply.answered_by.as_deref(), Some(ANSWERED_BY_CACHE));

    // A file that was damaged is replaced, and no unfinished one is left behind.
    let files = || -> Vec<_> {
        let files = std::fs::read_dir(&kept).unwrap();
        files.map(|file| file.unwrap().path()).collect()
    };
    std::fs::write(&files()[0], "{").unwrap();
    let third = Cached::in_folder(ScriptedModel::new([say("anew")]), &kept).unwrap();
    assert_eq!(third.complete(ask("hi")).await.unwrap().text, "anew");
    assert_eq!(third.complete(ask("hi")).await.unwrap().text, "anew");
    assert_eq!(files().len(), 1);
}

#[tokio::test]
async fn truth_the_cache_keeps_no_secret() {
    let folder = tempfile::tempdir().unwrap();
    let secrets = Secrets::new().with("hush-hush-0123").unwrap();
    let opaque = json!({"signature": "hush-hush-0123", "hush-hush-0123": ["hush-hush-0123"]});
    let step = call("hush-hush-0123", json!({"key": "hush-hush-0123"}))
        .thinking("It is hush-hush-0123.")
        .with_ids(["call-hush-hush-0123"])
        .with_opaque(opaque.as_object().unwrap().clone())
        .reasoning("hush-hush-0123?");
    let model = Cached::in_folder(ScriptedModel::new([step]), folder.path()).unwrap();
    let model = model.with_secrets(secrets);
    let first = model.complete(ask("hi")).await.unwrap();
    assert!(
        first.text.contains("hush"),
        "whoever asks gets what was said"
    );
    for file in std::fs::read_dir(folder.path()).unwrap() {
        let kept = std::fs::read_to_string(file.unwrap().path()).unwrap();
        assert!(!kept.contains("hush"), "{kept}");
    }
    let again = model.complete(ask("hi")).await.unwrap();
    assert_eq!(again.text, "It is [redacted].");
    assert_eq!(again.calls[0].arguments, r#"{"key":"[redacted]"}"#);
    assert_eq!(again.calls[0].id.as_deref(), Some("call-[redacted]"));
}

#[cfg(unix)]
#[tokio::test]
async fn truth_only_their_owner_can_read_replies_and_recordings() {
    use std::os::unix::fs::PermissionsExt as _;

    let mode = |path: &std::path::Path| {
        let found = std::fs::metadata(path).unwrap();
        found.permissions().mode() & 0o777
    };
    let folder = tempfile::tempdir().unwrap();
    let kept = folder.path().join("new/cache");
    let model = Cached::in_folder(ScriptedModel::new([say("hi")]), &kept).unwrap();
    model.complete(ask("hi")).await.unwrap();
    let reply = std::fs::read_dir(&kept).unwrap().next().unwrap();
    let reply = reply.unwrap().path();
    assert_eq!((mode(&kept), mode(&reply)), (0o700, 0o600));
    assert_eq!(mode(kept.parent().unwrap()), 0o700);

    let tape = folder.path().join("tape.jsonl");
    let record = || Recording::to_file(ScriptedModel::new([say("hi")]), &tape).unwrap();
    record().complete(ask("hi")).await.unwrap();
    assert_eq!(mode(&tape), 0o600);

    // What others could read until now is closed when it is used again.
    for file in [&tape, &reply] {
        let open = std::fs::Permissions::from_mode(0o644);
        std::fs::set_permissions(file, open).unwrap();
    }
    record().complete(ask("hi")).await.unwrap();
    model.complete(ask("hi")).await.unwrap();
    assert_eq!((mode(&tape), mode(&reply)), (0o600, 0o600));
}
