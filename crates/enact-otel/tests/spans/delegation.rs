//! Agents that call agents.

use std::sync::Arc;

use enact::model::{call, calls};
use enact::{FnTool, ReAct, ToolError, Tools, values};
use serde_json::json;

use crate::{Query, agent, answer, named, only, search, watch};

/// A tool that asks another agent.
fn ask(helper: ReAct) -> FnTool {
    let helper = Arc::new(helper);
    FnTool::new("ask", "Asks a helper.", move |args: Query, _| {
        let helper = Arc::clone(&helper);
        async move {
            let ended = helper.call(values! { question: args.query }).await;
            let done = ended.and_then(enact::Outcome::finished);
            let done = done.map_err(|error| ToolError::new(error.to_string()))?;
            Ok::<_, ToolError>(done.values()["answer"].clone())
        }
    })
}

#[tokio::test]
async fn an_agent_in_a_tool_hangs_below_that_tool() {
    let watched = watch();
    let helper = agent(
        Tools::new().with(search()),
        [
            call("search", json!({"query": "x"})),
            call("submit", json!({"answer": "from the helper"})),
        ],
    );
    let boss = agent(
        Tools::new().with(ask(helper)).with(search()),
        [
            calls([
                ("ask", json!({"query": "x"})),
                ("search", json!({"query": "y"})),
            ]),
            call("submit", json!({"answer": "b"})),
        ],
    );
    answer(&boss).await;
    let spans = watched.spans();

    let [root, child] = named(&spans, "invoke_agent")[..] else {
        panic!("two agents: {spans:#?}")
    };
    assert!(root.parent.is_empty());
    let ask = only(&spans, "execute_tool ask");
    assert!(ask.is_below(root));
    assert!(child.is_below(ask));
    assert_ne!(
        root.attributes["gen_ai.conversation.id"],
        child.attributes["gen_ai.conversation.id"]
    );
    // One trace, and each thing below its own agent.
    assert!(spans.iter().all(|span| span.trace == root.trace));
    let below = |parent| spans.iter().filter(|span| span.is_below(parent)).count();
    assert_eq!((below(root), below(child), spans.len()), (4, 3, 9));
}

#[tokio::test]
async fn three_levels_are_one_trace() {
    let watched = watch();
    let submit = |text: &str| call("submit", json!({"answer": text}));
    let third = agent(Tools::new(), [submit("c")]);
    let second = agent(
        Tools::new().with(ask(third)),
        [call("ask", json!({"query": "x"})), submit("b")],
    );
    let first = agent(
        Tools::new().with(ask(second)),
        [call("ask", json!({"query": "x"})), submit("a")],
    );
    answer(&first).await;
    let spans = watched.spans();
    let roots = spans.iter().filter(|span| span.parent.is_empty());
    assert_eq!(roots.count(), 1);
    // Every other span hangs below one that is there.
    for span in spans.iter().filter(|span| !span.parent.is_empty()) {
        assert!(spans.iter().any(|parent| span.is_below(parent)), "{span:?}");
    }
    let agents = named(&spans, "invoke_agent");
    let tools = named(&spans, "execute_tool ask");
    assert_eq!((agents.len(), tools.len()), (3, 2));
    assert!(agents[1].is_below(tools[0]) && tools[1].is_below(agents[1]));
    assert!(agents[2].is_below(tools[1]));
}
