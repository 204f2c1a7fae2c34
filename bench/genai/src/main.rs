//! A loop over genai's client, as its examples write it.

use clap::Parser;
use genai::adapter::AdapterKind;
use genai::chat::{ChatMessage, ChatRequest, Tool, ToolResponse};
use genai::resolver::{AuthData, Endpoint, ServiceTargetResolver};
use genai::{Client, ModelIden, ServiceTarget};
use measure::{Contender, INSTRUCTIONS, Lookup, Work};
use serde_json::json;

/// A loop over genai's client.
#[derive(Parser)]
struct Options {
    #[command(flatten)]
    work: Work,
}

#[derive(Clone)]
struct Genai {
    client: Client,
    lookup: Lookup,
}

fn client(base_url: &str) -> anyhow::Result<Client> {
    let base_url = format!("{base_url}/");
    let resolver = ServiceTargetResolver::from_resolver_fn(
        move |target: ServiceTarget| -> Result<ServiceTarget, genai::resolver::Error> {
            Ok(ServiceTarget {
                endpoint: Endpoint::from_owned(base_url.clone()),
                auth: AuthData::from_single("none"),
                model: ModelIden::new(AdapterKind::OpenAI, target.model.model_name),
            })
        },
    );
    let client = Client::builder().with_service_target_resolver(resolver);
    Ok(client.build()?)
}

impl Contender for Genai {
    async fn run(&mut self, question: String) -> anyhow::Result<String> {
        let tool = Tool::new("lookup")
            .with_description(Lookup::DESCRIPTION)
            .with_schema(json!({
                "type": "object",
                "properties": {"key": {"type": "string"}},
                "required": ["key"],
            }));
        let mut request = ChatRequest::new(vec![ChatMessage::user(question)])
            .with_system(INSTRUCTIONS)
            .with_tools(vec![tool]);
        loop {
            let reply = self
                .client
                .exec_chat("bench", request.clone(), None)
                .await?;
            let calls: Vec<_> = reply.tool_calls().into_iter().cloned().collect();
            if calls.is_empty() {
                return Ok(reply.into_first_text().unwrap_or_default());
            }
            request = request.append_message(ChatMessage::assistant(reply.content));
            for call in calls {
                let key = call.fn_arguments["key"].as_str().unwrap_or_default();
                let found = self.lookup.find(key);
                request = request.append_message(ToolResponse::new(call.call_id, found));
            }
        }
    }
}

fn main() -> anyhow::Result<()> {
    let work = Options::parse().work;
    measure::measure("genai", &work, |lookup| {
        Ok(Genai {
            client: client(&work.base_url)?,
            lookup,
        })
    })
}
