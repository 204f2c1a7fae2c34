use enact::toolbox;

struct Weather;

#[toolbox]
impl Weather {
    #[tool]
    async fn now(&self, city: String) -> String {
        city
    }

    #[tool(name = "now")]
    async fn later(&self, city: String) -> String {
        city
    }
}

fn main() {}
