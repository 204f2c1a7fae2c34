//! The parameters of a tool function: the model's arguments, and how they are passed.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote, quote_spanned};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Attribute, FnArg, Ident, Pat, PatType, Token, Type};

use super::types::is_named;
use crate::crate_path::{brought_along, enact};
use crate::doc_text::is_doc;

pub(crate) struct Arguments {
    /// The fields of the struct for the arguments.
    fields: Vec<TokenStream>,
    /// The expressions in the call, for each parameter.
    pub(crate) passed: Vec<TokenStream>,
}

impl Arguments {
    /// Parses the parameters, and removes the attributes that rustc would not accept on them.
    pub(crate) fn take(inputs: &mut Punctuated<FnArg, Token![,]>) -> syn::Result<Self> {
        let mut arguments = Self {
            fields: Vec::new(),
            passed: Vec::new(),
        };
        let mut has_context = false;
        for input in inputs {
            let FnArg::Typed(parameter) = input else {
                continue;
            };
            if let Some(context) = context_of(&parameter.ty) {
                if std::mem::replace(&mut has_context, true) {
                    let message = "the `ToolContext` is asked for twice: keep one";
                    return Err(syn::Error::new_spanned(&parameter.ty, message));
                }
                take_attributes(&mut parameter.attrs);
                arguments.passed.push(context);
                continue;
            }
            let ident = named(parameter)?.clone();
            let attributes = take_attributes(&mut parameter.attrs);
            let (ty, borrow) = owned(&parameter.ty)?;
            arguments.fields.push(quote!(#(#attributes)* #ident: #ty));
            arguments.passed.push(quote!(#borrow __arguments.#ident));
        }
        Ok(arguments)
    }

    /// The definition of the struct for the arguments.
    pub(crate) fn definition(&self) -> TokenStream {
        let fields = &self.fields;
        let enact = enact();
        let (serde, schemars) = (brought_along("serde"), brought_along("schemars"));
        quote! {
            #[derive(
                #enact::__private::serde::Deserialize,
                #enact::__private::schemars::JsonSchema,
            )]
            #[serde(crate = #serde)]
            #[schemars(crate = #schemars)]
            #[allow(non_snake_case)]
            struct __Arguments {
                #(#fields),*
            }
        }
    }

    /// Deserialises the arguments, unless there are none.
    pub(crate) fn reading(&self) -> TokenStream {
        if self.fields.is_empty() {
            return TokenStream::new();
        }
        let enact = enact();
        quote! {
            let __arguments = #enact::__private::read_args::<__Arguments>(__values)?;
        }
    }
}

/// Removes the attributes that rustc would not accept on parameters.
pub(crate) fn strip(inputs: &mut Punctuated<FnArg, Token![,]>) {
    for input in inputs {
        if let FnArg::Typed(parameter) = input {
            take_attributes(&mut parameter.attrs);
        }
    }
}

fn context_of(ty: &Type) -> Option<TokenStream> {
    match ty {
        Type::Reference(reference) if reference.mutability.is_none() => {
            is_named(&reference.elem, "ToolContext").then(|| quote!(&__context))
        }
        other => is_named(other, "ToolContext").then(|| quote!(__context)),
    }
}

fn named(parameter: &PatType) -> syn::Result<&Ident> {
    match &*parameter.pat {
        Pat::Ident(pattern) if pattern.subpat.is_none() && pattern.by_ref.is_none() => {
            Ok(&pattern.ident)
        }
        other => Err(syn::Error::new_spanned(
            other,
            "the parameter of a tool needs a plain name, which the model sees: write `city: \
             String`, and take it apart in the body",
        )),
    }
}

/// Docs and attributes of serde and schemars belong to the argument, all others to the parameter.
fn take_attributes(attributes: &mut Vec<Attribute>) -> Vec<Attribute> {
    let (taken, kept) = std::mem::take(attributes)
        .into_iter()
        .partition(|attribute| {
            let path = attribute.path();
            is_doc(attribute) || path.is_ident("serde") || path.is_ident("schemars")
        });
    *attributes = kept;
    taken
}

/// The type to deserialise, and the conversion to the parameter's type.
fn owned(ty: &Type) -> syn::Result<(TokenStream, Option<Token![&]>)> {
    let (read, borrow) = match ty {
        Type::ImplTrait(_) => {
            let message = "the parameter of a tool needs a type of its own, not `impl Trait`: the \
                           model has to know what to send";
            return Err(syn::Error::new_spanned(ty, message));
        }
        Type::Reference(reference) => {
            if reference.mutability.is_some() {
                let message = "a tool cannot take `&mut`: its arguments come from the model, and \
                               nobody sees the change; take the value";
                return Err(syn::Error::new_spanned(reference, message));
            }
            let read = match &*reference.elem {
                Type::Slice(slice) => {
                    let item = &slice.elem;
                    quote!(::std::vec::Vec<#item>)
                }
                elem if is_named(elem, "str") => {
                    quote_spanned!(elem.span()=> ::std::string::String)
                }
                elem => elem.to_token_stream(),
            };
            (read, Some(reference.and_token))
        }
        other => (other.to_token_stream(), None),
    };
    if has_reference(read.clone()) {
        let message = "references inside of a type cannot be read from a call: take an owned \
                       value, such as `Option<String>`";
        return Err(syn::Error::new_spanned(ty, message));
    }
    Ok((read, borrow))
}

fn has_reference(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|token| match token {
        proc_macro2::TokenTree::Punct(punct) => punct.as_char() == '&',
        proc_macro2::TokenTree::Group(group) => has_reference(group.stream()),
        _ => false,
    })
}
