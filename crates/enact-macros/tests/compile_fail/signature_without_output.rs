use enact::Signature;

#[derive(Signature)]
struct Weather {
    #[input]
    question: String,
}

fn main() {}
