fn main() {
    let arrow = "question -> answer";
    let _ = enact_macros::signature!(arrow);
}
