use enact_macros::Signature;

#[derive(Signature)]
struct Weather(#[input] String, #[output] String);

fn main() {}
