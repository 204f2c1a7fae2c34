//! `signature!`: an arrow string, parsed when the program is compiled.

use enact_signature::{Field, Signature, Type};
use proc_macro2::TokenStream;
use quote::quote;
use serde_json::Value;
use syn::LitStr;

use crate::crate_path;

pub(crate) fn expand(tokens: TokenStream) -> syn::Result<TokenStream> {
    let arrow: LitStr = syn::parse2(tokens).map_err(|error| {
        let message = "`signature!` takes an arrow string in quotes, such as `\"question -> \
                       answer\"`; one that is known at run time only is for `Signature::parse`";
        syn::Error::new(error.span(), message)
    })?;
    let signature = Signature::parse(&arrow.value())
        .map_err(|error| syn::Error::new(arrow.span(), error.to_string()))?;
    let inputs = signature.inputs().iter().map(field);
    let outputs = signature.outputs().iter().map(field);
    let enact = crate_path::enact();
    Ok(quote! {
        #enact::__private::enact_signature::Signature::builder()
            #(.input(#inputs))*
            #(.output(#outputs))*
            .build_checked_by_macro()
    })
}

fn field(field: &Field) -> TokenStream {
    let (name, ty) = (&field.name, ty(&field.ty));
    let enact = crate_path::enact();
    let default = field.default.as_ref().map(|default| {
        let default = value(default);
        quote!(.default_value(#default))
    });
    quote!(#enact::__private::enact_signature::Field::new(#name, #ty) #default)
}

fn ty(of: &Type) -> TokenStream {
    let enact = crate_path::enact();
    let path = quote!(#enact::__private::enact_signature::Type);
    match of {
        Type::Str => quote!(#path::Str),
        Type::Int => quote!(#path::Int),
        Type::Float => quote!(#path::Float),
        Type::Bool => quote!(#path::Bool),
        // An arrow string cannot spell a schema.
        Type::Any | Type::Schema(_) => quote!(#path::Any),
        Type::List(item) => {
            let item = ty(item);
            quote!(#path::list(#item))
        }
        Type::Dict(of) => {
            let of = ty(of);
            quote!(#path::dict(#of))
        }
        Type::Optional(inner) => {
            let inner = ty(inner);
            quote!(#path::optional(#inner))
        }
        Type::Union(members) => {
            let members = members.iter().map(ty);
            quote!(#path::union([#(#members),*]))
        }
        Type::Literal(values) => {
            let values = values.iter().map(value);
            quote!(#path::literal([#(#values),*]))
        }
    }
}

fn value(of: &Value) -> TokenStream {
    let enact = crate_path::enact();
    let path = quote!(#enact::__private::serde_json::Value);
    match of {
        Value::Null => quote!(#path::Null),
        Value::Bool(flag) => quote!(#path::Bool(#flag)),
        Value::String(text) => quote!(#path::from(#text)),
        Value::Number(number) => match (number.as_i64(), number.as_u64(), number.as_f64()) {
            (Some(number), _, _) => quote!(#path::from(#number)),
            (_, Some(number), _) => quote!(#path::from(#number)),
            (_, _, number) => {
                let number = number.unwrap_or_default();
                quote!(#path::from(#number))
            }
        },
        Value::Array(items) => {
            let items = items.iter().map(value);
            quote!(#path::Array(::std::vec![#(#items),*]))
        }
        Value::Object(entries) => {
            let keys = entries.keys();
            let values = entries.values().map(value);
            quote! {
                #path::Object(::core::iter::FromIterator::from_iter(
                    [#((::std::string::String::from(#keys), #values)),*]
                ))
            }
        }
    }
}
