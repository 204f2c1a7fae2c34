//! A model for tests that plays a script.

use std::sync::{Arc, Mutex, PoisonError};

use futures_util::stream;
use serde_json::Value;

use super::message::RawCall;
use super::{
    Capabilities, Chunk, FinishReason, LanguageModel, ModelError, ModelErrorKind, ReplyStream,
    Request, Usage,
};

/// One turn of a script: what the model answers to one request.
#[derive(Debug, Clone)]
pub struct ScriptStep(Result<Scripted, ModelError>);

#[derive(Debug, Clone, Default)]
struct Scripted {
    text: String,
    reasoning: String,
    calls: Vec<RawCall>,
    opaque: Option<serde_json::Map<String, Value>>,
    finish: Option<FinishReason>,
    usage: Option<Usage>,
}

/// The model says this, and calls nothing.
pub fn say(text: impl Into<String>) -> ScriptStep {
    ScriptStep(Ok(Scripted {
        text: text.into(),
        ..Scripted::default()
    }))
}

/// The model calls one tool. `arguments` is an object, or text to be sent as it is.
pub fn call(name: impl Into<String>, arguments: Value) -> ScriptStep {
    calls([(name.into(), arguments)])
}

/// The model calls several tools in one turn.
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
    ScriptStep(Ok(Scripted {
        calls,
        ..Scripted::default()
    }))
}

/// The request fails.
pub fn fail(kind: ModelErrorKind, message: impl Into<String>) -> ScriptStep {
    ScriptStep(Err(ModelError::new(kind, message)))
}

impl ScriptStep {
    fn edit(mut self, change: impl FnOnce(&mut Scripted)) -> Self {
        if let Ok(scripted) = &mut self.0 {
            change(scripted);
        }
        self
    }

    /// Says this beside its calls: the thought of the step.
    #[must_use]
    pub fn thinking(self, text: impl Into<String>) -> Self {
        self.edit(|scripted| scripted.text = text.into())
    }

    /// Reasons visibly, in the provider's own channel.
    #[must_use]
    pub fn reasoning(self, text: impl Into<String>) -> Self {
        self.edit(|scripted| scripted.reasoning = text.into())
    }

    /// Gives the calls these ids, in order.
    #[must_use]
    pub fn with_ids<I: Into<String>>(self, ids: impl IntoIterator<Item = I>) -> Self {
        self.edit(|scripted| {
            for (call, id) in scripted.calls.iter_mut().zip(ids) {
                call.id = Some(id.into());
            }
        })
    }

    /// Hands over something that the next request has to carry back.
    #[must_use]
    pub fn with_opaque(self, fields: serde_json::Map<String, Value>) -> Self {
        self.edit(|scripted| scripted.opaque = Some(fields))
    }

    /// Is cut off by the length limit.
    #[must_use]
    pub fn cut_off(self) -> Self {
        self.edit(|scripted| scripted.finish = Some(FinishReason::Length))
    }

    /// Costs this much.
    #[must_use]
    pub fn costing(self, usage: Usage) -> Self {
        self.edit(|scripted| scripted.usage = Some(usage))
    }

    fn chunks(self) -> Vec<Result<Chunk, ModelError>> {
        let scripted = match self.0 {
            Ok(scripted) => scripted,
            Err(error) => return vec![Err(error)],
        };
        let mut chunks = Vec::new();
        if !scripted.reasoning.is_empty() {
            chunks.push(Chunk::Reasoning(scripted.reasoning));
        }
        if !scripted.text.is_empty() {
            chunks.push(Chunk::Text(scripted.text));
        }
        let has_calls = !scripted.calls.is_empty();
        for (index, call) in scripted.calls.into_iter().enumerate() {
            chunks.push(Chunk::Call {
                index,
                id: call.id,
                name: Some(call.name),
                arguments: call.arguments,
            });
        }
        chunks.extend(scripted.opaque.map(Chunk::Opaque));
        chunks.push(Chunk::Usage(
            scripted.usage.unwrap_or_else(|| Usage::of_request(0, 0)),
        ));
        chunks.push(Chunk::Finish(scripted.finish.unwrap_or(if has_calls {
            FinishReason::ToolCalls
        } else {
            FinishReason::Stop
        })));
        chunks.into_iter().map(Ok).collect()
    }
}

#[derive(Debug, Default)]
struct Script {
    steps: std::collections::VecDeque<ScriptStep>,
    requests: Vec<Request>,
    overrun: usize,
}

/// A model that answers from a script, in order, and keeps the requests it saw.
///
/// It is strict: a request past the end of the script fails, and a script with steps left over
/// fails the test when the model is dropped.
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
    /// A model with tool calls and response schemas that plays these steps.
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

    /// The same with another name than `scripted`.
    #[must_use]
    pub fn with_name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// The same with other capabilities.
    #[must_use]
    pub fn with_capabilities(mut self, capabilities: Capabilities) -> Self {
        self.capabilities = capabilities;
        self
    }

    /// The requests seen so far.
    pub fn requests(&self) -> Vec<Request> {
        self.lock().requests.clone()
    }

    /// Appends a step while the model is in use.
    pub fn push(&self, step: ScriptStep) {
        self.lock().steps.push_back(step);
    }

    /// Fails unless the script was played to its end and no further.
    ///
    /// # Panics
    /// When steps are left over, or a request came after the last step.
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

    /// Gives up the check that every step was played.
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
    fn name(&self) -> &str {
        &self.name
    }

    fn capabilities(&self) -> Capabilities {
        self.capabilities
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
