use enact::tool;

struct Weather;

impl Weather {
    #[tool]
    async fn now(&self, city: String) -> String {
        city
    }
}

fn main() {}
