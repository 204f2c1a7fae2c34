//! Tools that go wrong in every way that tools do. All of them take a query.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use enact::model::Usage;
use enact::tool::ToolSpec;
use enact::{FnTool, ToolContext, ToolError, Tools, Values};
use serde_json::json;

fn tool<F, Fut>(name: &str, function: F) -> FnTool
where
    F: Fn(String, ToolContext) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<String, ToolError>> + Send + 'static,
{
    let parameters = json!({
        "type": "object",
        "properties": {"query": {"type": "string"}},
        "required": ["query"],
    });
    let spec = ToolSpec::new(name, "Knows of trees.", parameters);
    FnTool::from_spec(spec, move |args: Values, context| {
        let query = args["query"].as_str().unwrap_or_default().to_owned();
        function(query, context)
    })
}

pub(crate) fn set(tools: impl IntoIterator<Item = FnTool>) -> Tools {
    tools.into_iter().fold(Tools::new(), Tools::with)
}

/// Finds something about everything.
pub(crate) fn search() -> FnTool {
    named_search("search")
}

pub(crate) fn named_search(name: &str) -> FnTool {
    tool(name, |query, _| async move { Ok(format!("about {query}")) }).read_only()
}

/// Gives the same whatever it is asked.
pub(crate) fn constant(name: &str) -> FnTool {
    tool(name, |_, _| async { Ok("nothing new".to_owned()) }).read_only()
}

/// Changes something.
pub(crate) fn write() -> FnTool {
    tool(
        "write",
        |query, _| async move { Ok(format!("written {query}")) },
    )
}

/// Fails each time.
pub(crate) fn failing(name: &str) -> FnTool {
    tool(name, |query, _| async move {
        Err(ToolError::new(format!("no index for {query}")))
    })
}

/// Fails the first times.
pub(crate) fn flaky(name: &str, failures: usize) -> FnTool {
    let left = Arc::new(AtomicUsize::new(failures));
    tool(name, move |query, _| {
        let fails = left.try_update(Ordering::SeqCst, Ordering::SeqCst, |left| {
            left.checked_sub(1)
        });
        async move {
            match fails {
                Ok(_) => Err(ToolError::new("try again later")),
                Err(_) => Ok(format!("about {query}")),
            }
        }
    })
    .read_only()
}

/// Takes no other query than this.
pub(crate) fn picky(name: &str, wanted: &'static str) -> FnTool {
    tool(name, move |query, _| async move {
        if query == wanted {
            Ok(format!("about {query}"))
        } else {
            Err(ToolError::new(format!("ask for {wanted}")))
        }
    })
    .read_only()
}

/// Panics each time.
pub(crate) fn panicking(name: &str) -> FnTool {
    // Unwinds like a panic, and prints nothing.
    tool(name, |_, _| async {
        std::panic::resume_unwind(Box::new("the tool is broken"))
    })
}

/// Never gives anything.
pub(crate) fn stuck(name: &str) -> FnTool {
    tool(name, |_, _| std::future::pending()).read_only()
}

/// Gives something after a while.
pub(crate) fn slow(name: &str, time: Duration) -> FnTool {
    tool(name, move |query, _| async move {
        tokio::time::sleep(time).await;
        Ok(format!("about {query}"))
    })
    .read_only()
    .timeout(time * 2)
}

/// Reports progress while it works.
pub(crate) fn reporting(name: &str) -> FnTool {
    tool(name, |query, context: ToolContext| async move {
        context.progress("half way");
        tokio::time::sleep(Duration::from_secs(1)).await;
        Ok(format!("about {query}"))
    })
    .read_only()
}

/// Asks which one is meant.
pub(crate) fn asking(name: &str) -> FnTool {
    tool(name, |query, context: ToolContext| async move {
        let which = context.ask("Which one?")?;
        Ok(format!("about {which} {query}"))
    })
    .read_only()
}

/// Fails, after it has asked a model of its own.
pub(crate) fn spending(name: &str) -> FnTool {
    tool(name, |_, _| async {
        Err(ToolError::new("the index is empty").costing(Usage::of_request(50, 5), 0.0))
    })
}
