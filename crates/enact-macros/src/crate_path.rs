//! Finds the crate that generated code refers to.

use proc_macro_crate::{FoundCrate, crate_name};
use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::Ident;

/// The crates that export what generated code needs, under the same paths. The core first: a crate that
/// depends on it may only use enact in its tests.
const CRATES: [&str; 2] = ["enact-core", "enact"];

/// The path of enact in the crate that is being compiled, such as `::enact`, whatever its name in
/// `Cargo.toml`.
pub(crate) fn enact() -> TokenStream {
    let found = CRATES.iter().find_map(|name| match crate_name(name).ok()? {
        // Its tests and examples see it from outside, and it uses the same name for itself.
        FoundCrate::Itself => Some(name.replace('-', "_")),
        FoundCrate::Name(name) => Some(name),
    });
    let ident = Ident::new(found.as_deref().unwrap_or("enact"), Span::call_site());
    quote!(::#ident)
}

/// The same in the form for serde and schemars: the path of a crate that enact re-exports.
pub(crate) fn brought_along(name: &str) -> String {
    let path = enact().to_string().replace(' ', "");
    format!("{path}::__private::{name}")
}
