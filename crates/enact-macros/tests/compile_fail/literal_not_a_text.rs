fn main() {
    let arrow = "question -> answer";
    let _ = enact::signature!(arrow);
}
