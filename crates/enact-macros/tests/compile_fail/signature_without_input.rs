use enact::Signature;

#[derive(Signature)]
struct Weather {
    #[output]
    answer: String,
}

fn main() {}
