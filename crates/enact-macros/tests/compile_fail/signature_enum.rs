use enact::Signature;

#[derive(Signature)]
enum Weather {
    Question,
    Answer,
}

fn main() {}
