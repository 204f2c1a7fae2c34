//! Signatures field by field.

use serde::Deserialize;

use crate::{Field, Signature, SignatureError, names};

/// Puts a signature together field by field.
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
    /// What the signature is called.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// How the inputs lead to the outputs. A blank text is no text: the default stays.
    #[must_use]
    pub fn instructions(mut self, text: impl Into<String>) -> Self {
        self.instructions = Some(text.into());
        self
    }

    /// Adds an input after those that are there.
    #[must_use]
    pub fn input(mut self, field: Field) -> Self {
        self.inputs.push(field);
        self
    }

    /// Adds an output after those that are there.
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

    /// The signature, if it has inputs and outputs, each under a name of its own that is not
    /// reserved, and every default fits.
    pub fn build(self) -> Result<Signature, SignatureError> {
        let signature = self.build_internal()?;
        signature.check_reserved()?;
        Ok(signature)
    }

    /// Like [`build`](Self::build), for the signatures of the agent loop itself, whose fields are
    /// the reserved ones.
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

    /// The signature, unchecked: for the macros, which did all checks at compile time and leave the
    /// program nothing to fail with.
    #[doc(hidden)]
    pub fn build_checked_by_macro(self) -> Signature {
        Signature::assemble(self.name, self.instructions, self.inputs, self.outputs)
    }
}
