//! Agents whose servers change their tools while they work.

use std::sync::Arc;

use enact::model::{Request, ScriptStep, ScriptedModel, call};
use enact::run::{Event, Record};
use enact::{FnTool, ReAct, Run, ToolError, Tools, values};
use enact_mcp::{Server, join};
use serde_json::json;

use super::server;

/// A tool that waits until the server was heard, so that no test hopes for it.
pub(super) fn listen(server: &Server) -> FnTool {
    let changes = server.changes();
    let spec = enact::tool::ToolSpec::new(
        "listen",
        "Waits for a change.",
        json!({"type": "object", "properties": {}}),
    );
    FnTool::from_spec(spec, move |_, _| {
        let mut changes = changes.clone();
        async move {
            let heard = changes.wait_for(|count| *count > 0).await;
            heard.map_err(|error| ToolError::new(error.to_string()))?;
            Ok::<_, ToolError>("heard")
        }
    })
}

fn agent(
    server: &Server,
    script: impl IntoIterator<Item = ScriptStep>,
) -> (ReAct, Arc<ScriptedModel>) {
    let model = Arc::new(ScriptedModel::new(script));
    let own = Tools::new().with(listen(server));
    let tools = join(own, std::slice::from_ref(server));
    let agent = ReAct::builder("question -> answer")
        .tools(tools)
        .model(model.clone())
        .build()
        .expect("an agent");
    (agent, model)
}

fn has_extra(request: &Request) -> bool {
    request.tools.list().iter().any(|tool| tool.name == "extra")
}

fn done() -> ScriptStep {
    call("submit", json!({"answer": "a"}))
}

/// The tools that a run had after each change, by name.
fn changes(run: &Run) -> Vec<bool> {
    let changes = run.events().filter_map(|event| match event {
        Event::ToolsChanged { tools } => Some(tools.iter().any(|tool| tool.name == "extra")),
        _ => None,
    });
    changes.collect()
}

#[tokio::test]
async fn a_run_has_the_tools_that_its_server_has_by_now_and_says_what_became_of_those_that_went() {
    let first = server().await;
    let (played, model) = agent(
        &first,
        [
            call("change", json!({})),
            call("listen", json!({})),
            call("extra", json!({"n": 1})),
            done(),
        ],
    );
    let ended = played
        .call(values! { question: "q" })
        .await
        .expect("an end");
    let run = ended.run().clone();
    let requests = model.requests();
    assert!(!has_extra(&requests[0]));
    assert!(has_extra(&requests[2]) && has_extra(&requests[3]));
    assert_eq!(changes(&run), [true]);
    assert_eq!(run.trajectory().steps()[2].observation, "extra");
    // The schema is the server's, word for word.
    let extra = run.tools().iter().find(|tool| tool.name == "extra");
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}});
    assert_eq!(extra.expect("the tool").parameters, schema);
    first.shutdown().await;

    // Another process goes on before the call of the new tool, with a server that has it no more.
    let mut records: Vec<Record> = run.into();
    let steps = |record: &Record| record.event.is_step();
    let third = records
        .iter()
        .enumerate()
        .filter(|(_, record)| steps(record));
    let third = third.map(|(index, _)| index).nth(2).expect("three steps");
    records.truncate(third + 1);
    let second = server().await;
    let (played, model) = agent(&second, [done()]);
    let run = Run::try_from(records).expect("a run");
    let ended = played.resume(run).await.expect("an end");
    let run = ended.run();
    let said = run.trajectory().steps()[2].observation.to_string();
    assert!(
        said.contains("extra: it is not available any more"),
        "{said}"
    );
    assert!(!has_extra(&model.requests()[0]));
    assert_eq!(changes(run), [true, false]);
    second.shutdown().await;
}

#[tokio::test]
async fn a_server_that_was_started_again_is_asked_what_it_has() {
    let server = server().await;
    let (played, model) = agent(
        &server,
        [
            call("change", json!({})),
            call("listen", json!({})),
            call("crash", json!({})),
            // Starts it again.
            call("add", json!({})),
            done(),
        ],
    );
    let ended = played
        .call(values! { question: "q" })
        .await
        .expect("an end");
    let had: Vec<bool> = model.requests().iter().map(has_extra).collect();
    assert_eq!(had[2..], [true, true, false]);
    assert_eq!(changes(ended.run()), [true, false]);
    server.shutdown().await;
}
