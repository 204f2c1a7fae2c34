use enact_macros::tool;

#[tool]
unsafe fn weather(city: String) -> String {
    city
}

fn main() {}
