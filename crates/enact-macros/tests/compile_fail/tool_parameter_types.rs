use enact::tool;

#[tool]
async fn implied(city: impl ToString) -> String {
    city.to_string()
}

#[tool]
async fn mutable(city: &mut String) {
    city.clear();
}

#[tool]
async fn nested(city: Option<&str>) -> String {
    city.unwrap_or_default().to_owned()
}

fn main() {}
