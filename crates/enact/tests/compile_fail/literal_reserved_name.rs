fn main() {
    let _ = enact_macros::signature!("question, tools -> answer");
}
