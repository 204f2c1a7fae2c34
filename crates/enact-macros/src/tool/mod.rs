//! `#[tool]`, and what `#[toolbox]` shares with it.

mod arguments;
mod options;
pub(crate) mod types;

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::ext::IdentExt;
use syn::{Attribute, Item, ItemFn, ReturnType, Safety, Signature};

use crate::crate_path;
use crate::doc_text::{doc_text, is_doc};
use arguments::Arguments;
pub(crate) use arguments::strip;
use options::Options;

pub(crate) fn expand(options: TokenStream, item: TokenStream) -> syn::Result<TokenStream> {
    let mut function = function(item)?;
    match read(options, &mut function) {
        Ok(tool) => Ok(expanded(&function, &tool)),
        Err(error) => {
            // The function is kept, so that its callers don't cause further errors.
            strip(&mut function.sig.inputs);
            let error = error.into_compile_error();
            Ok(quote!(#function #error))
        }
    }
}

fn read(options: TokenStream, function: &mut ItemFn) -> syn::Result<ToolFunction> {
    if let Some(receiver) = function.sig.receiver() {
        return Err(syn::Error::new_spanned(
            receiver,
            "`#[tool]` on a method needs `#[toolbox]` on the `impl` block",
        ));
    }
    ToolFunction::take(Options::parse(options)?, &function.attrs, &mut function.sig)
}

fn expanded(function: &ItemFn, tool: &ToolFunction) -> TokenStream {
    let ItemFn {
        vis, sig, attrs, ..
    } = function;
    let ident = &sig.ident;
    let docs = attrs.iter().filter(|attribute| is_doc(attribute));
    let doc = format!("The tool of the function [`{ident}()`].");
    let doc = doc_text(attrs).is_none().then(|| quote!(#[doc = #doc]));
    let conditions: Vec<_> = attrs.iter().filter(|a| a.path().is_ident("cfg")).collect();
    let definition = tool.arguments.definition();
    let spec = tool.spec();
    let run = tool.run(&quote!(#ident));
    let enact = crate_path::enact();
    let rule = tool.options.policy().map(|policy| {
        quote! {
            fn needs_confirmation(&self, args: &#enact::__private::enact_signature::Values) -> bool {
                #enact::__private::asks(#policy, args)
            }
        }
    });
    quote! {
        #function

        #(#conditions)*
        #(#docs)*
        #doc
        #[allow(non_camel_case_types)]
        #[derive(
            ::core::fmt::Debug,
            ::core::clone::Clone,
            ::core::marker::Copy,
            ::core::default::Default,
        )]
        #vis struct #ident {}

        #(#conditions)*
        const _: () = {
            #definition

            #[automatically_derived]
            impl #enact::tool::Tool for #ident {
                fn spec(&self) -> &#enact::tool::ToolSpec {
                    static SPEC: ::std::sync::LazyLock<#enact::tool::ToolSpec> =
                        ::std::sync::LazyLock::new(|| #spec);
                    &SPEC
                }

                #rule

                fn call<'a>(
                    &'a self,
                    __values: #enact::__private::enact_signature::Values,
                    __context: #enact::tool::ToolContext,
                ) -> #enact::tool::ToolFuture<'a> {
                    ::std::boxed::Box::pin(async move { #run })
                }
            }
        };
    }
}

fn function(item: TokenStream) -> syn::Result<ItemFn> {
    match syn::parse2::<Item>(item)? {
        Item::Fn(function) => Ok(function),
        Item::Impl(block) => Err(syn::Error::new_spanned(
            block.self_ty,
            "`#[tool]` goes on a function; for an `impl` block there is `#[toolbox]`",
        )),
        other => Err(syn::Error::new_spanned(
            other,
            "`#[tool]` goes on a function, such as `async fn weather(city: String) -> String`",
        )),
    }
}

/// A function or method that becomes a tool.
pub(crate) struct ToolFunction {
    pub(crate) name: String,
    description: String,
    pub(crate) options: Options,
    pub(crate) arguments: Arguments,
    is_async: bool,
    returns: Returns,
}

/// The return type of a function, as far as it is visible.
enum Returns {
    Value,
    /// `Result<T, E>`, where the error's text is used.
    Result,
    /// `Result<T, ToolError>`.
    ToolResult,
}

impl Returns {
    fn of(output: &ReturnType) -> Self {
        let ReturnType::Type(_, ty) = output else {
            return Self::Value;
        };
        match types::result_error(ty) {
            None => Self::Value,
            Some(Some(error)) if types::is_named(error, "ToolError") => Self::ToolResult,
            Some(_) => Self::Result,
        }
    }
}

impl ToolFunction {
    /// Parses the function, and removes attributes of its parameters that are not for rustc.
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
        Ok(Self {
            name,
            description,
            options,
            arguments: Arguments::take(&mut signature.inputs)?,
            is_async: signature.asyncness.is_some(),
            returns: Returns::of(&signature.output),
        })
    }

    /// An expression: the spec. `__Arguments` has to be in scope.
    pub(crate) fn spec(&self) -> TokenStream {
        let Self {
            name, description, ..
        } = self;
        let calls = self.options.spec_calls();
        let enact = crate_path::enact();
        quote! {
            #enact::tool::ToolSpec::new(
                #name,
                #description,
                #enact::__private::parameters_of::<__Arguments>(),
            ) #calls
        }
    }

    /// The body of an async block that calls `callee` with the arguments in `__values`.
    pub(crate) fn run(&self, callee: &TokenStream) -> TokenStream {
        let reading = self.arguments.reading();
        let passed = &self.arguments.passed;
        let call = quote!(#callee(#(#passed),*));
        // Converted immediately: what comes back from another thread has to be `Send`, and the error of a
        // function doesn't have to be.
        if self.is_async {
            let converted = self.converted(&quote!(#call.await));
            quote!(#reading #converted)
        } else {
            let converted = self.converted(&call);
            let enact = crate_path::enact();
            quote! {
                #reading
                #enact::__private::blocking(move || #converted).await?
            }
        }
    }

    fn converted(&self, value: &TokenStream) -> TokenStream {
        let enact = crate_path::enact();
        let error = match self.returns {
            Returns::Value => {
                return quote!(#enact::__private::IntoToolResult::into_tool_result(#value));
            }
            Returns::ToolResult => quote!(error),
            // The alternate form also shows the causes, for errors that have them.
            Returns::Result => {
                quote!(#enact::tool::ToolError::new(::std::format!("{error:#}")))
            }
        };
        quote! {
            match #value {
                ::core::result::Result::Ok(value) => {
                    #enact::__private::IntoToolResult::into_tool_result(value)
                }
                ::core::result::Result::Err(error) => ::core::result::Result::Err(#error),
            }
        }
    }
}

/// Options of a `#[tool]` on a method.
pub(crate) fn options_of(attribute: &Attribute) -> syn::Result<Options> {
    match &attribute.meta {
        syn::Meta::Path(_) => Ok(Options::default()),
        syn::Meta::List(list) => Options::parse(list.tokens.clone()),
        syn::Meta::NameValue(pair) => Err(syn::Error::new_spanned(
            pair,
            "write `#[tool]`, or the options in parentheses: `#[tool(read_only)]`",
        )),
    }
}

fn refuse_unsuitable(signature: &Signature) -> syn::Result<()> {
    let refuse = |place: &dyn ToTokens, message: &str| {
        Err(syn::Error::new_spanned(place.to_token_stream(), message))
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
