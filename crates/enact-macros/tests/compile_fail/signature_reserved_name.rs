use enact::Signature;

#[derive(Signature)]
struct Weather {
    #[input]
    history: String,
    #[output]
    next_tool_name: String,
}

fn main() {}
