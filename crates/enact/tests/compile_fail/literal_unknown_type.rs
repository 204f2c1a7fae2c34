fn main() {
    let _ = enact_macros::signature!("question: strr -> answer");
}
