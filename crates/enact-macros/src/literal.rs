//! `signature!`: an arrow string, parsed at compile time.

use enact_signature::Signature;
use proc_macro2::TokenStream;
use quote::quote;
use syn::LitStr;

use crate::crate_path;

pub(crate) fn expand(tokens: TokenStream) -> syn::Result<TokenStream> {
    let arrow: LitStr = syn::parse2(tokens).map_err(|error| {
        let message = "`signature!` takes an arrow string in quotes, such as `\"question -> \
                       answer\"`; one that is known at run time only is for `Signature::parse`";
        syn::Error::new(error.span(), message)
    })?;
    Signature::parse(&arrow.value())
        .map_err(|error| syn::Error::new(arrow.span(), error.to_string()))?;
    let enact = crate_path::enact();
    Ok(quote! {
        #enact::__private::enact_signature::Signature::parse_checked_by_macro(#arrow)
    })
}
