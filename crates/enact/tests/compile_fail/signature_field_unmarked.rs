use enact_macros::Signature;

#[derive(Signature)]
struct Weather {
    question: String,
    #[output]
    answer: String,
}

fn main() {}
