use enact_macros::tool;

#[tool]
struct Weather;

fn main() {}
