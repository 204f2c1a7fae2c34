//! Servers under management: started, asked, cut off, started again, ended.

#![cfg(unix)]
#![expect(
    clippy::expect_used,
    clippy::panic,
    reason = "test code outside of test functions"
)]

mod asking;
mod changing;
mod ending;
mod identity;
mod starting;

use std::time::Duration;

use enact::tool::ToolContext;
use enact::{ToolError, ToolOutput, Values};
use enact_mcp::{Mcp, Server};
use serde_json::{Value, json};

/// The unruly server, in a mood of its own if given.
fn unruly(mood: &str) -> Mcp {
    unruly_with([mood])
}

fn unruly_with<'a>(args: impl IntoIterator<Item = &'a str>) -> Mcp {
    let this = std::env::current_exe().expect("this test is a program");
    let folder = this.ancestors().nth(2).expect("a folder");
    let program = folder.join("examples/unruly_server");
    assert!(
        program.exists(),
        "`cargo test -p enact-mcp` builds the server that this test needs"
    );
    let program = program.to_str().expect("a path in UTF-8");
    Mcp::stdio(program, args).timeout(Duration::from_secs(20))
}

async fn server() -> Server {
    unruly("").connect().await.expect("it starts")
}

async fn call_with(
    server: &Server,
    name: &str,
    args: Value,
    context: ToolContext,
) -> Result<ToolOutput, ToolError> {
    let tools = server.tools();
    let tool = tools.get(name).expect("the tool is there");
    let args: Values = serde_json::from_value(args).expect("an object");
    tool.call(args, context).await
}

async fn call(server: &Server, name: &str) -> Result<Value, String> {
    let context = ToolContext::detached("c");
    let called = call_with(server, name, json!({}), context).await;
    called
        .map(|output| output.value)
        .map_err(|error| error.to_string())
}

/// Whether a process is there and no zombie.
fn is_alive(pid: &Value) -> bool {
    let output = std::process::Command::new("ps")
        .args(["-o", "stat=", "-p", &pid.to_string()])
        .output()
        .expect("ps runs");
    let state = String::from_utf8_lossy(&output.stdout);
    !state.trim().is_empty() && !state.trim().starts_with('Z')
}

/// Waits until a process is gone; fails if it stays.
async fn gone(pid: &Value) {
    for _ in 0..200 {
        if !is_alive(pid) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("the process {pid} is still there");
}
