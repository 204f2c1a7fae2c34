//! A whole program: one subscriber, several threads, tools that block.

use std::time::Duration;

use enact::model::{ScriptedModel, call};
use enact::{ReAct, ToolError, tool, tools, values};
use enact_otel::{SetupError, Traces};
use enact_test_server::{Collected, Collector};
use serde_json::json;

/// Asks a helper, and blocks until it has answered.
#[tool]
fn ask(query: String) -> Result<String, ToolError> {
    // Databases do this: the span is over a moment after the run is.
    let span = tracing::Span::current();
    std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(200));
        drop(span);
    });
    let submit = call("submit", json!({"answer": "from the helper"}));
    let helper = ReAct::builder("question -> answer")
        .model(ScriptedModel::new([submit]))
        .build()
        .map_err(|error| ToolError::new(error.to_string()))?;
    // A thread for blocking work belongs to a runtime, which `blocking` would refuse.
    let runtime = tokio::runtime::Handle::current();
    let ended = runtime.block_on(helper.call(values! { question: query }).into_future());
    let done = ended.and_then(enact::Outcome::finished);
    let done = done.map_err(|error| ToolError::new(error.to_string()))?;
    Ok(done.values()["answer"].to_string())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn runs_on_many_threads_are_whole_trees_and_arrive_before_the_end() {
    let collector = Collector::start();
    let traces = || Traces::from_env().endpoint(collector.endpoint());
    let guard = traces().service_name("shop").install().unwrap();
    assert!(matches!(traces().install(), Err(SetupError::Installed)));

    let runs = (0..8).map(|number| {
        tokio::spawn(async move {
            let steps = [
                call("ask", json!({"query": number.to_string()})),
                call("submit", json!({"answer": "b"})),
            ];
            let agent = ReAct::builder("question -> answer")
                .tools(tools![ask])
                .model(ScriptedModel::new(steps))
                .build()
                .unwrap();
            let ended = agent.call(values! { question: "q" }).await;
            ended.unwrap().finished().unwrap().run().id().to_owned()
        })
    });
    let mut ids = Vec::new();
    for run in runs.collect::<Vec<_>>() {
        ids.push(run.await.unwrap());
    }
    guard.finish().unwrap();

    let spans = collector.spans();
    assert_eq!(spans.len(), 8 * 6, "{spans:#?}");
    let roots: Vec<&Collected> = spans.iter().filter(|span| span.parent.is_empty()).collect();
    assert_eq!(roots.len(), 8);
    for root in roots {
        assert_eq!(root.resource["service.name"], "shop");
        let run = root.attributes["gen_ai.conversation.id"].as_str().unwrap();
        assert!(ids.iter().any(|id| id == run));
        let below = |parent: &Collected| -> Vec<&Collected> {
            spans.iter().filter(|span| span.is_below(parent)).collect()
        };
        let tools = below(root);
        let tool = tools.iter().find(|span| span.name == "execute_tool ask");
        let [helper] = below(tool.unwrap())[..] else {
            panic!("the helper hangs below the tool: {spans:#?}")
        };
        assert_eq!((tools.len(), below(helper).len()), (3, 1));
    }
}
