use enact::Signature;

#[derive(Signature)]
struct Weather {
    #[input(optional)]
    question: String,
    #[input = "k"]
    k: i64,
    #[output(default = 3)]
    answer: i64,
}

fn main() {}
