//! The documentation: every link leads somewhere, every page is in the summary, every command names
//! what exists, every example runs, and what is pasted from an example is what it prints.

#![expect(
    clippy::expect_used,
    clippy::panic,
    reason = "test code outside of test functions"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The files of a folder, at any depth, with this extension.
fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(files(&path, extension));
        } else if path.extension().is_some_and(|known| known == extension) {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn pages() -> Vec<PathBuf> {
    let mut pages = ["README.md", "CONTRIBUTING.md", "bench/README.md"]
        .map(|name| root().join(name))
        .to_vec();
    pages.extend(files(&root().join("docs"), "md"));
    pages
}

/// The text without fenced code, where brackets are no links.
fn prose(text: &str) -> String {
    let mut in_code = false;
    let lines = text.lines().filter(|line| {
        let is_fence = line.trim_start().starts_with("```");
        in_code ^= is_fence;
        !in_code && !is_fence
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The lines between fences of a language.
fn code(text: &str, language: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut fence: Option<&str> = None;
    for line in text.lines() {
        match (fence, line.trim_start().strip_prefix("```")) {
            (None, Some(opened)) => fence = Some(opened),
            (Some(_), Some(_)) => fence = None,
            (Some(opened), None) if opened == language => lines.push(line.to_owned()),
            _ => {}
        }
    }
    lines
}

/// The targets of `[text](target)`. Code such as `list[str](1..)` is no link.
fn inline_links(text: &str) -> Vec<String> {
    let prose = prose(text);
    let targets = prose.match_indices("](").filter_map(|(at, _)| {
        let line_start = prose[..at].rfind('\n').map_or(0, |end| end + 1);
        let is_code = prose[line_start..at].matches('`').count() % 2 == 1;
        let target = prose[at + 2..].split(')').next()?;
        let target = target.split_whitespace().next()?.to_owned();
        (!is_code).then_some(target)
    });
    targets.collect()
}

/// The labels and targets of `[label]: target`.
fn definitions(text: &str) -> BTreeMap<String, String> {
    let prose = prose(text);
    let lines = prose.lines().filter_map(|line| {
        let (label, target) = line.strip_prefix('[')?.split_once("]: ")?;
        Some((label.to_owned(), target.to_owned()))
    });
    lines.collect()
}

/// The labels of `[text][label]`.
fn labels(text: &str) -> BTreeSet<String> {
    let prose = prose(text);
    let labels = prose.split("][").skip(1);
    labels
        .filter_map(|rest| Some(rest.split_once(']')?.0.to_owned()))
        .collect()
}

fn links(text: &str) -> Vec<String> {
    let mut links = inline_links(text);
    links.extend(definitions(text).into_values());
    links
}

/// The name that a heading is linked by.
fn anchor(heading: &str) -> String {
    let kept = heading
        .trim()
        .chars()
        .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.flat_map(char::to_lowercase)
        .map(|c| if c == ' ' { '-' } else { c })
        .collect()
}

fn anchors(text: &str) -> BTreeSet<String> {
    let prose = prose(text);
    let headings = prose.lines().filter(|line| line.starts_with('#'));
    headings
        .map(|line| anchor(line.trim_start_matches('#')))
        .collect()
}

#[test]
fn every_relative_link_leads_somewhere() {
    let mut seen = 0;
    for page in pages() {
        let text = read(&page);
        for link in links(&text) {
            if link.contains("://") || link.starts_with("mailto:") {
                continue;
            }
            seen += 1;
            let (path, fragment) = match link.split_once('#') {
                Some((path, fragment)) => (path, Some(fragment)),
                None => (link.as_str(), None),
            };
            let target = match path {
                "" => page.clone(),
                path => page.parent().expect("a folder").join(path),
            };
            assert!(target.exists(), "{}: no `{link}`", page.display());
            if let Some(fragment) = fragment {
                assert!(
                    anchors(&read(&target)).contains(fragment),
                    "{}: no heading for `{link}`",
                    page.display()
                );
            }
        }
    }
    assert!(seen > 50, "the links were not read");
}

#[test]
fn the_summary_lists_every_page_once() {
    let docs = root().join("docs");
    let listed = links(&read(&docs.join("SUMMARY.md")));
    let distinct: BTreeSet<String> = listed.iter().cloned().collect();
    assert_eq!(distinct.len(), listed.len(), "a page is listed twice");
    let there: BTreeSet<String> = files(&docs, "md")
        .iter()
        .filter_map(|path| path.strip_prefix(&docs).ok())
        .map(|path| path.to_string_lossy().replace('\\', "/"))
        .filter(|path| path != "SUMMARY.md")
        .collect();
    assert_eq!(distinct, there);
}

#[test]
fn the_files_that_the_architecture_names_exist() {
    let page = read(&root().join("docs/architecture.md"));
    let named: Vec<&str> = page
        .split('`')
        .filter(|text| text.starts_with("crates/"))
        .collect();
    for file in &named {
        assert!(
            root().join(file).is_file(),
            "docs/architecture.md: no {file}"
        );
    }
    assert!(named.len() > 20, "the names were not read");
}

#[test]
fn the_identifiers_that_the_architecture_names_are_in_its_files() {
    let page = read(&root().join("docs/architecture.md"));
    let code = || page.split('`').skip(1).step_by(2);
    let files = code().filter(|text| text.starts_with("crates/"));
    let sources: String = files.map(|file| read(&root().join(file))).collect();
    let is_other = |c: char| !(c.is_alphanumeric() || c == '_');
    let known: BTreeSet<&str> = sources.split(is_other).collect();
    let mut seen = 0;
    for text in code().filter(|text| !text.contains(['/', '.'])) {
        for name in text.split(is_other).filter(|name| !name.is_empty()) {
            seen += 1;
            assert!(
                known.contains(name),
                "docs/architecture.md: `{text}` is not in the files that it names"
            );
        }
    }
    assert!(seen > 30, "the identifiers were not read");
}

/// The pages of the book, by their paths below `docs`.
fn book() -> BTreeMap<String, String> {
    let docs = root().join("docs");
    let pages = files(&docs, "md").into_iter().map(|path| {
        let below = path.strip_prefix(&docs).expect("below docs");
        (below.to_string_lossy().replace('\\', "/"), read(&path))
    });
    pages.filter(|(path, _)| path != "SUMMARY.md").collect()
}

#[test]
fn every_page_is_in_rustdoc_and_compiled() {
    let list = read(&root().join("crates/enact/src/docs.rs"));
    let elsewhere = ["enact-llama", "enact-mcp", "enact-otel"]
        .map(|name| read(&root().join("crates").join(name).join("src/lib.rs")))
        .concat();
    for (page, text) in book() {
        let names = [format!("\"{page}\""), format!("/docs/{page}\"")];
        let entries = || {
            list.lines()
                .filter(|line| names.iter().any(|name| line.contains(name)))
        };
        assert_eq!(
            entries().count(),
            1,
            "docs/{page} belongs into `crates/enact/src/docs.rs`, once"
        );
        let is_elsewhere = entries().any(|line| line.contains("page_of_another_crate!"));
        let is_compiled_there = elsewhere.contains(&format!("\"docs/{page}\""));
        assert_eq!(is_elsewhere, is_compiled_there, "docs/{page}");
        assert!(!is_elsewhere || text.contains("```rust"), "docs/{page}");
    }
    assert!(list.contains("../README.md"));
}

/// Relative links between pages lead nowhere in rustdoc, so pages link by labels, which `docs_links.md`
/// defines for rustdoc.
#[test]
fn pages_link_to_each_other_by_labels() {
    let mut wanted = BTreeMap::new();
    for (page, text) in book() {
        for link in inline_links(&text) {
            assert!(
                link.contains("://") || link.starts_with('#'),
                "docs/{page}: write `[text][label]` instead of `{link}`, and define the label"
            );
        }
        let defined = definitions(&text);
        let used = labels(&text);
        assert!(
            used.iter().eq(defined.keys()),
            "docs/{page}: labels {used:?}, definitions {:?}",
            defined.keys()
        );
        for (label, target) in defined {
            let (path, heading) = match label.split_once('#') {
                Some((path, heading)) => (path, format!("#{heading}")),
                None => (label.as_str(), String::new()),
            };
            let up = "../".repeat(page.matches('/').count());
            let folder = page.rsplit_once('/').map_or("", |(folder, _)| folder);
            let beside = path.strip_prefix(&format!("{folder}/"));
            let fits = [
                Some(format!("{up}{path}.md{heading}")),
                beside.map(|name| format!("{name}.md{heading}")),
            ];
            assert!(
                fits.contains(&Some(target.clone())),
                "docs/{page}: `{label}` leads to `{target}`"
            );
            let module = path.replace('/', "::").replace('-', "_");
            wanted.insert(label.clone(), format!("crate::docs::{module}{heading}"));
        }
    }
    let file = root().join("crates/enact/src/docs_links.md");
    let lines = wanted
        .iter()
        .map(|(label, path)| format!("[{label}]: {path}\n"));
    let expected: String = lines.collect();
    if std::env::var("ENACT_LINKS").is_ok_and(|mode| mode == "write") {
        std::fs::write(&file, &expected).expect("a file that can be written");
    }
    assert!(
        read(&file) == expected,
        "crates/enact/src/docs_links.md does not define what pages link to: run this test with \
         ENACT_LINKS=write"
    );
}

#[test]
fn every_cargo_command_names_what_exists() {
    let packages: BTreeSet<String> = std::fs::read_dir(root().join("crates"))
        .expect("the crates")
        .map(|entry| entry.expect("an entry").file_name())
        .map(|name| name.into_string().expect("a name"))
        .collect();
    let mut seen = 0;
    for page in pages() {
        for line in code(&read(&page), "sh") {
            let words: Vec<&str> = line.split_whitespace().collect();
            if words.first() != Some(&"cargo") {
                continue;
            }
            seen += 1;
            for pair in words.windows(2) {
                let exists = match pair[0] {
                    "-p" | "--package" => packages.contains(pair[1]),
                    "--path" => root().join(pair[1]).join("Cargo.toml").exists(),
                    "--example" => {
                        let file = format!("crates/enact/examples/{}.rs", pair[1]);
                        root().join(file).exists()
                    }
                    _ => true,
                };
                assert!(exists, "{}: no `{}`: {line}", page.display(), pair[1]);
            }
        }
    }
    assert!(seen >= 3, "the commands were not read");
}

#[test]
fn every_test_that_a_promise_points_to_exists() {
    let tests: String = ["crates/enact/tests", "crates/enact-cli/tests"]
        .iter()
        .flat_map(|folder| files(&root().join(folder), "rs"))
        .map(|path| read(&path))
        .collect();
    let page = prose(&read(&root().join("docs/concepts/promises.md")));
    let names: BTreeSet<&str> = page
        .split('`')
        .skip(1)
        .step_by(2)
        .filter(|quoted| quoted.matches('_').count() >= 3)
        .filter(|quoted| {
            quoted
                .bytes()
                .all(|byte| byte == b'_' || byte.is_ascii_alphanumeric())
        })
        .collect();
    assert!(names.len() > 15, "the names were not read: {names:?}");
    for name in names {
        assert!(
            tests.contains(&format!("fn {name}(")),
            "there is no test `{name}`"
        );
    }
}

/// The examples as `cargo test --workspace` has built them; none when only this package was built.
fn built_examples() -> Vec<PathBuf> {
    let this = std::env::current_exe().expect("this test is a program");
    let folder = this.ancestors().nth(2).expect("a folder").join("examples");
    let sources = files(&root().join("crates/enact/examples"), "rs");
    let names = sources.iter().filter_map(|path| path.file_stem());
    names
        .map(|name| {
            folder
                .join(name)
                .with_extension(std::env::consts::EXE_EXTENSION)
        })
        .filter(|program| program.exists())
        .collect()
}

fn output_of(program: &Path) -> String {
    let output = Command::new(program)
        .env_remove("ENACT_MODEL")
        .output()
        .expect("an example runs");
    assert!(
        output.status.success(),
        "{}: {}",
        program.display(),
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).expect("an example prints text")
}

#[test]
fn every_example_runs_without_a_model() {
    let programs = built_examples();
    if programs.is_empty() {
        println!("skipped: `cargo test --workspace` builds the examples");
    }
    for program in programs {
        assert!(!output_of(&program).is_empty(), "{}", program.display());
    }
}

#[test]
fn examples_are_numbered_and_short() {
    for (index, path) in files(&root().join("crates/enact/examples"), "rs")
        .iter()
        .enumerate()
    {
        let name = path.file_name().expect("a name").to_string_lossy();
        let number = format!("{:02}_", index + 1);
        assert!(
            name.starts_with(&number),
            "{name} should start with {number}"
        );
        let lines = read(path).lines().count();
        assert!(lines <= 120, "{name} has {lines} lines");
    }
}

#[test]
fn the_adapter_reference_shows_the_real_prompts() {
    let Some(program) = built_examples()
        .into_iter()
        .find(|path| path.to_string_lossy().contains("07_adapters"))
    else {
        println!("skipped: `cargo test --workspace` builds the examples");
        return;
    };
    let page = read(&root().join("docs/reference/adapters.md"));
    let printed = output_of(&program);
    let sections: Vec<&str> = printed.split("=== ").skip(1).collect();
    assert_eq!(sections.len(), 5);
    for section in sections {
        let (title, prompt) = section.split_once('\n').expect("a title");
        assert!(
            page.contains(&format!("```text\n{}\n```", prompt.trim())),
            "docs/reference/adapters.md differs from what `cargo run -p enact --example \
             07_adapters` prints for {title}: paste it again"
        );
    }
}
