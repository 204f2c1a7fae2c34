//! Registering, finding and removing.

use std::path::Path;

use enact_models::{Progress, Shelf, ShelfErrorKind};

use crate::hub::{model, sha256};

fn file(folder: &Path, name: &str) -> std::path::PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, model()).unwrap();
    path
}

#[test]
fn a_file_is_registered_where_it_lies() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), "small.Q4.gguf");
    let shelf = Shelf::at(folder.path().join("shelf"));
    assert!(shelf.list().unwrap().is_empty());
    let mut heard = Vec::new();
    let kept = shelf
        .add(&path, None, &mut |progress| heard.push(progress))
        .unwrap();
    let total = model().len() as u64;
    assert_eq!(heard, [Progress { done: total, total }]);
    assert_eq!((kept.name.as_str(), kept.bytes), ("small.Q4", total));
    assert_eq!((&kept.sha256, &kept.source), (&sha256(&model()), &None));
    assert_eq!(shelf.path(&kept), path);
    // Another process finds it, too.
    let other = Shelf::at(folder.path().join("shelf"));
    assert_eq!(other.find("small.Q4").unwrap(), kept);
    // Registering it again changes nothing.
    shelf.add(&path, None, &mut |_| {}).unwrap();
    assert_eq!(shelf.list().unwrap(), [kept]);
}

#[test]
fn removing_forgets_the_model_and_leaves_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), "small.gguf");
    let shelf = Shelf::at(folder.path().join("shelf"));
    shelf.add(&path, None, &mut |_| {}).unwrap();
    shelf.add(&path, Some("other"), &mut |_| {}).unwrap();
    shelf.remove("small").unwrap();
    let names: Vec<String> = shelf
        .list()
        .unwrap()
        .into_iter()
        .map(|kept| kept.name)
        .collect();
    assert_eq!(names, ["other"]);
    assert!(path.exists());
    let error = shelf.remove("small").unwrap_err();
    assert_eq!(error.kind(), ShelfErrorKind::NotFound);
}

#[test]
fn a_name_belongs_to_one_file() {
    let folder = tempfile::tempdir().unwrap();
    let [one, two] = ["one.gguf", "two.gguf"].map(|name| file(folder.path(), name));
    let shelf = Shelf::at(folder.path().join("shelf"));
    shelf.add(&one, Some("small"), &mut |_| {}).unwrap();
    let error = shelf.add(&two, Some("small"), &mut |_| {}).unwrap_err();
    assert_eq!(error.kind(), ShelfErrorKind::Name);
}

#[test]
fn a_file_that_is_gone_or_changed_is_not_taken() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), "small.gguf");
    let shelf = Shelf::at(folder.path().join("shelf"));
    shelf.add(&path, None, &mut |_| {}).unwrap();
    std::fs::write(&path, b"GGUF").unwrap();
    let error = shelf.find("small").unwrap_err();
    assert_eq!(error.kind(), ShelfErrorKind::Checksum);
    std::fs::remove_file(&path).unwrap();
    let error = shelf.find("small").unwrap_err();
    assert_eq!(error.kind(), ShelfErrorKind::NotFound);
    let error = shelf.find("large").unwrap_err();
    assert!(error.to_string().contains("there are small"), "{error}");
}

#[test]
fn what_is_no_model_is_not_registered() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notes.gguf");
    std::fs::write(&path, b"GG").unwrap();
    let shelf = Shelf::at(folder.path().join("shelf"));
    let error = shelf.add(&path, None, &mut |_| {}).unwrap_err();
    assert_eq!(error.kind(), ShelfErrorKind::NotAModel);
    let missing = folder.path().join("missing.gguf");
    let error = shelf.add(&missing, None, &mut |_| {}).unwrap_err();
    assert_eq!(error.kind(), ShelfErrorKind::NotFound);
    assert!(shelf.list().unwrap().is_empty());
}

#[test]
fn processes_that_register_at_once_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), "small.gguf");
    let shelf = Shelf::at(folder.path().join("shelf"));
    std::thread::scope(|scope| {
        for number in 0..8 {
            let (shelf, path) = (&shelf, &path);
            scope.spawn(move || {
                let name = format!("model-{number}");
                shelf.add(path, Some(&name), &mut |_| {}).unwrap();
            });
        }
    });
    assert_eq!(shelf.list().unwrap().len(), 8);
}
