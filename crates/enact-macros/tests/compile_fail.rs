//! Misuse is refused with words that say what to write.

#[test]
fn misuse_is_refused_in_readable_words() {
    trybuild::TestCases::new().compile_fail("tests/compile_fail/*.rs");
}
