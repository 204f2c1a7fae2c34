//! The licences, bans and sources of `deny.toml`, checked against the locked dependencies in
//! seconds. `cargo deny check licenses bans sources` reads the same file and says more.

#![expect(clippy::expect_used, reason = "test code outside of test functions")]

use std::process::Command;

use serde_json::Value;

fn metadata() -> Value {
    let output = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--locked"])
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
        .output()
        .expect("cargo runs");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_slice(&output.stdout).expect("cargo metadata is JSON")
}

fn rules() -> toml::Table {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../deny.toml");
    std::fs::read_to_string(path)
        .expect("deny.toml is there")
        .parse()
        .expect("deny.toml is TOML")
}

#[test]
fn every_dependency_has_an_allowed_licence() {
    let rules = rules();
    let allowed: Vec<spdx::Licensee> = rules["licenses"]["allow"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|name| spdx::Licensee::parse(name.as_str().expect("text")).expect("an SPDX licence"))
        .collect();
    let metadata = metadata();
    let packages = metadata["packages"].as_array().expect("packages");
    assert!(packages.len() > 50, "the dependency tree was not read");
    let refused: Vec<String> = packages
        .iter()
        .filter_map(|package| {
            let name = package["name"].as_str().unwrap_or_default();
            let Some(licence) = package["license"].as_str() else {
                return Some(format!("{name}: no licence"));
            };
            let expression = spdx::Expression::parse_mode(licence, spdx::ParseMode::LAX)
                .unwrap_or_else(|error| panic!("{name}: `{licence}`: {error}"));
            let fits = expression
                .evaluate(|required| allowed.iter().any(|licensee| licensee.satisfies(required)));
            (!fits).then(|| format!("{name}: {licence}"))
        })
        .collect();
    assert!(refused.is_empty(), "not allowed by deny.toml: {refused:#?}");
}

#[test]
fn every_dependency_comes_from_the_registry_or_from_here() {
    for package in metadata()["packages"].as_array().expect("packages") {
        let name = &package["name"];
        match package["source"].as_str() {
            None => {}
            Some(source) => assert!(
                source.starts_with("registry+"),
                "{name} comes from {source}"
            ),
        }
        for dependency in package["dependencies"].as_array().expect("a list") {
            let is_ours = package["source"].is_null();
            let is_wildcard = dependency["req"] == "*" && dependency["path"].is_null();
            assert!(
                !(is_ours && is_wildcard),
                "{name} takes any version of {}",
                dependency["name"]
            );
        }
    }
}
