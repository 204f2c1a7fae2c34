//! What the documentation says of agent files is true.

use std::path::PathBuf;

use serde_json::Value;

use super::write;
use crate::command::enact;
use crate::place::Place;

fn page(name: &str) -> String {
    let docs = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    std::fs::read_to_string(docs.join(name)).unwrap()
}

/// `ENACT_SCHEMA=write` writes the file anew.
#[test]
fn the_schema_beside_the_documentation_is_that_of_the_command() {
    let said = enact(["check", "--schema"]).said();
    assert_eq!(said.code, 0, "{said:?}");
    let kept =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/agent.schema.json");
    if std::env::var("ENACT_SCHEMA").is_ok_and(|mode| mode == "write") {
        std::fs::write(&kept, &said.stdout).unwrap();
    }
    let text = std::fs::read_to_string(&kept).unwrap_or_default();
    assert!(
        text == said.stdout,
        "docs/reference/agent.schema.json is not what `enact check --schema` prints: run this \
         test with ENACT_SCHEMA=write, and look at the difference"
    );
}

/// Every block of TOML is a file that its first line names.
#[test]
fn every_file_in_the_book_is_accepted() {
    for name in [
        "guide/agent-files.md",
        "guide/structured-data.md",
        "guide/tools.md",
        "reference/agent-file.md",
    ] {
        let place = Place::new();
        std::fs::create_dir(place.files.path().join("notes")).unwrap();
        let text = page(name);
        let blocks = text.split("```toml\n# ").skip(1);
        let paths: Vec<String> = blocks
            .map(|block| {
                let (file, rest) = block.split_once('\n').unwrap();
                write(&place, file, rest.split("```").next().unwrap())
            })
            .collect();
        assert_eq!(paths.len(), text.matches("```toml").count(), "{name}");
        let args = ["check"].into_iter();
        let said = enact(args.chain(paths.iter().map(String::as_str))).said();
        assert_eq!((said.code, said.stderr.as_str()), (0, ""), "{name}");
        assert_eq!(said.stdout.lines().count(), paths.len());
    }
}

#[test]
fn the_reference_names_every_key() {
    let schema = enact(["check", "--schema"]).said().stdout;
    let schema: Value = serde_json::from_str(&schema).unwrap();
    let text = page("reference/agent-file.md");
    let mut seen = 0;
    let mut open = vec![&schema];
    while let Some(part) = open.pop() {
        if let Some(keys) = part.get("properties").and_then(Value::as_object) {
            for key in keys.keys().filter(|key| *key != "last") {
                let headings = [format!("[{key}]"), format!("[{key}."), format!("`{key}`")];
                let is_named = headings.iter().any(|heading| text.contains(heading));
                assert!(
                    is_named,
                    "docs/reference/agent-file.md does not name `{key}`"
                );
                seen += 1;
            }
        }
        match part {
            Value::Object(map) => open.extend(map.values()),
            Value::Array(list) => open.extend(list),
            _ => {}
        }
    }
    assert!(seen > 50, "the schema was not read: {seen}");
}
