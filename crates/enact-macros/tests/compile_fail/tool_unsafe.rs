use enact::tool;

#[tool]
unsafe fn weather(city: String) -> String {
    city
}

fn main() {}
