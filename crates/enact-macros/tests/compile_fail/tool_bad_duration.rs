use enact::tool;

#[tool(timeout = "5 days")]
async fn weather(city: String) -> String {
    city
}

fn main() {}
