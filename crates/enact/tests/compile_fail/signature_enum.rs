use enact_macros::Signature;

#[derive(Signature)]
enum Weather {
    Question,
    Answer,
}

fn main() {}
