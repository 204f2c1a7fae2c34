use enact::tool;

#[tool(read_only = true)]
async fn weather(city: String) -> String {
    city
}

#[tool(timeout = 5)]
async fn forecast(city: String) -> String {
    city
}

#[tool(serial, serial)]
async fn history(city: String) -> String {
    city
}

fn main() {}
