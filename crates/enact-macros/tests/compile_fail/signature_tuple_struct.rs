use enact::Signature;

#[derive(Signature)]
struct Weather(#[input] String, #[output] String);

fn main() {}
