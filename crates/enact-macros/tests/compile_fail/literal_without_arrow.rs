fn main() {
    let _ = enact::signature!("question: str, answer: str");
}
