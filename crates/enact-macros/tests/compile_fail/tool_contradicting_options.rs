use enact::tool;

#[tool(read_only, idempotent)]
async fn weather(city: String) -> String {
    city
}

fn main() {}
