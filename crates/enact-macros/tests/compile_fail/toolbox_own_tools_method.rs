use enact::toolbox;

struct Weather;

#[toolbox]
impl Weather {
    #[tool]
    async fn now(&self, city: String) -> String {
        city
    }

    fn tools(&self) {}
}

fn main() {}
