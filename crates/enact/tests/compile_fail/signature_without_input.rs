use enact_macros::Signature;

#[derive(Signature)]
struct Weather {
    #[output]
    answer: String,
}

fn main() {}
