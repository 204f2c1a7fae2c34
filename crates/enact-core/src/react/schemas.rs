//! Compiled checks of arguments.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::Value;

use crate::signature::{SchemaError, Validator};

/// How many are kept. Beyond that, tools that change are compiled again.
const KEPT: usize = 256;

/// The checks that were compiled last. Tools that change are looked at by the driver, then recorded, then
/// taken in: their schemas are compiled once.
#[derive(Debug, Default)]
pub(crate) struct Schemas(Mutex<VecDeque<Arc<Validator>>>);

impl Schemas {
    /// The check of arguments with this schema.
    pub(super) fn of_arguments(&self, parameters: &Value) -> Result<Arc<Validator>, SchemaError> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let known = kept.iter().find(|known| **known.schema() == *parameters);
        if let Some(known) = known {
            return Ok(Arc::clone(known));
        }
        let compiled = Arc::new(Validator::of_arguments(parameters.clone())?);
        if kept.len() == KEPT {
            kept.pop_front();
        }
        kept.push_back(Arc::clone(&compiled));
        Ok(compiled)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use futures_util::future::BoxFuture;
    use serde_json::json;

    use crate::model::{ScriptedModel, call, say};
    use crate::signature::compiled_so_far;
    use crate::tool::{Tool, ToolError, ToolSpec, Toolbox};
    use crate::{ChainOfThought, FnTool, Predict, ReAct, Tools, values};

    /// How often tools change.
    const CHANGES: usize = 3;

    fn compiled<T>(work: impl FnOnce() -> T) -> (T, usize) {
        let before = compiled_so_far();
        let done = work();
        (done, compiled_so_far() - before)
    }

    fn block_on<T>(future: impl Future<Output = T>) -> T {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        runtime.unwrap().block_on(future)
    }

    fn tool(name: &str, argument: &str) -> FnTool {
        let parameters = json!({"type": "object", "properties": {argument: {"type": "string"}}});
        let spec = ToolSpec::new(name, "Does it.", parameters);
        FnTool::from_spec(spec, |_, _| async { Ok::<_, ToolError>("done") })
    }

    #[test]
    fn a_prediction_compiles_one_schema() {
        let model = ScriptedModel::new([say(r#"{"answer": "Paris"}"#)]);
        let (predict, count) = compiled(|| {
            let builder = Predict::builder("question -> answer").model(model);
            builder.build().unwrap()
        });
        assert_eq!(count, 1);
        let call = predict.call(values! { question: "Capital of France?" });
        let (done, count) = compiled(|| block_on(call.into_future()).unwrap());
        assert_eq!(done.finished().unwrap().outputs["answer"], "Paris");
        assert_eq!(count, 0);
    }

    #[test]
    fn inputs_that_are_no_texts_are_compiled_when_they_are_given() {
        let model = ScriptedModel::new([say(r#"{"answer": "4"}"#), say(r#"{"answer": "5"}"#)]);
        let (predict, count) = compiled(|| {
            let builder = Predict::builder("n: int -> answer").model(model);
            builder.build().unwrap()
        });
        assert_eq!(count, 1);
        for expected in [1, 0] {
            let call = predict.call(values! { n: "2" });
            let (_, count) = compiled(|| block_on(call.into_future()).unwrap());
            assert_eq!(count, expected);
        }
    }

    #[test]
    fn an_agent_compiles_its_outputs_and_its_tools() {
        let model = ScriptedModel::new([
            call("add", json!({"a": "1"})),
            call("submit", json!({"answer": "1"})),
        ]);
        let (agent, count) = compiled(|| {
            let tools = Tools::new().with(tool("add", "a")).with(tool("find", "b"));
            let builder = ReAct::builder("question -> answer").model(model);
            builder.tools(tools).build().unwrap()
        });
        assert_eq!(count, 3);
        let call = agent.call(values! { question: "q" });
        let (done, count) = compiled(|| block_on(call.into_future()).unwrap());
        done.finished().unwrap();
        assert_eq!(count, 0);
        let (_, count) = compiled(|| ChainOfThought::builder("question -> answer").build());
        assert_eq!(count, 1);
    }

    /// Has another tool the first times that it is asked.
    #[derive(Default)]
    struct Restless(Mutex<usize>);

    impl Toolbox for Restless {
        fn tools(&self, _: &[&str]) -> Vec<Arc<dyn Tool>> {
            let argument = format!("argument_{}", self.0.lock().unwrap());
            vec![Arc::new(tool("find", &argument))]
        }

        fn refresh<'a>(&'a self) -> BoxFuture<'a, Result<(), ToolError>> {
            let mut times = self.0.lock().unwrap();
            *times = CHANGES.min(*times + 1);
            Box::pin(std::future::ready(Ok(())))
        }
    }

    #[test]
    fn tools_that_change_are_compiled_once() {
        let model = ScriptedModel::new([call("submit", json!({"answer": "1"}))]);
        let toolbox = Arc::new(Restless::default());
        let builder = ReAct::builder("question -> answer").model(model);
        let tools = Tools::new().with_toolbox(toolbox);
        let agent = builder.tools(tools).build().unwrap();
        let call = agent.call(values! { question: "q" });
        let (done, count) = compiled(|| block_on(call.into_future()).unwrap());
        done.finished().unwrap();
        assert_eq!(count, CHANGES);
    }
}
