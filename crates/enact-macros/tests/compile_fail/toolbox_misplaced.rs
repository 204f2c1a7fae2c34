use enact::toolbox;

struct Weather;

#[toolbox]
impl Clone for Weather {
    fn clone(&self) -> Self {
        Weather
    }
}

#[toolbox(read_only)]
impl Weather {}

#[toolbox]
fn weather() {}

fn main() {}
