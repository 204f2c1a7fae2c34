//! Fetching from a hub.

use std::path::{Path, PathBuf};

use enact_models::{Hub, Kept, Progress, Shelf, ShelfError, ShelfErrorKind, Wanted};
use enact_test_server::TestServer;
use serde_json::{Value, json};

use crate::hub::{Manner, entry, hub, model, sha256};

const NAME: &str = "owner/repo/small.gguf";

fn one_file() -> Value {
    json!([
        {"type": "directory", "path": "docs", "size": 0, "oid": "1"},
        {"type": "file", "path": "README.md", "size": 7, "oid": "2"},
        entry("small.gguf", &model()),
    ])
}

async fn pull(
    server: &TestServer,
    folder: &Path,
    wanted: Wanted,
) -> (Result<Kept, ShelfError>, Vec<Progress>) {
    let mut heard = Vec::new();
    let hub = Hub::at(server.base_url()).unwrap();
    let pulled = Shelf::at(folder)
        .pull(&hub, &wanted, &mut |progress| heard.push(progress))
        .await;
    (pulled, heard)
}

fn wanted(name: &str) -> Wanted {
    name.parse().unwrap()
}

/// All files below a folder, without the index.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![folder.to_owned()];
    while let Some(next) = open.pop() {
        for entry in std::fs::read_dir(next).into_iter().flatten() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => open.push(path),
                false => found.push(path.strip_prefix(folder).unwrap().to_owned()),
            }
        }
    }
    found.retain(|path| !path.to_string_lossy().starts_with("index."));
    found.sort();
    found
}

/// The ranges that were asked for.
fn ranges(server: &TestServer) -> Vec<Option<String>> {
    let requests = server.requests();
    let bytes = requests.iter().filter(|one| one.path.contains("/resolve/"));
    bytes
        .map(|one| one.header("range").map(str::to_owned))
        .collect()
}

#[tokio::test]
async fn a_model_is_fetched_and_then_known_by_its_name() {
    let server = hub(one_file(), model(), &[Manner::Good]);
    let folder = tempfile::tempdir().unwrap();
    let (pulled, heard) = pull(&server, folder.path(), wanted(NAME)).await;
    let kept = pulled.unwrap();
    assert_eq!(kept.name, "small");
    assert_eq!(kept.source.as_deref(), Some(NAME));
    assert_eq!(kept.sha256, sha256(&model()));
    let total = model().len() as u64;
    assert_eq!(heard.last(), Some(&Progress { done: total, total }));
    let shelf = Shelf::at(folder.path());
    let found = shelf.find("small").unwrap();
    assert_eq!(found, kept);
    assert_eq!(std::fs::read(shelf.path(&found)).unwrap(), model());
    assert_eq!(files(folder.path()), [PathBuf::from(NAME)]);
    // What is there is not fetched again.
    let (again, _) = pull(&server, folder.path(), wanted(NAME)).await;
    assert_eq!(again.unwrap(), kept);
    assert_eq!(ranges(&server), [None]);
}

#[tokio::test]
async fn a_fetch_that_breaks_goes_on_where_it_stopped() {
    let breaks = Manner::BreaksAfter(50_000);
    let server = hub(one_file(), model(), &[breaks, breaks, Manner::Good]);
    let folder = tempfile::tempdir().unwrap();
    let (pulled, _) = pull(&server, folder.path(), wanted(NAME)).await;
    pulled.unwrap();
    let expected = [None, Some("bytes=50000-"), Some("bytes=100000-")];
    assert_eq!(
        ranges(&server),
        expected.map(|range| range.map(str::to_owned))
    );
}

#[tokio::test]
async fn a_later_pull_goes_on_where_an_earlier_one_was_ended() {
    let manners = [Manner::BreaksAfter(70_000), Manner::Refuses(503)];
    let broken = hub(one_file(), model(), &manners);
    let folder = tempfile::tempdir().unwrap();
    let (pulled, _) = pull(&broken, folder.path(), wanted(NAME)).await;
    let error = pulled.unwrap_err();
    assert_eq!(error.kind(), ShelfErrorKind::Hub, "{error}");
    // Nothing that looks like a model is there.
    let left = files(folder.path());
    assert_eq!(left.len(), 1);
    assert!(left[0].to_string_lossy().ends_with(".part"), "{left:?}");
    assert!(Shelf::at(folder.path()).list().unwrap().is_empty());
    let server = hub(one_file(), model(), &[Manner::Good]);
    let (pulled, heard) = pull(&server, folder.path(), wanted(NAME)).await;
    pulled.unwrap();
    assert!(heard.iter().all(|progress| progress.done > 70_000));
    assert_eq!(ranges(&server), [Some("bytes=70000-".to_owned())]);
    assert_eq!(files(folder.path()), [PathBuf::from(NAME)]);
}

#[tokio::test]
async fn a_hub_without_ranges_gives_all_of_it_again() {
    let manners = [Manner::BreaksAfter(70_000), Manner::IgnoresRanges];
    let server = hub(one_file(), model(), &manners);
    let folder = tempfile::tempdir().unwrap();
    let (pulled, _) = pull(&server, folder.path(), wanted(NAME)).await;
    assert_eq!(pulled.unwrap().sha256, sha256(&model()));
    let path = folder.path().join(NAME);
    assert_eq!(std::fs::read(path).unwrap(), model());
}

#[tokio::test]
async fn a_file_with_another_checksum_is_thrown_away() {
    let server = hub(one_file(), model(), &[Manner::Lies]);
    let folder = tempfile::tempdir().unwrap();
    let (pulled, _) = pull(&server, folder.path(), wanted(NAME)).await;
    let error = pulled.unwrap_err();
    assert_eq!(error.kind(), ShelfErrorKind::Checksum);
    assert!(
        error.to_string().contains(sha256(&model()).as_str()),
        "{error}"
    );
    assert_eq!(files(folder.path()), [] as [PathBuf; 0]);
    assert!(Shelf::at(folder.path()).list().unwrap().is_empty());
}

#[tokio::test]
async fn without_a_checksum_nothing_is_fetched_unless_one_is_given() {
    let size = model().len();
    let list = json!([{"type": "file", "path": "small.gguf", "size": size, "oid": "0"}]);
    let server = hub(list, model(), &[Manner::Good]);
    let folder = tempfile::tempdir().unwrap();
    let (pulled, _) = pull(&server, folder.path(), wanted(NAME)).await;
    let error = pulled.unwrap_err();
    assert_eq!(error.kind(), ShelfErrorKind::Checksum);
    assert!(error.to_string().contains("--sha256"), "{error}");
    assert_eq!(ranges(&server), []);
    let trusted = wanted(NAME).with_sha256(sha256(&model()));
    let (pulled, _) = pull(&server, folder.path(), trusted).await;
    pulled.unwrap();
}

#[tokio::test]
async fn a_repository_with_one_model_needs_no_file_name() {
    let server = hub(one_file(), model(), &[Manner::Good]);
    let folder = tempfile::tempdir().unwrap();
    let (pulled, _) = pull(
        &server,
        folder.path(),
        wanted("owner/repo").with_name("mine"),
    )
    .await;
    let kept = pulled.unwrap();
    assert_eq!(
        (kept.name.as_str(), kept.source.as_deref()),
        ("mine", Some(NAME))
    );
}

#[tokio::test]
async fn a_repository_with_several_models_tells_their_names() {
    let list = json!([
        entry("a.gguf", &model()),
        entry("sub/b.GGUF", &model()),
        entry("c-00001-of-00002.gguf", &model()),
    ]);
    let server = hub(list, model(), &[Manner::Good]);
    let folder = tempfile::tempdir().unwrap();
    let failed = async |name: &str| {
        let (pulled, _) = pull(&server, folder.path(), wanted(name)).await;
        pulled.unwrap_err()
    };
    let error = failed("owner/repo").await;
    assert_eq!(error.kind(), ShelfErrorKind::Ambiguous);
    assert!(error.to_string().contains("a.gguf, sub/b.GGUF"), "{error}");
    let error = failed("owner/repo/d.gguf").await;
    assert_eq!(error.kind(), ShelfErrorKind::NotFound);
    let error = failed("owner/repo/c-00001-of-00002.gguf").await;
    assert_eq!(error.kind(), ShelfErrorKind::NotAModel);
    let error = failed("owner/other").await;
    assert_eq!(error.kind(), ShelfErrorKind::NotFound);
    let (pulled, _) = pull(&server, folder.path(), wanted("owner/repo/sub/b.GGUF")).await;
    assert_eq!(pulled.unwrap().name, "b");
}

#[tokio::test]
async fn what_is_no_model_gets_no_name() {
    let page = b"<html>".to_vec();
    let server = hub(json!([entry("small.gguf", &page)]), page, &[Manner::Good]);
    let folder = tempfile::tempdir().unwrap();
    let (pulled, _) = pull(&server, folder.path(), wanted(NAME)).await;
    assert_eq!(pulled.unwrap_err().kind(), ShelfErrorKind::NotAModel);
    assert!(!folder.path().join(NAME).exists());
}

#[tokio::test]
async fn a_name_that_is_taken_is_told_before_anything_is_fetched() {
    let server = hub(one_file(), model(), &[Manner::Good]);
    let folder = tempfile::tempdir().unwrap();
    let mine = folder.path().join("mine.gguf");
    std::fs::write(&mine, model()).unwrap();
    let shelf = Shelf::at(folder.path().join("shelf"));
    shelf.add(&mine, Some("small"), &mut |_| {}).unwrap();
    let (pulled, _) = pull(&server, shelf.folder(), wanted(NAME)).await;
    let error = pulled.unwrap_err();
    assert_eq!(error.kind(), ShelfErrorKind::Name);
    assert!(error.to_string().contains("--name"), "{error}");
    assert_eq!(ranges(&server), []);
}

#[tokio::test]
async fn a_hub_that_refuses_says_what_to_do() {
    let server = hub(one_file(), model(), &[Manner::Refuses(401)]);
    let folder = tempfile::tempdir().unwrap();
    let (pulled, _) = pull(&server, folder.path(), wanted(NAME)).await;
    let error = pulled.unwrap_err();
    assert_eq!(error.kind(), ShelfErrorKind::Hub);
    assert!(error.to_string().contains("HF_TOKEN"), "{error}");
}
