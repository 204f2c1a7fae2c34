//! Doc comments as text.

use syn::{Attribute, Expr, ExprLit, Lit, Meta};

pub(crate) fn is_doc(attribute: &Attribute) -> bool {
    attribute.path().is_ident("doc")
}

/// The doc comment, without the space after each `///`; none if there is none.
pub(crate) fn doc_text(attributes: &[Attribute]) -> Option<String> {
    let lines: Vec<String> = attributes
        .iter()
        .filter(|a| is_doc(a))
        .filter_map(line)
        .collect();
    let text = lines
        .iter()
        .flat_map(|line| line.split('\n'))
        .map(|line| line.strip_prefix(' ').unwrap_or(line).trim_end())
        .collect::<Vec<_>>()
        .join("\n");
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

fn line(attribute: &Attribute) -> Option<String> {
    match &attribute.meta {
        Meta::NameValue(pair) => match &pair.value {
            Expr::Lit(ExprLit {
                lit: Lit::Str(text),
                ..
            }) => Some(text.value()),
            _ => None,
        },
        Meta::Path(_) | Meta::List(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_joined_and_keep_their_indentation() {
        let item: syn::ItemStruct = syn::parse_quote! {
            /// First.
            ///
            ///   - point
            #[doc(hidden)]
            struct S;
        };
        assert_eq!(
            doc_text(&item.attrs).as_deref(),
            Some("First.\n\n  - point")
        );
        assert_eq!(doc_text(&[]), None);
    }
}
