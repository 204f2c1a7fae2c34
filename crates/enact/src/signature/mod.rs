//! Signatures: what goes in, what must come out.

mod typed;

pub use enact_signature::*;
pub use typed::{Dynamic, Shape, TypedSignature, field_type};
