//! A model for tests that plays a script.

use std::sync::{Arc, Mutex, PoisonError};

use futures_util::stream;
use serde_json::Value;

use super::message::RawCall;
use super::{
    Capabilities, Chunk, FinishReason, LanguageModel, ModelError, ModelErrorKind, ModelInfo, Reply,
    ReplyStream, Request, Usage,
};

/// A step of a script: the reply to one request.
///
/// ```
/// use enact::model::{ScriptedModel, call, say};
/// use serde_json::json;
///
/// let model = ScriptedModel::new([
///     call("weather", json!({"city": "Paris"})).thinking("I look it up."),
///     say("It is mild."),
/// ]);
/// # model.abandon();
/// ```
#[derive(Debug, Clone)]
pub struct ScriptStep(Result<Reply, ModelError>);

/// The model replies with text, without calls.
pub fn say(text: impl Into<String>) -> ScriptStep {
    ScriptStep(Ok(Reply::text(text)))
}

/// The model calls a tool. `arguments` is an object, or text that is sent unchanged.
pub fn call(name: impl Into<String>, arguments: Value) -> ScriptStep {
    calls([(name.into(), arguments)])
}

/// The model calls several tools at once.
pub fn calls<N: Into<String>>(list: impl IntoIterator<Item = (N, Value)>) -> ScriptStep {
    let calls = list
        .into_iter()
        .map(|(name, arguments)| RawCall {
            id: None,
            name: name.into(),
            arguments: match arguments {
                Value::String(raw) => raw,
                other => other.to_string(),
            },
        })
        .collect();
    ScriptStep(Ok(Reply {
        calls,
        finish: FinishReason::ToolCalls,
        ..Reply::text("")
    }))
}

/// The request fails.
pub fn fail(kind: ModelErrorKind, message: impl Into<String>) -> ScriptStep {
    ScriptStep(Err(ModelError::new(kind, message)))
}

impl ScriptStep {
    fn edit(mut self, change: impl FnOnce(&mut Reply)) -> Self {
        if let Ok(reply) = &mut self.0 {
            change(reply);
        }
        self
    }

    /// Adds text to the calls: the thought of the step.
    #[must_use]
    pub fn thinking(self, text: impl Into<String>) -> Self {
        self.edit(|reply| reply.text = text.into())
    }

    /// Adds visible reasoning, as a provider would.
    #[must_use]
    pub fn reasoning(self, text: impl Into<String>) -> Self {
        self.edit(|reply| reply.reasoning = text.into())
    }

    /// Sets the ids of the calls, in order.
    #[must_use]
    pub fn with_ids<I: Into<String>>(self, ids: impl IntoIterator<Item = I>) -> Self {
        self.edit(|reply| {
            for (call, id) in reply.calls.iter_mut().zip(ids) {
                call.id = Some(id.into());
            }
        })
    }

    /// Adds data that the next request has to return.
    #[must_use]
    pub fn with_opaque(self, fields: serde_json::Map<String, Value>) -> Self {
        self.edit(|reply| reply.opaque = Some(fields.into()))
    }

    /// Marks the reply as cut off by the length limit.
    #[must_use]
    pub fn cut_off(self) -> Self {
        self.edit(|reply| reply.finish = FinishReason::Length)
    }

    /// Sets the usage.
    #[must_use]
    pub fn costing(self, usage: Usage) -> Self {
        self.edit(|reply| reply.usage = usage)
    }

    fn chunks(self) -> Vec<Result<Chunk, ModelError>> {
        match self.0 {
            Ok(reply) => Vec::from(reply).into_iter().map(Ok).collect(),
            Err(error) => vec![Err(error)],
        }
    }
}

#[derive(Debug, Default)]
struct Script {
    steps: std::collections::VecDeque<ScriptStep>,
    requests: Vec<Request>,
    overrun: usize,
}

/// A model that replies from a script, in order, and stores the requests that it received.
///
/// It is strict: a request after the end of the script fails, and unused steps fail the test when the
/// model is dropped.
///
/// ```
/// use enact::model::{ScriptedModel, call, say};
/// use serde_json::json;
///
/// let model = ScriptedModel::new([
///     call("weather", json!({"city": "Paris"})).thinking("I need the weather first."),
///     say("It is mild."),
/// ]);
/// # model.abandon();
/// ```
#[derive(Debug)]
pub struct ScriptedModel {
    name: String,
    script: Arc<Mutex<Script>>,
    capabilities: Capabilities,
    is_abandoned: std::sync::atomic::AtomicBool,
}

impl ScriptedModel {
    /// Creates a model with tool calls and response schemas that plays these steps.
    pub fn new(steps: impl IntoIterator<Item = ScriptStep>) -> Self {
        let script = Script {
            steps: steps.into_iter().collect(),
            ..Script::default()
        };
        Self {
            name: "scripted".to_owned(),
            script: Arc::new(Mutex::new(script)),
            capabilities: Capabilities::FULL,
            is_abandoned: false.into(),
        }
    }

    /// Sets the name. Default: `scripted`.
    #[must_use]
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Sets the capabilities.
    #[must_use]
    pub fn with_capabilities(mut self, capabilities: Capabilities) -> Self {
        self.capabilities = capabilities;
        self
    }

    /// The requests so far.
    pub fn requests(&self) -> Vec<Request> {
        self.lock().requests.clone()
    }

    /// Appends a step, even while the model is in use.
    pub fn push(&self, step: ScriptStep) {
        self.lock().steps.push_back(step);
    }

    /// Panics unless the script was played completely, and no further request was made.
    ///
    /// # Panics
    /// If steps are unused, or a request came after the last step.
    #[expect(clippy::panic, reason = "a test assertion")]
    pub fn assert_complete(&self) {
        let (left, overrun) = {
            let script = self.lock();
            (script.steps.len(), script.overrun)
        };
        if left > 0 || overrun > 0 {
            self.abandon();
            panic!(
                "script not played to its end: {left} step(s) left over, {overrun} request(s) too many"
            );
        }
    }

    /// Skips the check that every step was played.
    pub fn abandon(&self) {
        self.is_abandoned
            .store(true, std::sync::atomic::Ordering::Relaxed);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Script> {
        self.script.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for ScriptedModel {
    fn drop(&mut self) {
        if !std::thread::panicking()
            && !self.is_abandoned.load(std::sync::atomic::Ordering::Relaxed)
        {
            self.assert_complete();
        }
    }
}

impl LanguageModel for ScriptedModel {
    fn info(&self) -> ModelInfo<'_> {
        ModelInfo::new(&self.name, self.capabilities)
    }

    fn stream(&self, request: Request) -> ReplyStream<'_> {
        let mut script = self.lock();
        script.requests.push(request);
        let number = script.requests.len();
        let chunks = match script.steps.pop_front() {
            Some(step) => step.chunks(),
            None => {
                script.overrun += 1;
                vec![Err(ModelError::new(
                    ModelErrorKind::InvalidRequest,
                    format!("the script has no step left for request {number}"),
                ))]
            }
        };
        Box::pin(stream::iter(chunks))
    }
}
