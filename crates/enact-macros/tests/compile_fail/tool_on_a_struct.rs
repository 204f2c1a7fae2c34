use enact::tool;

#[tool]
struct Weather;

fn main() {}
