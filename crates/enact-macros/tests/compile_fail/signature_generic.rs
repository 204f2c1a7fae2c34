use enact::Signature;

#[derive(Signature)]
struct Weather<T> {
    #[input]
    question: T,
    #[output]
    answer: String,
}

fn main() {}
