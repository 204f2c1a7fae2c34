use enact::ToolContext;
use enact::tool;

#[tool]
async fn weather(city: String, context: &ToolContext, again: ToolContext) -> String {
    city + &context.call_id + &again.call_id
}

fn main() {}
