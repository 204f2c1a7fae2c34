use enact_macros::tool;

#[tool(readonly)]
async fn weather(city: String) -> String {
    city
}

fn main() {}
