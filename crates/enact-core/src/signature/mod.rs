//! Signatures: inputs and outputs.

mod canonical;
mod coerce;
mod exact;
mod inputs;
mod integers;
mod moments;
mod problems;
mod typed;
mod validator;

pub use canonical::canonical_json;
pub(crate) use canonical::{canonical_args, digest, hexadecimal, plain_text};
pub(crate) use coerce::{number_of_text, to_option};
pub use enact_signature::*;
pub(crate) use exact::parse as parse_exactly;
pub use inputs::wrong_inputs;
pub use problems::Problems;
pub use typed::{Dynamic, Shape, TypedSignature, field_type};
#[cfg(test)]
pub(crate) use validator::compiled_so_far;
pub use validator::{Checked, SchemaError, Validator};
