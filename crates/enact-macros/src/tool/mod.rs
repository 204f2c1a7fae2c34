//! `#[tool]`, and what `#[toolbox]` shares with it.

mod arguments;
mod options;
pub(crate) mod types;

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{Attribute, Item, ItemFn, ReturnType, Safety, Signature};

use crate::doc_text::{doc_text, is_doc};
use arguments::Arguments;
use options::Options;

pub(crate) fn expand(options: TokenStream, item: TokenStream) -> syn::Result<TokenStream> {
    let options = Options::parse(options)?;
    let mut function = function(item)?;
    if let Some(receiver) = function.sig.receiver() {
        return Err(syn::Error::new(
            receiver.span(),
            "`#[tool]` on a method needs `#[toolbox]` on the `impl` block",
        ));
    }
    let tool = ToolFunction::take(options, &function.attrs, &mut function.sig)?;

    let ItemFn {
        vis, sig, attrs, ..
    } = &function;
    let ident = &sig.ident;
    let docs = attrs.iter().filter(|attribute| is_doc(attribute));
    let doc = format!("The tool of the function [`{ident}()`].");
    let doc = doc_text(attrs).is_none().then(|| quote!(#[doc = #doc]));
    let conditions: Vec<_> = attrs.iter().filter(|a| a.path().is_ident("cfg")).collect();
    let definition = tool.arguments.definition();
    let spec = tool.spec();
    let run = tool.run(&quote!(#ident));
    Ok(quote! {
        #function

        #(#conditions)*
        #(#docs)*
        #doc
        #[allow(non_camel_case_types)]
        #[derive(::core::fmt::Debug, ::core::clone::Clone, ::core::marker::Copy)]
        #vis struct #ident {}

        #(#conditions)*
        const _: () = {
            #definition

            #[automatically_derived]
            impl ::enact::tool::Tool for #ident {
                fn spec(&self) -> &::enact::tool::ToolSpec {
                    static SPEC: ::std::sync::LazyLock<::enact::tool::ToolSpec> =
                        ::std::sync::LazyLock::new(|| #spec);
                    &SPEC
                }

                fn call<'a>(
                    &'a self,
                    __values: ::enact::__private::enact_signature::Values,
                    __context: ::enact::tool::ToolContext,
                ) -> ::enact::tool::ToolFuture<'a> {
                    ::std::boxed::Box::pin(async move { #run })
                }
            }
        };
    })
}

fn function(item: TokenStream) -> syn::Result<ItemFn> {
    match syn::parse2::<Item>(item)? {
        Item::Fn(function) => Ok(function),
        Item::Impl(block) => Err(syn::Error::new(
            block.impl_token.span(),
            "`#[tool]` goes on a function; for an `impl` block there is `#[toolbox]`",
        )),
        other => Err(syn::Error::new(
            other.span(),
            "`#[tool]` goes on a function, such as `async fn weather(city: String) -> String`",
        )),
    }
}

/// A function or method that becomes a tool.
pub(crate) struct ToolFunction {
    pub(crate) name: String,
    description: String,
    options: Options,
    pub(crate) arguments: Arguments,
    is_async: bool,
    returns_result: bool,
}

impl ToolFunction {
    /// Reads the function, and takes from its parameters the attributes that are not for rustc.
    pub(crate) fn take(
        options: Options,
        attributes: &[Attribute],
        signature: &mut Signature,
    ) -> syn::Result<Self> {
        refuse_unsuitable(signature)?;
        let name = match &options.name {
            Some(name) => name.value(),
            None => signature.ident.unraw().to_string(),
        };
        let description = match &options.description {
            Some(description) => description.value(),
            None => doc_text(attributes).unwrap_or_default(),
        };
        let returns_result = match &signature.output {
            ReturnType::Type(_, ty) => types::is_named(ty, "Result"),
            ReturnType::Default => false,
        };
        Ok(Self {
            name,
            description,
            options,
            arguments: Arguments::take(&mut signature.inputs)?,
            is_async: signature.asyncness.is_some(),
            returns_result,
        })
    }

    /// An expression: the spec. `__Arguments` has to be in scope.
    pub(crate) fn spec(&self) -> TokenStream {
        let Self {
            name, description, ..
        } = self;
        let calls = self.options.spec_calls();
        quote! {
            ::enact::tool::ToolSpec::new(
                #name,
                #description,
                ::enact::__private::parameters_of::<__Arguments>(),
            ) #calls
        }
    }

    /// The body of an async block that calls `callee` with the arguments in `__values`.
    pub(crate) fn run(&self, callee: &TokenStream) -> TokenStream {
        let reading = self.arguments.reading();
        let passed = &self.arguments.passed;
        let call = quote!(#callee(#(#passed),*));
        // Converted on the spot: what comes back from another thread has to be `Send`, and the
        // error of a function need not be.
        if self.is_async {
            let converted = self.converted(&quote!(#call.await));
            quote!(#reading #converted)
        } else {
            let converted = self.converted(&call);
            quote! {
                #reading
                ::enact::__private::blocking(move || #converted).await?
            }
        }
    }

    fn converted(&self, value: &TokenStream) -> TokenStream {
        if !self.returns_result {
            return quote!(::enact::__private::IntoToolResult::into_tool_result(#value));
        }
        // The alternate form shows the causes too, for those errors that keep them.
        quote! {
            match #value {
                ::core::result::Result::Ok(value) => {
                    ::enact::__private::IntoToolResult::into_tool_result(value)
                }
                ::core::result::Result::Err(error) => ::core::result::Result::Err(
                    ::enact::tool::ToolError::new(::std::format!("{error:#}")),
                ),
            }
        }
    }
}

/// Options of a `#[tool]` that stands on a method.
pub(crate) fn options_of(attribute: &Attribute) -> syn::Result<Options> {
    match &attribute.meta {
        syn::Meta::Path(_) => Ok(Options::default()),
        syn::Meta::List(list) => Options::parse(list.tokens.clone()),
        syn::Meta::NameValue(pair) => Err(syn::Error::new(
            pair.span(),
            "write `#[tool]`, or the options in parentheses: `#[tool(read_only)]`",
        )),
    }
}

fn refuse_unsuitable(signature: &Signature) -> syn::Result<()> {
    let refuse = |place: &dyn ToTokens, message: &str| {
        Err(syn::Error::new(place.to_token_stream().span(), message))
    };
    if !signature.generics.params.is_empty() || signature.generics.where_clause.is_some() {
        return refuse(
            &signature.generics,
            "a tool cannot be generic: the model has to know what to send; write out the types",
        );
    }
    if let Safety::Unsafe(token) = &signature.safety {
        return refuse(
            token,
            "a tool cannot be `unsafe`: its arguments come from a model; wrap it in a function \
             that checks them",
        );
    }
    if let Some(abi) = &signature.abi {
        return refuse(abi, "a tool is a plain Rust function: remove the ABI");
    }
    if let Some(variadic) = &signature.variadic {
        return refuse(
            variadic,
            "a tool takes a fixed list of parameters: remove `...`",
        );
    }
    Ok(())
}
