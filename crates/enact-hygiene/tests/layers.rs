//! The layers of the core, as CONTRIBUTING draws them: each folder may use only what is listed.

#![expect(clippy::expect_used, reason = "test code outside of test functions")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Layer, and the layers that it may use.
const LAYERS: &[(&str, &[&str])] = &[
    ("signature", &[]),
    ("model", &[]),
    ("tool", &["model", "signature"]),
    ("run", &["model", "signature", "tool"]),
    ("adapter", &["model", "run", "signature", "tool"]),
    (
        "predictor",
        &["adapter", "model", "run", "signature", "tool"],
    ),
    (
        "react",
        &["adapter", "model", "predictor", "run", "signature", "tool"],
    ),
    (
        "driver",
        &[
            "adapter",
            "error",
            "model",
            "react",
            "run",
            "signature",
            "telemetry",
            "tool",
        ],
    ),
    ("telemetry", &[]),
    ("settings", &["adapter", "model", "run", "telemetry"]),
    (
        "module",
        &[
            "adapter",
            "driver",
            "error",
            "model",
            "predictor",
            "react",
            "run",
            "settings",
            "signature",
            "tool",
        ],
    ),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files
}

#[test]
fn each_layer_uses_only_what_it_may() {
    let source = root().join("crates/enact-core/src");
    for (layer, allowed) in LAYERS {
        let folder = source.join(layer);
        let files = if folder.is_dir() {
            rust_files(&folder)
        } else {
            vec![folder.with_extension("rs")]
        };
        for file in files {
            let text = std::fs::read_to_string(&file).expect("a source file");
            let code = text
                .lines()
                .filter(|line| !line.trim_start().starts_with("//"));
            let used: BTreeSet<&str> = code
                .flat_map(|line| line.split("crate::").skip(1))
                .filter_map(|rest| {
                    rest.split(|c: char| !c.is_alphanumeric() && c != '_')
                        .next()
                })
                .filter(|name| LAYERS.iter().any(|(known, _)| known == name) || *name == "error")
                .collect();
            for name in used {
                assert!(
                    name == *layer || allowed.contains(&name),
                    "{} uses `crate::{name}`, which the layer `{layer}` may not",
                    file.display()
                );
            }
        }
    }
}

#[test]
fn every_layer_is_a_folder_and_every_folder_a_layer() {
    let source = root().join("crates/enact-core/src");
    for entry in std::fs::read_dir(&source).expect("the sources") {
        let entry = entry.expect("an entry");
        let name = entry.file_name().into_string().expect("a name");
        if entry.path().is_dir() {
            assert!(
                LAYERS.iter().any(|(layer, _)| *layer == name),
                "`{name}` is no layer"
            );
        }
    }
}

#[test]
fn no_source_file_is_longer_than_500_lines() {
    let bench = [
        "enact", "floors", "genai", "harness", "measure", "rig", "server",
    ];
    let bench = bench.map(|name| root().join("bench").join(name));
    let folders = bench.into_iter().chain([root().join("crates")]);
    for file in folders.flat_map(|folder| rust_files(&folder)) {
        let lines = std::fs::read_to_string(&file)
            .expect("a source file")
            .lines()
            .count();
        assert!(
            lines <= 500,
            "{} has {lines} lines: split it by what it is about",
            file.display()
        );
    }
}

#[test]
fn the_readme_and_ci_run_the_same_test_command() {
    let readme = std::fs::read_to_string(root().join("README.md")).expect("README.md");
    let ci = std::fs::read_to_string(root().join(".ci/run")).expect(".ci/run");
    assert!(readme.contains("cargo test --workspace"));
    assert!(ci.contains("cargo test --workspace"));
}

/// Views, drivers and faces work on steps and changes of a run. A new kind of event is then one arm in
/// one place.
#[test]
fn only_runs_look_into_events() {
    let mut found = Vec::new();
    for file in rust_files(&root().join("crates")) {
        let path = file.to_string_lossy().replace('\\', "/");
        let is_source = path.contains("/src/") && !path.contains("/enact-core/src/run/");
        if !is_source || path.ends_with("/tests.rs") || path.contains("/src/tests/") {
            continue;
        }
        let text = std::fs::read_to_string(&file).expect("a file");
        // Examples in documentation are programs of users.
        let lines = (1..).zip(text.lines());
        let code = lines.filter(|(_, line)| !line.trim_start().starts_with("//"));
        for (number, line) in code {
            if names_a_kind_of_event(line) || renames_events(line) {
                found.push(format!("{path}:{number}: {}", line.trim()));
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// Where a line has this text and it is not the end of a longer name.
fn places<'a>(line: &'a str, text: &'a str) -> impl Iterator<Item = usize> {
    let found = line.match_indices(text).map(|(at, _)| at);
    found.filter(|at| !line[..*at].ends_with(|before: char| before.is_alphanumeric()))
}

/// Whether a line names a variant of `Event`, such as `Event::Started`, or imports variants.
fn names_a_kind_of_event(line: &str) -> bool {
    places(line, "Event::").any(|at| {
        let variant = line[at + "Event::".len()..].chars().next();
        variant.is_some_and(|first| first.is_uppercase() || "*{".contains(first))
    })
}

/// Whether a line gives `Event` another name, or adds to it, where its variants need no name. Other
/// crates have events, too.
fn renames_events(line: &str) -> bool {
    let is_renamed = places(line, "Event as ").next().is_some();
    let is_alias = line.contains("type ") && places(line, "Event;").next().is_some();
    let is_extended =
        line.trim_start().starts_with("impl") && places(line, "Event {").next().is_some();
    (is_renamed && !line.contains("pulldown_cmark::")) || is_alias || is_extended
}

#[test]
fn a_look_into_events_is_found_in_any_form() {
    for line in [
        "    Event::Started(started) => started,",
        "    run::Event::Replied(_) => {}",
        "use enact::run::Event::*;",
        "use enact::run::Event::{Asked, Replied};",
    ] {
        assert!(names_a_kind_of_event(line), "{line}");
    }
    for line in [
        "use enact::run::{Event as Happened, Run};",
        "type Happened = enact::run::Event;",
        "impl Sealed for Event {",
    ] {
        assert!(renames_events(line), "{line}");
    }
    for line in [
        "use enact::run::Event;",
        "    Event::tool_started(&call.id)",
        "    ChatStreamEvent::Start => {}",
        "use pulldown_cmark::{Event as Markup, Options};",
    ] {
        assert!(
            !names_a_kind_of_event(line) && !renames_events(line),
            "{line}"
        );
    }
}
