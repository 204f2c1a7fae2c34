//! reqwest and serde, as people write it by hand.

use measure::{Contender, INSTRUCTIONS, Lookup};
use serde::Serialize;
use serde_json::{Value, json};

use crate::reply::{Message, Reply};

#[derive(Clone)]
pub(crate) struct Raw {
    client: reqwest::Client,
    url: String,
    tools: Value,
    lookup: Lookup,
}

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    messages: &'a [Message],
    tools: &'a Value,
}

impl Raw {
    pub(crate) fn new(base_url: &str, lookup: Lookup) -> Self {
        Self {
            client: reqwest::Client::new(),
            url: format!("{base_url}/chat/completions"),
            tools: tools(),
            lookup,
        }
    }
}

pub(crate) fn tools() -> Value {
    json!([{"type": "function", "function": {
        "name": "lookup",
        "description": Lookup::DESCRIPTION,
        "parameters": {
            "type": "object",
            "properties": {"key": {"type": "string"}},
            "required": ["key"],
        },
    }}])
}

fn message(role: &str, content: String) -> Message {
    Message {
        role: role.into(),
        content: Some(content),
        tool_calls: Vec::new(),
        tool_call_id: None,
    }
}

impl Contender for Raw {
    async fn run(&mut self, question: String) -> anyhow::Result<String> {
        let mut messages = vec![
            message("system", INSTRUCTIONS.into()),
            message("user", question),
        ];
        loop {
            let body = Body {
                model: "bench",
                messages: &messages,
                tools: &self.tools,
            };
            let sent = self.client.post(&self.url).bearer_auth("none").json(&body);
            let response = sent.send().await?.error_for_status()?;
            let reply = response.json::<Reply>().await?.message()?;
            if reply.tool_calls.is_empty() {
                return Ok(reply.content.unwrap_or_default());
            }
            let mut results = Vec::new();
            for call in &reply.tool_calls {
                let found = self.lookup.find(&call.function.key()?);
                results.push(Message {
                    tool_call_id: Some(call.id.clone()),
                    ..message("tool", found)
                });
            }
            messages.push(reply);
            messages.extend(results);
        }
    }
}
