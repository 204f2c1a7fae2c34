use enact_macros::Signature;

#[derive(Signature)]
struct Weather {
    #[input]
    question: String,
}

fn main() {}
