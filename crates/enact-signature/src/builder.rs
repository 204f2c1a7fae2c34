//! Builds signatures field by field.

use serde::Deserialize;

use crate::{Field, Signature, SignatureError, names};

/// Builds a signature field by field.
///
/// ```
/// use enact_signature::{Field, Signature, Type};
///
/// let signature = Signature::builder()
///     .name("Weather")
///     .instructions("Answer with the tools at hand.")
///     .input(Field::new("question", Type::Str))
///     .output(Field::new("celsius", Type::Float).describe("Degrees Celsius."))
///     .build()?;
/// assert_eq!(signature.arrow(), "question: str -> celsius: float");
/// # Ok::<(), enact_signature::SignatureError>(())
/// ```
#[derive(Debug, Clone, Default, Deserialize)]
pub struct SignatureBuilder {
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    instructions: Option<String>,
    inputs: Vec<Field>,
    outputs: Vec<Field>,
}

impl SignatureBuilder {
    /// Sets the name of the signature.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Sets the instructions. A blank text keeps the default.
    #[must_use]
    pub fn instructions(mut self, text: impl Into<String>) -> Self {
        self.instructions = Some(text.into());
        self
    }

    /// Appends an input.
    #[must_use]
    pub fn input(mut self, field: Field) -> Self {
        self.inputs.push(field);
        self
    }

    /// Appends an output.
    #[must_use]
    pub fn output(mut self, field: Field) -> Self {
        self.outputs.push(field);
        self
    }

    /// Adds several inputs.
    #[must_use]
    pub fn inputs(mut self, fields: impl IntoIterator<Item = Field>) -> Self {
        self.inputs.extend(fields);
        self
    }

    /// Adds several outputs.
    #[must_use]
    pub fn outputs(mut self, fields: impl IntoIterator<Item = Field>) -> Self {
        self.outputs.extend(fields);
        self
    }

    /// Builds the signature. It needs inputs and outputs with unique names that are not reserved, and
    /// every default has to fit its type.
    pub fn build(self) -> Result<Signature, SignatureError> {
        let signature = self.build_internal()?;
        signature.check_reserved()?;
        Ok(signature)
    }

    /// Like [`build`](Self::build), for the signatures of the agent loop itself, which use the reserved
    /// names.
    #[doc(hidden)]
    pub fn build_internal(self) -> Result<Signature, SignatureError> {
        names::check(&self.inputs, &self.outputs)?;
        Ok(Signature::assemble(
            self.name,
            self.instructions,
            self.inputs,
            self.outputs,
        ))
    }

    /// Builds the signature without validation: for the macros, which validate at compile time, so that
    /// the program can't fail.
    #[doc(hidden)]
    pub fn build_checked_by_macro(self) -> Signature {
        Signature::assemble(self.name, self.instructions, self.inputs, self.outputs)
    }
}
