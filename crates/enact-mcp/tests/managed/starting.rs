//! Servers that do not start, and what is said of them.

use std::time::Duration;

use enact_mcp::{ErrorKind, Mcp};

use crate::{call, unruly};

#[tokio::test]
async fn a_program_that_is_not_there_is_named() {
    let error = Mcp::stdio("no-such-program", ["--x"])
        .connect()
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Start);
    let text = error.to_string();
    assert!(
        text.contains("`no-such-program --x` cannot be started"),
        "{text}"
    );
    assert!(
        text.contains("install it, or correct the command"),
        "{text}"
    );
}

#[tokio::test]
async fn a_program_that_ends_at_once_is_quoted() {
    let error = unruly("dead").name("files").connect().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Protocol);
    let text = error.to_string();
    assert!(text.contains("the MCP server `files`"), "{text}");
    assert!(
        text.contains("exit status: 7; it said: no configuration found"),
        "{text}"
    );
}

#[tokio::test]
async fn a_program_that_says_nothing_is_given_up() {
    let plan = unruly("mute")
        .name("mute")
        .start_timeout(Duration::from_millis(300));
    let text = plan.connect().await.unwrap_err().to_string();
    assert!(text.contains("the MCP server `mute` (`"), "{text}");
    assert!(
        text.contains("was not ready within 300ms (it said nothing)"),
        "{text}"
    );
}

#[tokio::test]
async fn truth_a_list_of_tools_without_end_is_given_up() {
    let error = unruly("endless").name("files").connect().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Protocol);
    let text = error.to_string();
    assert!(
        text.contains("`files` does not list its tools: the list has more than 100 pages"),
        "{text}"
    );
}

#[tokio::test]
async fn an_address_where_nobody_listens_is_named() {
    let port = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let url = format!("http://127.0.0.1:{port}/mcp");
    let error = Mcp::http(&url).connect().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Start);
    assert!(error.to_string().contains(&url), "{error}");

    // What was filled in from a variable stays out of messages.
    let error = Mcp::http(format!("{url}?key=hush"))
        .name("far")
        .connect()
        .await
        .unwrap_err();
    assert!(
        error.to_string().contains("`far` cannot be reached"),
        "{error}"
    );
    assert!(
        error.to_string().contains("error sending request"),
        "{error}"
    );
    assert!(!error.to_string().contains("hush"), "{error}");
}

#[tokio::test]
async fn patterns_choose_the_tools_and_a_denial_wins() {
    let plan = unruly("")
        .allow(["a*", "pid"])
        .unwrap()
        .deny(["ask"])
        .unwrap();
    let server = plan.connect().await.unwrap();
    assert_eq!(server.tools().names().collect::<Vec<_>>(), ["add", "pid"]);
    server.shutdown().await;
}

#[tokio::test]
async fn the_environment_is_an_allow_list() {
    let server = unruly("").variable("GIVEN", "x").connect().await.unwrap();
    let seen = call(&server, "environment").await.unwrap();
    let seen: Vec<String> = serde_json::from_value(seen).unwrap();
    assert!(seen.contains(&"PATH".to_owned()), "{seen:?}");
    assert!(seen.contains(&"GIVEN".to_owned()), "{seen:?}");
    // Cargo sets this one for the test.
    assert!(std::env::var_os("CARGO_PKG_NAME").is_some());
    assert!(!seen.contains(&"CARGO_PKG_NAME".to_owned()), "{seen:?}");
    server.shutdown().await;
}

#[tokio::test]
async fn a_list_that_changed_is_asked_for_again() {
    let server = unruly("").connect().await.unwrap();
    let mut changes = server.changes();
    assert!(server.tools().get("extra").is_none());
    call(&server, "change").await.unwrap();
    changes.changed().await.unwrap();
    server.refresh().await.unwrap();
    assert_eq!(call(&server, "extra").await.unwrap(), "extra");
    server.shutdown().await;
}
