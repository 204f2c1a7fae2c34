//! The macros of enact, used through the `enact` crate, or through `enact-core`:
//!
//! | macro | on | gives |
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

/// Makes a typed signature of a struct.
///
/// The doc comment of the struct becomes the instructions, that of a field its description. Each
/// field is marked as one of:
///
/// | attribute | meaning |
/// | --- | --- |
/// | `#[input]` | an input |
/// | `#[input(default = 3)]` | an input that callers by name may leave out |
/// | `#[output]` | an output |
///
/// For a struct `Weather` this gives the structs `WeatherInput` and `WeatherOutput`, and implements
/// `enact::TypedSignature`. A value of the struct itself is a demonstration.
#[proc_macro_derive(Signature, attributes(input, output))]
pub fn derive_signature(item: TokenStream) -> TokenStream {
    let item = parse_macro_input!(item as syn::DeriveInput);
    signature::derive(&item)
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}

/// Makes a `Signature` from an arrow string that is checked at compile time.
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

/// Makes a tool of a function.
///
/// The function stays as it is. Its doc comment becomes the description of the tool, the doc
/// comments of its parameters those of the arguments. Beside it comes a struct of the same name
/// that implements `enact::Tool`; `enact::tools![name]` makes a set of them.
///
/// | option | meaning |
/// | --- | --- |
/// | `read_only` | a call changes nothing, and may be repeated freely |
/// | `idempotent` | a repeated call changes nothing more |
/// | `require_confirmation` | a person is asked before each call |
/// | `confirm_when = function` | a person is asked before the calls that the function picks, a `fn(&Values) -> bool` |
/// | `volatile` | its answers change by themselves: the same call is made again, not answered from the record |
/// | `serial` | one call at a time |
/// | `timeout = "5s"` | how long a call may take (`ms`, `s`, `m`, `h`) |
/// | `name = "…"` | the name the model sees, instead of the name of the function |
/// | `description = "…"` | the description, instead of the doc comment |
///
/// Parameters are owned values or references to them (`&str`, `&[T]`, `&T`); an `Option<T>` may be
/// left out; one of type `ToolContext` or `&ToolContext` is handed in and unknown to the model.
/// `#[serde(…)]` and `#[schemars(…)]` on a parameter apply to the argument. The function returns
/// anything that serialises, or a `Result` of it whose error displays. A function that is not
/// `async` runs on a thread where it may block.
#[proc_macro_attribute]
pub fn tool(options: TokenStream, item: TokenStream) -> TokenStream {
    tool::expand(options.into(), item.into())
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}

/// Makes tools of the methods of a type.
///
/// Methods that carry `#[tool]` (with the options and rules of [`macro@tool`], which need not be
/// imported) become tools that share one value; they take `&self`, or no `self` at all. The block gets a method more:
/// `pub fn tools(self: &Arc<Self>) -> enact::Tools`.
#[proc_macro_attribute]
pub fn toolbox(options: TokenStream, item: TokenStream) -> TokenStream {
    toolbox::expand(options.into(), item.into())
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}
