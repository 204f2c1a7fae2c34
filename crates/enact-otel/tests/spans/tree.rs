//! The shape: one tree for a run, with what the conventions ask for.

use std::time::Duration;

use enact::model::{OpenAi, ScriptedModel, Usage, call, calls};
use enact::{FnTool, ReAct, Signature, ToolError, Tools, values};
use enact_test_server::{TestServer, Turn};
use serde_json::json;

use crate::{agent, answer, named, only, search, watch};

#[tokio::test]
async fn a_run_is_one_tree_of_agent_requests_and_tools() {
    let watched = watch();
    let agent = agent(
        Tools::new().with(search()),
        [
            call("search", json!({"query": "a"})).costing(Usage::of_request(100, 10)),
            call("submit", json!({"answer": "b"})).costing(Usage::of_request(150, 5)),
        ],
    );
    let done = answer(&agent).await;
    let spans = watched.spans();

    let names: Vec<&str> = spans.iter().map(|span| span.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "invoke_agent",
            "chat scripted",
            "execute_tool search",
            "chat scripted"
        ]
    );
    let root = &spans[0];
    assert!(root.parent.is_empty());
    assert!(spans[1..].iter().all(|span| span.is_below(root)));
    assert!(spans.iter().all(|span| !span.is_error && span.events == 0));
    assert_eq!(
        spans.iter().map(|span| span.kind).collect::<Vec<_>>(),
        [1, 3, 1, 3]
    );
    assert_eq!(root.resource["service.name"], "tests");

    let usage = done.run().usage();
    assert_eq!(
        root.attributes,
        json!({
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.conversation.id": done.run().id(),
            "gen_ai.request.model": "scripted",
            "gen_ai.usage.input_tokens": usage.input_tokens,
            "gen_ai.usage.output_tokens": usage.output_tokens,
            "gen_ai.usage.cache_read.input_tokens": 0,
            "gen_ai.usage.reasoning.output_tokens": 0,
            "enact.signature": "question: str -> answer: str",
            "enact.run.ending": "success",
        })
    );
    assert_eq!(
        spans[1].attributes,
        json!({
            "gen_ai.operation.name": "chat",
            "gen_ai.conversation.id": done.run().id(),
            "gen_ai.request.model": "scripted",
            "gen_ai.output.type": "text",
            "gen_ai.response.finish_reasons": ["tool_calls"],
            "gen_ai.usage.input_tokens": 100,
            "gen_ai.usage.output_tokens": 10,
            "gen_ai.usage.cache_read.input_tokens": 0,
            "gen_ai.usage.reasoning.output_tokens": 0,
            "enact.predictor": "step",
        })
    );
    assert_eq!(
        spans[2].attributes,
        json!({
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.conversation.id": done.run().id(),
            "gen_ai.tool.name": "search",
            "gen_ai.tool.call.id": done.run().id_of_first_call(),
            "gen_ai.tool.type": "function",
        })
    );
}

/// The ids of calls are in the log.
trait FirstCall {
    fn id_of_first_call(&self) -> String;
}

impl FirstCall for enact::Run {
    fn id_of_first_call(&self) -> String {
        let started = self.events().find_map(|event| match event {
            enact::run::Event::ToolStarted { call_id } => Some(call_id.clone()),
            _ => None,
        });
        started.unwrap()
    }
}

#[tokio::test]
async fn an_agent_has_the_name_of_its_signature() {
    let watched = watch();
    let signature = Signature::parse("question -> answer")
        .unwrap()
        .with_name("Weather");
    let agent = ReAct::builder(signature)
        .model(ScriptedModel::new([call("submit", json!({"answer": "b"}))]))
        .build()
        .unwrap();
    answer(&agent).await;
    let spans = watched.spans();
    let root = only(&spans, "invoke_agent");
    assert_eq!(root.name, "invoke_agent Weather");
    assert_eq!(root.attributes["gen_ai.agent.name"], "Weather");
}

#[tokio::test]
async fn a_request_names_server_provider_and_sampling() {
    let watched = watch();
    let server = TestServer::start([Turn::call("submit", json!({"answer": "b"}))
        .usage(7, 3)
        .cached_tokens(5)])
    .await;
    let model = OpenAi::new("gpt-test")
        .with_base_url(server.base_url().replace("http://", "http://user:hunter2@"))
        .unwrap();
    let agent = ReAct::builder("question -> answer")
        .model(model)
        .build()
        .unwrap();
    answer(&agent).await;
    let spans = watched.spans();
    let chat = only(&spans, "chat gpt-test");
    let port: u16 = server
        .base_url()
        .split([':', '/'])
        .nth(4)
        .unwrap()
        .parse()
        .unwrap();
    for (name, value) in [
        ("server.address", json!("127.0.0.1")),
        ("server.port", json!(port)),
        ("gen_ai.provider.name", json!("openai")),
        ("gen_ai.usage.input_tokens", json!(7)),
        ("gen_ai.usage.cache_read.input_tokens", json!(5)),
    ] {
        assert_eq!(chat.attributes[name], value, "{name}");
    }
    assert!(!format!("{spans:?}").contains("hunter2"));
}

#[tokio::test(start_paused = true)]
async fn calls_side_by_side_are_siblings_that_do_not_mix() {
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    struct Wait {
        millis: u64,
    }
    let wait = FnTool::new("wait", "Waits.", |args: Wait, _| async move {
        let half = Duration::from_millis(args.millis / 2);
        tokio::time::sleep(half).await;
        // Between two naps of three calls: whose span is it?
        let inner = tracing::info_span!("inner", millis = args.millis as i64);
        tracing::Instrument::instrument(tokio::time::sleep(half), inner).await;
        Ok::<_, ToolError>(args.millis)
    });
    let watched = watch();
    let agent = agent(
        Tools::new().with(wait),
        [
            calls([30, 10, 20].map(|millis| ("wait", json!({"millis": millis}))))
                .with_ids(["30", "10", "20"]),
            call("submit", json!({"answer": "b"})),
        ],
    );
    answer(&agent).await;
    let spans = watched.spans();
    let root = only(&spans, "invoke_agent");
    let tools = named(&spans, "execute_tool");
    assert_eq!(tools.len(), 3);
    assert!(tools.iter().all(|tool| tool.is_below(root)));
    let inner = named(&spans, "inner");
    assert_eq!(inner.len(), 3);
    for span in inner {
        let tool = tools.iter().find(|tool| span.is_below(tool)).unwrap();
        let millis = span.attributes["millis"].to_string();
        assert_eq!(tool.attributes["gen_ai.tool.call.id"], millis.as_str());
    }
}

#[tokio::test]
async fn runs_side_by_side_are_trees_of_their_own() {
    let watched = watch();
    let agents: Vec<_> = (0..5)
        .map(|number| {
            let query = number.to_string();
            let steps = [
                call("search", json!({"query": query})),
                call("submit", json!({"answer": "b"})),
            ];
            agent(Tools::new().with(search()), steps)
        })
        .collect();
    let [a, b, c, d, e] = agents.as_slice() else {
        panic!("five agents")
    };
    let ended = tokio::join!(
        a.call(values! { question: "q" }).into_future(),
        b.call(values! { question: "q" }).into_future(),
        c.call(values! { question: "q" }).into_future(),
        d.call(values! { question: "q" }).into_future(),
        e.call(values! { question: "q" }).into_future(),
    );
    drop(ended);
    let spans = watched.spans();
    let roots = named(&spans, "invoke_agent");
    assert_eq!((roots.len(), spans.len()), (5, 20));
    for root in roots {
        let below: Vec<_> = spans.iter().filter(|span| span.is_below(root)).collect();
        assert_eq!(below.len(), 3);
        let run = &root.attributes["gen_ai.conversation.id"];
        assert!(
            below
                .iter()
                .all(|span| span.attributes["gen_ai.conversation.id"] == *run)
        );
    }
}

#[tokio::test]
async fn a_run_hangs_below_the_span_of_its_caller() {
    let watched = watch();
    let agent = agent(Tools::new(), [call("submit", json!({"answer": "b"}))]);
    let request = tracing::info_span!("request");
    let call = agent.call(values! { question: "q" }).into_future();
    let ended = tracing::Instrument::instrument(call, request).await;
    ended.unwrap().finished().unwrap();
    let spans = watched.spans();
    assert!(only(&spans, "invoke_agent").is_below(only(&spans, "request")));
}
