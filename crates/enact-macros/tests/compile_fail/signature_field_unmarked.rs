use enact::Signature;

#[derive(Signature)]
struct Weather {
    question: String,
    #[output]
    answer: String,
}

fn main() {}
