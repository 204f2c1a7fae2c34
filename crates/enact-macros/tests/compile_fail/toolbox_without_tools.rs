use enact::toolbox;

struct Weather;

#[toolbox]
impl Weather {
    async fn now(&self, city: String) -> String {
        city
    }
}

fn main() {}
