fn main() {
    let _ = enact_macros::signature!("question: str, answer: str");
}
