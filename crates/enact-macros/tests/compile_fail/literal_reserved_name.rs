fn main() {
    let _ = enact::signature!("question, tools -> answer");
}
