use enact::toolbox;

struct Weather;

#[toolbox]
impl Weather {
    #[tool]
    async fn now(&mut self, city: String) -> String {
        city
    }
}

fn main() {}
