//! What goes wrong is seen as such, in the span where it went wrong.

use std::time::Duration;

use enact::model::{ModelErrorKind, call, calls, fail};
use enact::{CancellationToken, FnTool, ToolError, Tools, values};
use enact_otel::Traces;
use serde_json::json;

use crate::{agent, answer, only, search, watch};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Nothing {}

#[tokio::test]
async fn a_failed_request_fails_its_span_and_the_agent() {
    let watched = watch();
    let agent = agent(
        Tools::new(),
        [fail(ModelErrorKind::RateLimit, "too many requests: wait")],
    );
    agent.call(values! { question: "q" }).await.unwrap_err();
    let spans = watched.spans();
    let chat = only(&spans, "chat");
    assert!(chat.is_error);
    assert_eq!(chat.status_message, "too many requests: wait");
    assert_eq!(chat.attributes["error.type"], "rate_limit");
    assert_eq!(chat.attributes.get("gen_ai.usage.input_tokens"), None);
    let root = only(&spans, "invoke_agent");
    assert!(root.is_error);
    assert_eq!(root.attributes["error.type"], "rate_limit");
    // The run is not over: it can be resumed.
    assert_eq!(root.attributes.get("enact.run.ending"), None);
}

#[tokio::test(start_paused = true)]
async fn a_failed_tool_fails_its_span_and_nothing_else() {
    let panics = FnTool::new("panics", "Panics.", |_: Nothing, _| async {
        if true {
            panic!("the secret shelf fell");
        }
        Ok::<_, ToolError>(())
    });
    let hangs = FnTool::new("hangs", "Hangs.", |_: Nothing, _| async {
        std::future::pending::<()>().await;
        Ok::<_, ToolError>(())
    })
    .timeout(Duration::from_millis(50));
    let watched = watch();
    let agent = agent(
        Tools::new().with(search()).with(panics).with(hangs),
        [
            calls([
                ("search", json!({"query": "fail"})),
                ("panics", json!({})),
                ("hangs", json!({})),
            ]),
            call("submit", json!({"answer": "b"})),
        ],
    );
    answer(&agent).await;
    let spans = watched.spans();
    for (name, kind) in [
        ("search", "tool_error"),
        ("panics", "panic"),
        ("hangs", "timeout"),
    ] {
        let tool = only(&spans, &format!("execute_tool {name}"));
        assert!(tool.is_error, "{name}");
        assert_eq!(tool.attributes["error.type"], kind);
    }
    assert!(!only(&spans, "invoke_agent").is_error);
    // What a tool says is content, also when it fails.
    assert!(!format!("{spans:?}").contains("secret shelf"));
}

#[tokio::test]
async fn what_is_cancelled_is_marked() {
    let watched = watch();
    let token = CancellationToken::new();
    let cancel = token.clone();
    let stuck = FnTool::new("stuck", "Never ends.", move |_: Nothing, _| {
        cancel.cancel();
        async {
            std::future::pending::<()>().await;
            Ok::<_, ToolError>(())
        }
    });
    let agent = agent(Tools::new().with(stuck), [call("stuck", json!({}))]);
    let call = agent.call(values! { question: "q" }).cancel_with(token);
    call.await.unwrap_err();
    let spans = watched.spans();
    for name in ["invoke_agent", "execute_tool stuck"] {
        let span = only(&spans, name);
        assert!(span.is_error, "{name}");
        assert_eq!(span.attributes["error.type"], "cancelled");
    }
    let root = only(&spans, "invoke_agent");
    assert_eq!(root.attributes["enact.run.ending"], "cancelled");
}

#[tokio::test]
async fn what_is_dropped_is_marked() {
    let watched = watch();
    let stuck = FnTool::new("stuck", "Never ends.", |_: Nothing, _| async {
        std::future::pending::<()>().await;
        Ok::<_, ToolError>(())
    });
    let agent = agent(Tools::new().with(stuck), [call("stuck", json!({}))]);
    let call = agent.call(values! { question: "q" }).into_future();
    let _ = tokio::time::timeout(Duration::from_millis(50), call).await;
    let spans = watched.spans();
    for name in ["invoke_agent", "execute_tool stuck"] {
        assert_eq!(only(&spans, name).attributes["error.type"], "cancelled");
    }
}

#[tokio::test]
async fn a_dead_collector_is_reported_and_harms_nobody() {
    // Nobody listens there any more.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let (layer, guard) = Traces::from_env().endpoint(&address).layer().unwrap();
    let subscriber = tracing_subscriber::layer::SubscriberExt::with(
        tracing_subscriber::Registry::default(),
        layer,
    );
    let default = tracing::subscriber::set_default(subscriber);
    let agent = agent(Tools::new(), [call("submit", json!({"answer": "b"}))]);
    answer(&agent).await;
    drop(default);
    let began = std::time::Instant::now();
    let problem = guard.finish().unwrap_err().to_string();
    assert!(
        began.elapsed() < Duration::from_secs(3),
        "{:?}",
        began.elapsed()
    );
    assert!(problem.starts_with(&format!("traces could not be sent to {address}/v1/traces")));
}

#[tokio::test]
async fn a_silent_collector_is_not_waited_for() {
    // Takes connections and never answers.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let traces = Traces::from_env().endpoint(&address);
    let traces = traces.flush_within(Duration::from_millis(200));
    let (layer, guard) = traces.layer().unwrap();
    let subscriber = tracing_subscriber::layer::SubscriberExt::with(
        tracing_subscriber::Registry::default(),
        layer,
    );
    let default = tracing::subscriber::set_default(subscriber);
    let agent = agent(Tools::new(), [call("submit", json!({"answer": "b"}))]);
    answer(&agent).await;
    drop(default);
    let began = std::time::Instant::now();
    guard.finish().unwrap_err();
    assert!(
        began.elapsed() < Duration::from_secs(1),
        "{:?}",
        began.elapsed()
    );
}
