//! `#[toolbox]`: tools that share a value.

use proc_macro2::TokenStream;
use quote::quote;
use syn::{Attribute, ImplItem, ImplItemFn, Item, ItemImpl, ReceiverKind};

use crate::crate_path;
use crate::tool::{ToolFunction, options_of, strip};

pub(crate) fn expand(options: TokenStream, item: TokenStream) -> syn::Result<TokenStream> {
    if !options.is_empty() {
        return Err(syn::Error::new_spanned(
            options,
            "`#[toolbox]` takes no options: put them on the methods, as in `#[tool(read_only)]`",
        ));
    }
    let mut block = block(item)?;
    match tools_of(&mut block) {
        Ok(tools) => {
            let enact = crate_path::enact();
            block.items.push(syn::parse_quote! {
                /// The tools of this value, for an agent.
                #[allow(unreachable_pub)]
                pub fn tools(self: &::std::sync::Arc<Self>) -> #enact::tool::Tools {
                    #enact::tool::Tools::new() #(.with(#tools))*
                }
            });
            Ok(quote!(#block))
        }
        Err(error) => {
            // The methods are kept, so that their callers don't cause further errors.
            for item in &mut block.items {
                if let ImplItem::Fn(method) = item {
                    take_tool(method);
                    strip(&mut method.sig.inputs);
                }
            }
            let error = error.into_compile_error();
            Ok(quote!(#block #error))
        }
    }
}

/// The expressions that create the tools.
fn tools_of(block: &mut ItemImpl) -> syn::Result<Vec<TokenStream>> {
    let mut tools: Vec<(String, TokenStream)> = Vec::new();
    for item in &mut block.items {
        let ImplItem::Fn(method) = item else { continue };
        if method.sig.ident == "tools" {
            return Err(syn::Error::new(
                method.sig.ident.span(),
                "`#[toolbox]` makes a method `tools` of its own: rename this one (and keep the \
                 tool's name with `#[tool(name = \"tools\")]`)",
            ));
        }
        let span = method.sig.ident.span();
        if let Some((name, tool)) = tool_of(method)? {
            if tools.iter().any(|(earlier, _)| *earlier == name) {
                let message = format!("two tools are called `{name}`: rename one of them");
                return Err(syn::Error::new(span, message));
            }
            tools.push((name, tool));
        }
    }
    if tools.is_empty() {
        return Err(syn::Error::new_spanned(
            &block.self_ty,
            "no method of this `#[toolbox]` is a tool: put `#[tool]` on those that are",
        ));
    }
    Ok(tools.into_iter().map(|(_, tool)| tool).collect())
}

fn block(item: TokenStream) -> syn::Result<ItemImpl> {
    match syn::parse2::<Item>(item)? {
        Item::Impl(block) => match &block.trait_ {
            None => Ok(block),
            Some((path, _)) => Err(syn::Error::new_spanned(
                path,
                "`#[toolbox]` goes on the methods of a type, not on the `impl` of a trait",
            )),
        },
        Item::Fn(function) => Err(syn::Error::new(
            function.sig.ident.span(),
            "`#[toolbox]` goes on an `impl` block; for a function there is `#[tool]`",
        )),
        other => Err(syn::Error::new_spanned(
            other,
            "`#[toolbox]` goes on an `impl` block with `#[tool]` methods",
        )),
    }
}

/// The `#[tool]` of a method, which rustc must not resolve.
fn take_tool(method: &mut ImplItemFn) -> Option<Attribute> {
    let is_tool = |attribute: &Attribute| {
        attribute
            .path()
            .segments
            .last()
            .is_some_and(|segment| segment.ident == "tool")
    };
    let place = method.attrs.iter().position(is_tool)?;
    Some(method.attrs.remove(place))
}

/// The name of the tool, and the expression that creates it; none for other methods.
fn tool_of(method: &mut ImplItemFn) -> syn::Result<Option<(String, TokenStream)>> {
    let Some(attribute) = take_tool(method) else {
        return Ok(None);
    };
    let options = options_of(&attribute)?;
    let mut tool = ToolFunction::take(options, &method.attrs, &mut method.sig)?;
    let has_receiver = match method.sig.receiver() {
        None => false,
        Some(receiver) => {
            if !matches!(receiver.kind, ReceiverKind::Reference(_, _, None)) {
                return Err(syn::Error::new_spanned(
                    receiver,
                    "a tool takes `&self`: calls share the value and may run at once; put what \
                     changes behind a `Mutex`",
                ));
            }
            tool.arguments.passed.insert(0, quote!(&*__this));
            true
        }
    };
    let ident = &method.sig.ident;
    let definition = tool.arguments.definition();
    let spec = tool.spec();
    let run = tool.run(&quote!(Self::#ident));
    let (shared, again) = if has_receiver {
        (
            quote!(let __this = ::std::sync::Arc::clone(self);),
            quote!(let __this = ::std::sync::Arc::clone(&__this);),
        )
    } else {
        (quote!(), quote!())
    };
    let enact = crate_path::enact();
    let rule = tool
        .options
        .policy()
        .map(|policy| quote!(.with_confirmation(#enact::tool::Confirmation::when(#policy))));
    let expression = quote! {{
        #definition
        #shared
        #enact::tool::FnTool::from_spec(
            #spec,
            move |__values: #enact::__private::enact_signature::Values,
                  __context: #enact::tool::ToolContext| {
                #again
                async move { #run }
            },
        ) #rule
    }};
    Ok(Some((tool.name, expression)))
}
