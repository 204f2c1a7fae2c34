use enact::Signature;

#[derive(Signature)]
struct Weather {
    #[input]
    #[output]
    question: String,
    #[output]
    #[output]
    answer: String,
}

fn main() {}
