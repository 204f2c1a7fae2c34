//! A model whose requests and replies are written down, and what has to hold for each of them.

use std::sync::{Arc, Mutex};

use enact::LanguageModel;
use enact::model::{
    FinishReason, ModelInfo, Reply, ReplyBuilder, ReplyStream, Request, ResponseFormat,
};
use futures_util::StreamExt as _;
use serde_json::Value;

type Exchanges = Arc<Mutex<Vec<(Request, ReplyBuilder)>>>;

#[derive(Debug, Clone)]
pub(crate) struct Watched<M> {
    inner: M,
    exchanges: Exchanges,
}

impl<M> Watched<M> {
    pub(crate) fn new(inner: M) -> Self {
        Self {
            inner,
            exchanges: Exchanges::default(),
        }
    }

    /// What was asked and answered, in order.
    pub(crate) fn take(&self) -> Vec<(Request, Reply)> {
        let taken = std::mem::take(&mut *self.exchanges.lock().unwrap());
        let whole = taken.into_iter().map(|(request, builder)| {
            let reply = builder.finish().unwrap();
            (request, reply)
        });
        whole.collect()
    }
}

impl<M: LanguageModel> LanguageModel for Watched<M> {
    fn info(&self) -> ModelInfo<'_> {
        self.inner.info()
    }

    fn stream(&self, request: Request) -> ReplyStream<'_> {
        let place = {
            let mut exchanges = self.exchanges.lock().unwrap();
            exchanges.push((request.clone(), ReplyBuilder::default()));
            exchanges.len() - 1
        };
        let exchanges = self.exchanges.clone();
        Box::pin(self.inner.stream(request).inspect(move |chunk| {
            if let Ok(chunk) = chunk {
                exchanges.lock().unwrap()[place].1.push(chunk.clone());
            }
        }))
    }
}

fn must_satisfy(schema: &Value, text: &str) {
    let value: Value = serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"));
    let found = jsonschema::validate(schema, &value);
    assert!(found.is_ok(), "{found:?}: {text}");
}

/// Holds for every reply, whatever the model: it has the form that was asked for, or says that it was
/// cut.
pub(crate) fn must_be_valid(request: &Request, reply: &Reply) {
    let name_of = |call: &enact::model::RawCall| {
        let tools = request.tools.list();
        let tool = tools.iter().find(|tool| tool.name == call.name);
        tool.unwrap_or_else(|| panic!("a tool that is not on offer: {reply:?}"))
            .clone()
    };
    match reply.finish {
        FinishReason::Length => {}
        FinishReason::ToolCalls => {
            let [call] = &reply.calls[..] else {
                panic!("not one call: {reply:?}");
            };
            must_satisfy(&name_of(call).parameters, &call.arguments);
        }
        FinishReason::Stop => {
            assert!(reply.calls.is_empty(), "{reply:?}");
            assert!(!reply.text.contains("<tool_call>"), "{reply:?}");
            if let ResponseFormat::Schema { schema, .. } = &request.response_format {
                must_satisfy(schema, &reply.text);
            }
        }
        finish => panic!("it ended by {finish:?}"),
    }
}
