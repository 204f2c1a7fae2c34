//! `#[derive(Signature)]`.

use enact_signature as model;
use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Attribute, Data, DeriveInput, Expr, Fields, Ident, Meta, Type};

use crate::crate_path::{self, brought_along};
use crate::doc_text::{doc_text, is_doc};
use crate::tool::types::option_of;

#[derive(Clone, Copy, PartialEq)]
enum Side {
    Input,
    Output,
}

struct Declared<'a> {
    side: Side,
    ident: &'a Ident,
    ty: &'a Type,
    docs: Vec<&'a Attribute>,
    description: Option<String>,
    default: Option<Expr>,
}

pub(crate) fn derive(item: &DeriveInput) -> syn::Result<TokenStream> {
    let fields = declared(item)?;
    let ident = &item.ident;
    let (input_ident, output_ident) = (
        format_ident!("{ident}Input"),
        format_ident!("{ident}Output"),
    );
    let side = |side| fields.iter().filter(move |field| field.side == side);

    let input_struct = side_struct(item, &input_ident, "inputs", side(Side::Input));
    let output_struct = side_struct(item, &output_ident, "outputs", side(Side::Output));
    let input_names: Vec<_> = side(Side::Input).map(|field| field.ident).collect();
    let output_names: Vec<_> = side(Side::Output).map(|field| field.ident).collect();
    let inputs = side(Side::Input).map(field_value);
    let outputs = side(Side::Output).map(field_value);
    let name = ident.unraw().to_string();
    let instructions = doc_text(&item.attrs).map(|text| quote!(.instructions(#text)));

    let enact = crate_path::enact();
    Ok(quote! {
        #input_struct
        #output_struct

        #[automatically_derived]
        impl #enact::TypedSignature for #ident {
            type Input = #input_ident;
            type Output = #output_ident;

            fn signature() -> #enact::__private::enact_signature::Signature {
                #enact::__private::enact_signature::Signature::builder()
                    .name(#name)
                    #instructions
                    #(.input(#inputs))*
                    #(.output(#outputs))*
                    .build_checked_by_macro()
            }

            // Reads every field: a struct that only declares a signature is not dead code.
            fn split(self) -> (Self::Input, Self::Output) {
                (
                    #input_ident { #(#input_names: self.#input_names),* },
                    #output_ident { #(#output_names: self.#output_names),* },
                )
            }
        }
    })
}

fn declared(item: &DeriveInput) -> syn::Result<Vec<Declared<'_>>> {
    const SHAPE: &str = "`#[derive(Signature)]` needs a struct with named fields, such as `struct Weather { \
         #[input] question: String, #[output] answer: String }`";
    let Data::Struct(data) = &item.data else {
        return Err(syn::Error::new(item.ident.span(), SHAPE));
    };
    let Fields::Named(named) = &data.fields else {
        return Err(syn::Error::new(item.ident.span(), SHAPE));
    };
    if !item.generics.params.is_empty() || item.generics.where_clause.is_some() {
        return Err(syn::Error::new_spanned(
            &item.generics,
            "a signature cannot be generic: its fields need types that are known here",
        ));
    }
    let mut fields = Vec::new();
    let mut errors = Vec::new();
    for field in &named.named {
        match field.ident.as_ref().map(|ident| declare(field, ident)) {
            Some(Ok(declared)) => fields.push(declared),
            Some(Err(error)) => errors.push(error),
            None => {}
        }
    }
    // All fields at once: a struct is also read at once.
    if let Some(all) = errors.into_iter().reduce(|mut all, error| {
        all.combine(error);
        all
    }) {
        return Err(all);
    }
    for (side, name) in [(Side::Input, "input"), (Side::Output, "output")] {
        if !fields.iter().any(|field| field.side == side) {
            let message =
                format!("the signature has no {name}: put `#[{name}]` on at least one field");
            return Err(syn::Error::new(item.ident.span(), message));
        }
    }
    Ok(fields)
}

fn declare<'a>(field: &'a syn::Field, ident: &'a Ident) -> syn::Result<Declared<'a>> {
    let marks: Vec<(Side, &Attribute)> = field
        .attrs
        .iter()
        .filter_map(|attribute| {
            let path = attribute.path();
            let input = path.is_ident("input").then_some((Side::Input, attribute));
            input.or(path.is_ident("output").then_some((Side::Output, attribute)))
        })
        .collect();
    let (side, mark) = match marks.as_slice() {
        [only] => *only,
        [] => {
            let message = format!(
                "`{ident}` is neither an input nor an output: put `#[input]` or `#[output]` on it"
            );
            return Err(syn::Error::new(ident.span(), message));
        }
        [(first, _), (second, extra), ..] => {
            let message = if first == second {
                format!("`{ident}` is marked twice: once is enough")
            } else {
                format!("`{ident}` cannot be both: choose `#[input]` or `#[output]`")
            };
            return Err(syn::Error::new_spanned(extra, message));
        }
    };
    check_name(side, ident)?;
    Ok(Declared {
        side,
        ident,
        ty: &field.ty,
        docs: field
            .attrs
            .iter()
            .filter(|attribute| is_doc(attribute))
            .collect(),
        description: doc_text(&field.attrs),
        default: default_of(side, mark)?,
    })
}

/// The same rules for names as for every signature, with the same messages.
fn check_name(side: Side, ident: &Ident) -> syn::Result<()> {
    let field = model::Field::new(ident.unraw().to_string(), model::Type::Any);
    let probe = model::Field::new("_", model::Type::Any);
    let builder = model::Signature::builder();
    let built = match side {
        Side::Input => builder.input(field).output(probe).build(),
        Side::Output => builder.input(probe).output(field).build(),
    };
    built
        .map(drop)
        .map_err(|error| syn::Error::new(ident.span(), error.message()))
}

fn default_of(side: Side, mark: &Attribute) -> syn::Result<Option<Expr>> {
    if matches!(mark.meta, Meta::Path(_)) {
        return Ok(None);
    }
    if side == Side::Output {
        let message = "`#[output]` takes no options: the model always has to produce it, unless \
                       its type is an `Option`";
        return Err(syn::Error::new_spanned(mark, message));
    }
    const ALLOWED: &str = "the only option of `#[input]` is `#[input(default = 3)]`";
    let Meta::List(list) = &mark.meta else {
        return Err(syn::Error::new_spanned(mark, ALLOWED));
    };
    let mut default = None;
    list.parse_nested_meta(|option| {
        if !option.path.is_ident("default") {
            return Err(option.error(ALLOWED));
        }
        if default.is_some() {
            return Err(option.error("there are two defaults: keep one"));
        }
        default = Some(option.value()?.parse::<Expr>()?);
        Ok(())
    })?;
    default
        .map(Some)
        .ok_or_else(|| syn::Error::new_spanned(mark, ALLOWED))
}

fn field_value(field: &Declared<'_>) -> TokenStream {
    let (name, ty) = (field.ident.unraw().to_string(), field.ty);
    let description = field
        .description
        .as_ref()
        .map(|text| quote!(.describe(#text)));
    let enact = crate_path::enact();
    let built = quote! {
        #enact::__private::enact_signature::Field::new(
            #name,
            #enact::__private::field_type::<#ty>(),
        ) #description
    };
    let Some(default) = &field.default else {
        return built;
    };
    let default = typed_default(ty, default);
    quote! {{
        let mut field = #built;
        let default: #ty = #default;
        field.default = #enact::__private::serde_json::to_value(default).ok();
        field
    }}
}

/// A literal is a value of the field's type, as in an arrow string: `"x"` for a `String`, `3` for an
/// `Option<i64>`. Any other expression is used unchanged.
fn typed_default(ty: &Type, default: &Expr) -> TokenStream {
    let literal = match default {
        Expr::Lit(_) => true,
        Expr::Unary(unary) => matches!(*unary.expr, Expr::Lit(_)),
        _ => false,
    };
    if !literal {
        return quote!(#default);
    }
    if let Some(inner) = option_of(ty) {
        let inner = typed_default(inner, default);
        return quote!(::core::option::Option::Some(#inner));
    }
    match default {
        Expr::Lit(lit) if matches!(lit.lit, syn::Lit::Str(_)) => {
            quote_spanned!(default.span()=> ::core::convert::From::from(#default))
        }
        _ => quote!(#default),
    }
}

fn side_struct<'a>(
    item: &DeriveInput,
    ident: &Ident,
    noun: &str,
    fields: impl Iterator<Item = &'a Declared<'a>>,
) -> TokenStream {
    let vis = &item.vis;
    let enact = crate_path::enact();
    let serde = brought_along("serde");
    let doc = format!("The {noun} of [`{}`].", item.ident);
    // The fields are as visible as the struct: where it can be named, all fields can be set.
    let fields = fields.map(|field| {
        let Declared {
            ident, ty, docs, ..
        } = field;
        let doc = docs.is_empty().then(|| {
            let doc = format!("The field `{}` of [`{}`].", ident.unraw(), item.ident);
            quote!(#[doc = #doc])
        });
        quote!(#(#docs)* #doc #vis #ident: #ty)
    });
    quote! {
        #[doc = #doc]
        #[derive(
            ::core::fmt::Debug,
            ::core::clone::Clone,
            #enact::__private::serde::Serialize,
            #enact::__private::serde::Deserialize,
        )]
        #[serde(crate = #serde)]
        #vis struct #ident {
            #(#fields),*
        }
    }
}
