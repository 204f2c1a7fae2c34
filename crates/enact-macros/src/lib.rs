//! The macros of enact, used through the `enact` crate, or through `enact-core`:
//!
//! | macro | on | result |
//! | --- | --- | --- |
//! | [`derive@Signature`] | a struct with named fields | a typed signature |
//! | [`signature!`] | an arrow string | a signature value, checked at compile time |
//! | [`macro@tool`] | a function | the same function, and a tool of the same name |
//! | [`macro@toolbox`] | an `impl` block | the same methods, and `tools()` |

mod crate_path;
mod doc_text;
mod literal;
mod signature;
mod tool;
mod toolbox;

use proc_macro::TokenStream;
use syn::parse_macro_input;

/// Turns a struct into a typed signature.
///
/// The doc comment of the struct becomes the instructions, that of a field its description. Each
/// field has one of these attributes:
///
/// | attribute | meaning |
/// | --- | --- |
/// | `#[input]` | an input |
/// | `#[input(default = 3)]` | an input that can be omitted by name |
/// | `#[output]` | an output |
///
/// For a struct `Weather` this generates the structs `WeatherInput` and `WeatherOutput`, and implements
/// `enact::TypedSignature`. A value of the struct itself is a demonstration.
#[proc_macro_derive(Signature, attributes(input, output))]
pub fn derive_signature(item: TokenStream) -> TokenStream {
    let item = parse_macro_input!(item as syn::DeriveInput);
    signature::derive(&item)
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}

/// Creates a `Signature` from an arrow string that is checked at compile time.
///
/// ```
/// let signature = enact::signature!("question: str, k: int = 3 -> answer: str");
/// ```
#[proc_macro]
pub fn signature(arrow: TokenStream) -> TokenStream {
    literal::expand(arrow.into())
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}

/// Turns a function into a tool.
///
/// The function itself is unchanged. Its doc comment becomes the description of the tool, the doc
/// comments of its parameters those of the arguments. The macro adds a struct with the same name that
/// implements `enact::Tool`; `enact::tools![name]` creates a set of tools.
///
/// | option | meaning |
/// | --- | --- |
/// | `read_only` | a call changes nothing, and can be repeated freely |
/// | `idempotent` | a repeated call has no further effect |
/// | `require_confirmation` | a person is asked before each call |
/// | `confirm_when = function` | a person is asked before calls for which a `fn(&Values) -> bool` returns true |
/// | `volatile` | results change over time: a repeated call runs again instead of being answered from the log |
/// | `serial` | one call at a time |
/// | `timeout = "5s"` | time limit of a call (`ms`, `s`, `m`, `h`) |
/// | `name = "…"` | the name the model sees, instead of the name of the function |
/// | `description = "…"` | the description, instead of the doc comment |
///
/// Parameters are owned values or references to them (`&str`, `&[T]`, `&T`); an `Option<T>` is optional;
/// a parameter of type `ToolContext` or `&ToolContext` receives the context and is not visible to the
/// model. `#[serde(…)]` and `#[schemars(…)]` on a parameter apply to the argument. The function returns
/// any serialisable value, or a `Result` with an error that implements `Display`. A function that is not
/// `async` runs on a thread where it can block.
#[proc_macro_attribute]
pub fn tool(options: TokenStream, item: TokenStream) -> TokenStream {
    tool::expand(options.into(), item.into())
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}

/// Turns the methods of a type into tools.
///
/// Methods with `#[tool]` (with the options and rules of [`macro@tool`], which doesn't have to be
/// imported) become tools that share one value; they take `&self`, or no `self` at all. The macro adds a
/// method: `pub fn tools(self: &Arc<Self>) -> enact::Tools`.
#[proc_macro_attribute]
pub fn toolbox(options: TokenStream, item: TokenStream) -> TokenStream {
    toolbox::expand(options.into(), item.into())
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}
