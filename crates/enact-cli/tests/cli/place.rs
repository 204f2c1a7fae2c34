//! Where a test keeps its runs and lets its agents work.

use std::path::PathBuf;

use enact_test_server::TestServer;
use serde_json::Value;
use tempfile::TempDir;

use crate::command::{Enact, KEY, enact, run};

/// A folder to work in, and a file that keeps runs.
pub(crate) struct Place {
    pub(crate) files: TempDir,
    pub(crate) data: TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self {
            files: TempDir::new().unwrap(),
            data: TempDir::new().unwrap(),
        }
    }

    pub(crate) fn store(&self) -> String {
        self.store_file("").to_string_lossy().into_owned()
    }

    /// The database, or with a suffix one of the files beside it.
    pub(crate) fn store_file(&self, suffix: &str) -> PathBuf {
        self.data.path().join(format!("deep/runs.db{suffix}"))
    }

    pub(crate) fn run(&self, server: &TestServer) -> Enact {
        let files = self.files.path().to_string_lossy().into_owned();
        run(
            server,
            [
                "task -> answer",
                "task=Write it.",
                "--files",
                &files,
                "--max-iterations",
                "100",
                "--json",
            ],
        )
        .env("ENACT_STORE", &self.store())
    }

    /// A command about kept runs, in an environment that knows only the store and the key.
    pub(crate) fn enact<'a>(&self, args: impl IntoIterator<Item = &'a str>) -> Enact {
        enact(args)
            .env("ENACT_STORE", &self.store())
            .env("OPENAI_API_KEY", KEY)
    }

    pub(crate) fn written(&self, name: &str) -> Option<String> {
        std::fs::read_to_string(self.files.path().join(name)).ok()
    }

    pub(crate) fn runs(&self) -> Vec<Value> {
        let said = self.enact(["runs", "--json"]).said();
        assert_eq!(said.code, 0, "{said:?}");
        serde_json::from_str(&said.stdout).unwrap()
    }
}

/// The ids of the open questions in what `--json` printed.
pub(crate) fn pending(object: &Value) -> Vec<String> {
    let pending = object["pending"].as_array().unwrap();
    pending
        .iter()
        .map(|one| one["confirmation_id"].as_str().unwrap().to_owned())
        .collect()
}
