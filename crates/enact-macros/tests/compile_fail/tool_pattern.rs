use enact::tool;

#[tool]
async fn weather((city, country): (String, String)) -> String {
    city + &country
}

fn main() {}
