//! Where the servers are installed.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A program of the servers. Installs them first if that has not been done.
pub(crate) fn program(name: &str) -> String {
    let folder = folder();
    let places = ["node_modules/.bin", "python/bin"];
    let found = places.iter().map(|place| folder.join(place).join(name));
    let mut found = found.filter(|path| path.exists());
    let path = found.next().expect("the script installs every server");
    path.to_str().expect("a path in UTF-8").to_owned()
}

fn folder() -> PathBuf {
    let this = std::env::current_exe().expect("this test is a program");
    let target = this.ancestors().nth(3).expect("a target folder");
    let folder = target.join("mcp-servers");
    // Tests run side by side, and one of them installs.
    let lock = File::create(target.join("mcp-servers.lock")).expect("a lock file");
    lock.lock().expect("the lock");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.ci/mcp-servers");
    let output = Command::new(script).arg(&folder).output();
    let output = output.expect("the script runs");
    assert!(
        output.status.success(),
        "the servers cannot be installed by .ci/mcp-servers:\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    folder
}
