use enact::tool;

#[tool(readonly)]
async fn weather(city: String) -> String {
    city
}

fn main() {}
