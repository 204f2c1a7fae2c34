use std::fs;

use proptest::prelude::*;
use serde_json::{Value, json};
use tempfile::TempDir;

mod editing;

use super::*;
use enact_core::tool::{Confirmation, Effect, Tool, ToolContext, ToolError};

/// A folder with files, inside one that holds a secret beside it.
struct Fixture {
    outer: TempDir,
    files: Files,
}

impl Fixture {
    fn new() -> Self {
        let outer = tempfile::tempdir().unwrap();
        let inner = outer.path().join("inner");
        fs::create_dir_all(inner.join("notes/deep")).unwrap();
        fs::write(outer.path().join("secret.txt"), "SECRET").unwrap();
        fs::write(inner.join("a.txt"), "one\ntwo\nthree\n").unwrap();
        fs::write(inner.join("notes/b.md"), "Two apples\nno pears").unwrap();
        fs::write(inner.join("notes/deep/c.md"), "two more").unwrap();
        fs::write(inner.join("picture.bin"), [0_u8, 159, 146, 150]).unwrap();
        let files = Files::open(&inner).unwrap();
        Self { outer, files }
    }

    fn inner(&self) -> PathBuf {
        self.outer.path().join("inner")
    }

    fn call(&self, name: &str, args: Value) -> Result<Value, ToolError> {
        let tools = self.files.tools();
        let tool = tools.get(name).unwrap();
        let args = serde_json::from_value(args).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        let output = runtime.block_on(tool.call(args, ToolContext::detached("c")))?;
        Ok(output.value)
    }

    fn error(&self, name: &str, args: Value) -> String {
        let error = self.call(name, args).unwrap_err().to_string();
        let outer = self.outer.path().to_string_lossy().into_owned();
        assert!(
            !error.contains(&outer),
            "shows where the folder is: {error}"
        );
        error
    }
}

#[test]
fn a_folder_is_listed_with_folders_marked() {
    let fixture = Fixture::new();
    let all = json!(["a.txt", "notes/", "picture.bin"]);
    assert_eq!(fixture.call("list_files", json!({})).unwrap(), all);
    assert_eq!(
        fixture.call("list_files", json!({"path": "./"})).unwrap(),
        all
    );
    assert_eq!(
        fixture
            .call("list_files", json!({"path": "notes"}))
            .unwrap(),
        json!(["b.md", "deep/"])
    );
    assert_eq!(
        fixture.error("list_files", json!({"path": "a.txt"})),
        "`a.txt` is a file: use `read_file` to see what it holds"
    );
}

#[test]
fn long_listings_are_bounded() {
    let fixture = Fixture::new();
    fs::create_dir(fixture.inner().join("many")).unwrap();
    for number in 0..510 {
        fs::write(fixture.inner().join(format!("many/{number:03}")), "").unwrap();
    }
    let names = fixture.call("list_files", json!({"path": "many"})).unwrap();
    assert_eq!(names.as_array().unwrap().len(), 501);
    assert_eq!(names[500], "… and 10 more");
}

#[test]
fn text_is_read_whole_or_in_parts() {
    let fixture = Fixture::new();
    assert_eq!(
        fixture.call("read_file", json!({"path": "a.txt"})).unwrap(),
        "one\ntwo\nthree\n"
    );
    assert_eq!(
        fixture
            .call(
                "read_file",
                json!({"path": "a.txt", "from_line": 2, "max_lines": 1})
            )
            .unwrap(),
        "two\n[lines 2 to 2 of 3; go on with from_line=3]"
    );
    assert_eq!(
        fixture
            .call(
                "read_file",
                json!({"path": "notes/../a.txt", "from_line": 3})
            )
            .unwrap(),
        "three\n"
    );
    assert_eq!(
        fixture.error("read_file", json!({"path": "a.txt", "from_line": 9})),
        "`a.txt` has only 3 lines"
    );
}

#[test]
fn what_cannot_be_read_is_said() {
    let fixture = Fixture::new();
    assert_eq!(
        fixture.error("read_file", json!({"path": "b.txt"})),
        "there is no `b.txt`: use `list_files` to see what there is"
    );
    assert_eq!(
        fixture.error("read_file", json!({"path": "notes"})),
        "`notes` is a folder: use `list_files` to see what is in it"
    );
    assert_eq!(
        fixture.error("read_file", json!({"path": "picture.bin"})),
        "`picture.bin` is a binary file of 4 bytes, not text"
    );
    let file = fs::File::create(fixture.inner().join("huge.txt")).unwrap();
    file.set_len(9 * 1024 * 1024).unwrap();
    assert_eq!(
        fixture.error("read_file", json!({"path": "huge.txt"})),
        "`huge.txt` is too large to be read: 9437184 bytes, and the limit is 8388608"
    );
}

#[test]
fn long_results_are_bounded() {
    let fixture = Fixture::new();
    fs::write(fixture.inner().join("lines.txt"), "x\n".repeat(1_000)).unwrap();
    fs::write(
        fixture.inner().join("wide.txt"),
        format!("{}\nend", "x".repeat(50_000)),
    )
    .unwrap();
    let lines = fixture
        .call("read_file", json!({"path": "lines.txt", "max_lines": 5000}))
        .unwrap();
    let note = "x\n[lines 1 to 400 of 1000; go on with from_line=401]";
    assert!(lines.as_str().unwrap().ends_with(note));
    let wide = fixture
        .call("read_file", json!({"path": "wide.txt"}))
        .unwrap();
    let note =
        "x\n[line 1 is cut after 40000 characters]\n[lines 1 to 1 of 2; go on with from_line=2]";
    assert!(
        wide.as_str().unwrap().ends_with(note),
        "{}",
        &wide.as_str().unwrap()[39_990..]
    );
}

#[test]
fn text_is_found_in_files_below_a_folder() {
    let fixture = Fixture::new();
    assert_eq!(
        fixture
            .call("search_files", json!({"text": "TWO"}))
            .unwrap(),
        json!([
            "a.txt:2: two",
            "notes/b.md:1: Two apples",
            "notes/deep/c.md:1: two more"
        ])
    );
    assert_eq!(
        fixture
            .call(
                "search_files",
                json!({"text": "Two", "case_sensitive": true})
            )
            .unwrap(),
        json!(["notes/b.md:1: Two apples"])
    );
    assert_eq!(
        fixture
            .call("search_files", json!({"text": "two", "path": "notes/deep"}))
            .unwrap(),
        json!(["notes/deep/c.md:1: two more"])
    );
    assert_eq!(
        fixture
            .call("search_files", json!({"text": "o", "path": "a.txt"}))
            .unwrap(),
        json!(["a.txt:1: one", "a.txt:2: two"])
    );
    assert_eq!(
        fixture
            .call("search_files", json!({"text": "zebra"}))
            .unwrap(),
        json!([])
    );
    assert_eq!(
        fixture.error("search_files", json!({"text": ""})),
        "`text` is empty: give the text to look for"
    );
}

#[test]
fn long_searches_are_bounded() {
    let fixture = Fixture::new();
    fs::write(fixture.inner().join("many.txt"), "needle\n".repeat(300)).unwrap();
    let found = fixture
        .call("search_files", json!({"text": "needle"}))
        .unwrap();
    assert_eq!(found.as_array().unwrap().len(), 101);
    assert_eq!(
        found[100],
        "… stopped after 100 lines: look for a longer text"
    );
}

#[test]
fn writing_makes_folders_and_asks_first() {
    let fixture = Fixture::new();
    let spec = fixture.files.write_file().spec().clone();
    assert_eq!(
        (spec.confirmation, spec.effect),
        (Confirmation::Always, Effect::Effectful)
    );
    let args = json!({"path": "reports/new/r.md", "content": "hello"});
    assert_eq!(
        fixture.call("write_file", args.clone()).unwrap(),
        "wrote `reports/new/r.md` (5 bytes)"
    );
    assert_eq!(
        fixture.call("write_file", args).unwrap(),
        "replaced `reports/new/r.md` (5 bytes)"
    );
    let written = fs::read_to_string(fixture.inner().join("reports/new/r.md")).unwrap();
    assert_eq!(written, "hello");
    for (path, expected) in [
        ("notes", "`notes` is a folder"),
        ("", "`.` names no file"),
        ("a.txt/b", "`a.txt/b` is no folder, or runs through a file"),
    ] {
        let args = json!({"path": path, "content": ""});
        assert_eq!(fixture.error("write_file", args), expected);
    }
}

#[test]
fn appending_keeps_what_is_there_and_asks_first() {
    let fixture = Fixture::new();
    let spec = fixture.files.append_file().spec().clone();
    assert_eq!(
        (spec.confirmation, spec.effect),
        (Confirmation::Always, Effect::Effectful)
    );
    let args = json!({"path": "diary/today.md", "text": "one\n"});
    assert_eq!(
        fixture.call("append_file", args.clone()).unwrap(),
        "wrote `diary/today.md` (4 bytes)"
    );
    assert_eq!(
        fixture.call("append_file", args).unwrap(),
        "appended to `diary/today.md` (4 bytes)"
    );
    let args = json!({"path": "a.txt", "text": "four, no break"});
    fixture.call("append_file", args).unwrap();
    for (path, expected) in [
        ("diary/today.md", "one\none\n"),
        ("a.txt", "one\ntwo\nthree\nfour, no break"),
    ] {
        let written = fs::read_to_string(fixture.inner().join(path)).unwrap();
        assert_eq!(written, expected);
    }
    for (path, expected) in [
        ("notes", "`notes` is a folder"),
        ("", "`.` names no file"),
        ("a.txt/b", "`a.txt/b` is no folder, or runs through a file"),
    ] {
        let args = json!({"path": path, "text": ""});
        assert_eq!(fixture.error("append_file", args), expected);
    }
    let args = json!({"path": "a.txt", "text": "x".repeat(8 * 1024 * 1024 + 1)});
    assert_eq!(
        fixture.error("append_file", args),
        "the text is too large: 8388609 bytes, and the limit is 8388608"
    );
}

#[test]
fn a_folder_that_is_not_there_is_named() {
    let error = Files::open("/does/not/exist").unwrap_err().to_string();
    assert!(
        error.starts_with("the folder `/does/not/exist` cannot be opened: "),
        "{error}"
    );
}

#[test]
fn nothing_leads_out_of_the_folder() {
    let fixture = Fixture::new();
    let absolute = fixture.outer.path().join("secret.txt");
    let leads_out =
        |path: &str| format!("`{path}` leads out of the folder, where nothing can be reached");
    for path in ["../secret.txt", "notes/../../secret.txt", ".."] {
        assert_eq!(
            fixture.error("read_file", json!({"path": path})),
            leads_out(path)
        );
        assert_eq!(
            fixture.error("list_files", json!({"path": path})),
            leads_out(path)
        );
        let args = json!({"text": "SECRET", "path": path});
        assert_eq!(fixture.error("search_files", args), leads_out(path));
    }
    let args = json!({"path": absolute});
    let error = fixture.call("read_file", args).unwrap_err().to_string();
    assert!(error.contains("is absolute"), "{error}");
    let args = json!({"path": "../new.txt", "content": "x"});
    assert_eq!(fixture.error("write_file", args), leads_out("../new.txt"));
    for path in ["../new.txt", "../secret.txt"] {
        let args = json!({"path": path, "text": "x"});
        assert_eq!(fixture.error("append_file", args), leads_out(path));
    }
    let secret = fs::read_to_string(&absolute).unwrap();
    assert_eq!(secret, "SECRET");
    assert!(!fixture.outer.path().join("new.txt").exists());
}

#[cfg(unix)]
#[test]
fn symbolic_links_lead_nowhere_outside() {
    use std::os::unix::fs::symlink;
    let fixture = Fixture::new();
    symlink("../secret.txt", fixture.inner().join("link.txt")).unwrap();
    symlink(fixture.outer.path(), fixture.inner().join("up")).unwrap();
    symlink("../new.txt", fixture.inner().join("dangling")).unwrap();
    symlink("notes", fixture.inner().join("within")).unwrap();
    for path in ["link.txt", "up/secret.txt", "notes/../up/secret.txt"] {
        let error = fixture.error("read_file", json!({"path": path}));
        assert!(error.contains("leads out of the folder"), "{error}");
    }
    assert!(
        fixture
            .error("list_files", json!({"path": "up"}))
            .contains("leads out")
    );
    assert_eq!(
        fixture
            .call("search_files", json!({"text": "secret"}))
            .unwrap(),
        json!([])
    );
    for path in ["dangling", "up/new.txt", "link.txt", "up/made/new.txt"] {
        for (name, args) in [
            ("write_file", json!({"path": path, "content": "x"})),
            ("append_file", json!({"path": path, "text": "x"})),
            (
                "edit_file",
                json!({"path": path, "old_text": "SECRET", "new_text": "x"}),
            ),
        ] {
            if name == "edit_file" && path != "link.txt" {
                continue;
            }
            let error = fixture.error(name, args);
            assert!(error.contains("leads out of the folder"), "{path}: {error}");
        }
    }
    assert!(!fixture.outer.path().join("new.txt").exists());
    assert!(!fixture.outer.path().join("made").exists());
    let secret = fs::read_to_string(fixture.outer.path().join("secret.txt")).unwrap();
    assert_eq!(secret, "SECRET");
    assert_eq!(
        fixture
            .call("read_file", json!({"path": "within/deep/c.md"}))
            .unwrap(),
        "two more"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[cfg(unix)]
    #[test]
    fn no_path_reaches_what_is_outside(
        parts in prop::collection::vec(
            prop::sample::select(vec![
                "..", ".", "", "notes", "up", "deep", "secret.txt", "link.txt", "a.txt", "/", "~",
                "inner", "new.txt", "\u{202e}", "..\\", "%2e%2e",
            ]),
            0..6,
        )
    ) {
        let fixture = Fixture::new();
        std::os::unix::fs::symlink("../secret.txt", fixture.inner().join("link.txt")).unwrap();
        std::os::unix::fs::symlink("..", fixture.inner().join("up")).unwrap();
        let path = parts.join("/");
        for (name, args) in [
            ("read_file", json!({"path": path})),
            ("list_files", json!({"path": path})),
            ("search_files", json!({"path": path, "text": "SECRET"})),
            ("write_file", json!({"path": path, "content": "changed"})),
            ("append_file", json!({"path": path, "text": "changed"})),
            ("edit_file", json!({"path": path, "old_text": "SECRET", "new_text": "changed"})),
        ] {
            let change = fixture.files.change(name, &serde_json::from_value(args.clone()).unwrap());
            if let Ok(Some(change)) = change {
                let seen = change.before.unwrap_or_default() + &change.after;
                prop_assert!(!seen.contains("SECRET"), "{}", seen);
            }
            if let Ok(value) = fixture.call(name, args) {
                let text = value.to_string();
                prop_assert!(!text.contains("SECRET"), "{}", text);
                prop_assert!(name != "list_files" || !text.contains("secret.txt"), "{}", text);
            }
        }
        let outside: Vec<_> = fs::read_dir(fixture.outer.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        prop_assert_eq!(outside.len(), 2);
        let secret = fs::read_to_string(fixture.outer.path().join("secret.txt")).unwrap();
        prop_assert_eq!(secret, "SECRET");
    }
}
