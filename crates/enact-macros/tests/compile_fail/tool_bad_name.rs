use enact::tool;

#[tool(name = "the weather")]
async fn weather(city: String) -> String {
    city
}

fn main() {}
