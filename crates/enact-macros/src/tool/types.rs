//! Inspects types syntactically.

use syn::{GenericArgument, PathArguments, PathSegment, Type};

/// `Name` of `some::path::Name<…>`.
pub(crate) fn last_segment(ty: &Type) -> Option<&PathSegment> {
    match ty {
        Type::Path(path) => path.path.segments.last(),
        Type::Paren(inner) => last_segment(&inner.elem),
        Type::Group(inner) => last_segment(&inner.elem),
        _ => None,
    }
}

pub(crate) fn is_named(ty: &Type, name: &str) -> bool {
    last_segment(ty).is_some_and(|segment| segment.ident == name)
}

/// `T` of `Option<T>`.
pub(crate) fn option_of(ty: &Type) -> Option<&Type> {
    let segment = last_segment(ty).filter(|segment| segment.ident == "Option")?;
    arguments(segment).next()
}

/// For `Result<T, E>`, the error: none if an alias such as `io::Result<T>` omits it.
pub(crate) fn result_error(ty: &Type) -> Option<Option<&Type>> {
    let segment = last_segment(ty).filter(|segment| segment.ident == "Result")?;
    Some(arguments(segment).nth(1))
}

fn arguments(segment: &PathSegment) -> impl Iterator<Item = &Type> {
    let bracketed = match &segment.arguments {
        PathArguments::AngleBracketed(bracketed) => Some(bracketed.args.iter()),
        _ => None,
    };
    bracketed
        .into_iter()
        .flatten()
        .filter_map(|argument| match argument {
            GenericArgument::Type(ty) => Some(ty),
            _ => None,
        })
}
