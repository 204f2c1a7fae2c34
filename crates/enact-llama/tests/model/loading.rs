//! From a file to a model.

use std::sync::{Arc, Mutex};

use enact::LanguageModel as _;
use enact::model::ModelErrorKind;
use enact_llama::LocalModel;

use crate::loaded::{asking, loading};

#[tokio::test]
async fn loading_tells_how_far_it_is_and_the_model_has_a_name() {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let told = heard.clone();
    let loading = loading(256).watched_by(move |part| told.lock().unwrap().push(part));
    let model = loading.load().unwrap();
    let heard = heard.lock().unwrap();
    assert!(heard.is_sorted(), "{heard:?}");
    assert!(heard.len() > 2 && heard.last() == Some(&1.0), "{heard:?}");
    assert_eq!(model.name(), "SmolLM2-135M-Instruct.Q4_1");
    assert_eq!(model.context_tokens(), 256);
}

#[tokio::test]
async fn clones_share_the_model_until_the_last_is_gone() {
    let model = loading(256).with_name("small").load().unwrap();
    let clone = model.clone();
    drop(model);
    assert_eq!(clone.name(), "small");
    clone.complete(asking("Hi", 1)).await.unwrap();
    let stream = clone.stream(asking("Tell me a story.", 100));
    drop(stream);
    drop(clone);
}

#[test]
fn a_file_that_is_no_model_is_told_apart_from_one_that_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing.gguf");
    let error = LocalModel::file(&missing).load().unwrap_err();
    assert_eq!(error.kind(), ModelErrorKind::NotFound);
    let notes = folder.path().join("notes.gguf");
    std::fs::write(&notes, "notes").unwrap();
    let error = LocalModel::file(&notes).load().unwrap_err();
    assert!(error.to_string().contains("is no GGUF file"), "{error}");
    let damaged = folder.path().join("damaged.gguf");
    std::fs::write(&damaged, "GGUF and nothing that belongs there").unwrap();
    let error = LocalModel::file(&damaged).load().unwrap_err();
    assert_eq!(error.kind(), ModelErrorKind::InvalidRequest);
    assert!(error.to_string().contains("cannot be loaded"), "{error}");
}
