//! `#[toolbox]`.

#![deny(warnings)]

use std::sync::{Arc, Mutex};

use enact::tool::Effect;
use enact::{ToolContext, ToolError, toolbox};
use serde_json::{Value, json};

struct Files {
    written: Mutex<Vec<String>>,
}

#[toolbox]
impl Files {
    fn new() -> Self {
        Self {
            written: Mutex::new(Vec::new()),
        }
    }

    /// Reads a file.
    #[tool(read_only)]
    async fn read(
        &self,
        /// Which line.
        line: usize,
    ) -> Result<String, ToolError> {
        let written = self.written.lock().unwrap();
        written
            .get(line)
            .cloned()
            .ok_or_else(|| ToolError::new("there is no such line"))
    }

    /// Writes a line, where it may block.
    #[tool(name = "append")]
    fn write(&self, text: &str, context: &ToolContext) -> usize {
        let mut written = self.written.lock().unwrap();
        written.push(format!("{text} ({})", context.call_id));
        written.len()
    }

    #[tool]
    async fn version() -> &'static str {
        "1"
    }
}

async fn call(tools: &enact::Tools, name: &str, args: Value) -> Result<Value, ToolError> {
    let args = serde_json::from_value(args).unwrap();
    let tool = tools.get(name).unwrap();
    Ok(tool
        .call(args, ToolContext::detached("call-1"))
        .await?
        .value)
}

#[tokio::test]
async fn the_tools_share_the_value_and_the_methods_stay() {
    let files = Arc::new(Files::new());
    let tools = files.tools();
    assert_eq!(
        tools.names().collect::<Vec<_>>(),
        ["read", "append", "version"]
    );

    assert_eq!(
        call(&tools, "append", json!({"text": "a"})).await.unwrap(),
        json!(1)
    );
    assert_eq!(
        call(&tools, "read", json!({"line": 0})).await.unwrap(),
        json!("a (call-1)")
    );
    assert_eq!(
        call(&tools, "version", json!({})).await.unwrap(),
        json!("1")
    );
    let error = call(&tools, "read", json!({"line": 9})).await.unwrap_err();
    assert_eq!(error.to_string(), "there is no such line");

    assert_eq!(files.write("b", &ToolContext::detached("call-2")), 2);
    assert_eq!(files.read(1).await.unwrap(), "b (call-2)");
}

#[test]
fn the_rules_are_those_of_tools() {
    let tools = Arc::new(Files::new()).tools();
    let spec = tools.get("read").unwrap().spec();
    assert_eq!(spec.description, "Reads a file.");
    assert_eq!(spec.effect, Effect::ReadOnly);
    assert_eq!(
        spec.parameters["properties"]["line"]["description"],
        "Which line."
    );
    assert_eq!(spec.required(), ["line"]);
}

trait Clock: Send + Sync + 'static {
    fn now(&self) -> u64;
}

struct Fixed;

impl Clock for Fixed {
    fn now(&self) -> u64 {
        42
    }
}

struct Times<C> {
    clock: C,
}

#[toolbox]
impl<C: Clock> Times<C> {
    #[tool(read_only)]
    fn now(&self) -> u64 {
        self.clock.now()
    }
}

#[tokio::test]
async fn the_type_may_be_generic() {
    let tools = Arc::new(Times { clock: Fixed }).tools();
    assert_eq!(call(&tools, "now", json!({})).await.unwrap(), json!(42));
}
