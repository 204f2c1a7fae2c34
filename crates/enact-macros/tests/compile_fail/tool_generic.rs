use enact::tool;

#[tool]
async fn weather<T: ToString>(city: T) -> String {
    city.to_string()
}

fn main() {}
