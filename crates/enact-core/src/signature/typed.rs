//! Signatures from Rust types.

use enact_signature::{Signature, Type, Values};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The inputs and outputs of a module: a typed signature, or [`Dynamic`] values.
pub trait Shape: Send + Sync + 'static {
    /// The inputs.
    type Input: Serialize + Send;
    /// The outputs.
    type Output: DeserializeOwned + Send;
}

/// A signature declared as a struct. Implemented by `#[derive(Signature)]`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a signature",
    note = "put `#[derive(Signature)]` on the struct and `#[input]` or `#[output]` on each field"
)]
pub trait TypedSignature: Sized + Send + Sync + 'static {
    /// The struct of the input fields.
    type Input: Serialize + Send;
    /// The struct of the output fields.
    type Output: Serialize + DeserializeOwned + Send;

    /// The signature as a value.
    fn signature() -> Signature;

    /// Converts a filled-in signature to a demonstration: its inputs and outputs.
    fn split(self) -> (Self::Input, Self::Output);
}

impl<S: TypedSignature> Shape for S {
    type Input = S::Input;
    type Output = S::Output;
}

/// The shape of a signature that is only known at run time: maps of values.
#[derive(Debug, Clone, Copy)]
pub struct Dynamic;

impl Shape for Dynamic {
    type Input = Values;
    type Output = Values;
}

/// The field type for a Rust type.
pub fn field_type<T: JsonSchema>() -> Type {
    let mut ty = Type::from_json_schema(&schemars::schema_for!(T).to_value());
    // At the end, because the titles of types become their names.
    ty.visit_schemas(&mut |known| enact_signature::trim_schema(&mut known.schema));
    ty
}
