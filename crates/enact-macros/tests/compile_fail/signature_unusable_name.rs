use enact::Signature;

#[derive(Signature)]
struct Weather {
    #[input]
    größe: String,
    #[output]
    answer: String,
}

fn main() {}
