//! The crates are split by the weight of what they depend on: the core has neither HTTP nor SQL nor
//! tools in its tree, and a facade without features adds nothing to it.

#![expect(clippy::expect_used, reason = "test code outside of test functions")]

use std::collections::BTreeSet;
use std::process::Command;

/// What the core must not depend on, at any depth.
const HEAVY: &[&str] = &[
    "cap-std",
    "clap",
    "genai",
    "hyper",
    "libsqlite3-sys",
    "opentelemetry",
    "reqwest",
    "rmcp",
    "rustls",
    "sqlx",
    "sqlx-core",
];

/// The crates of this workspace that a facade without features consists of.
const OF_THE_CORE: &[&str] = &["enact", "enact-core", "enact-macros", "enact-signature"];

/// The names of all packages that end up in a program that depends on this one without its features.
fn tree(package: &str) -> BTreeSet<String> {
    let output = Command::new(env!("CARGO"))
        .args(["tree", "--locked", "--package", package])
        .args(["--no-default-features", "--target", "all"])
        .args([
            "--edges",
            "normal,build",
            "--prefix",
            "none",
            "--format",
            "{p}",
        ])
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
        .output()
        .expect("cargo runs");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let lines = String::from_utf8(output.stdout).expect("cargo writes text");
    lines
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        .map(str::to_owned)
        .collect()
}

#[test]
fn the_core_is_light() {
    for package in ["enact-core", "enact"] {
        let tree = tree(package);
        assert!(tree.len() > 30, "the tree of {package} was not read");
        for name in &tree {
            assert!(
                !HEAVY.contains(&name.as_str()),
                "{package} depends on {name}"
            );
            let is_ours = name.starts_with("enact");
            assert!(
                !is_ours || OF_THE_CORE.contains(&name.as_str()),
                "{package} depends on {name}"
            );
        }
    }
}

#[test]
fn what_is_heavy_is_found_where_it_belongs() {
    for (package, heavy) in [
        ("enact-providers", "reqwest"),
        ("enact-tools", "cap-std"),
        ("enact-sqlite", "sqlx"),
        ("enact-mcp", "rmcp"),
    ] {
        assert!(tree(package).contains(heavy), "{package} without {heavy}");
    }
}
