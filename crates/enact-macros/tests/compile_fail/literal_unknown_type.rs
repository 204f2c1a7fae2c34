fn main() {
    let _ = enact::signature!("question: strr -> answer");
}
