//! Signatures and operations on them.

use std::fmt;
use std::str::FromStr;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value, json};

use crate::schema::Definitions;
use crate::{
    Field, SignatureBuilder, SignatureError, SignatureErrorKind, Type, Types, arrow, names,
};

/// The inputs and outputs of a module or an agent, with instructions.
///
/// A signature is immutable: operations return a new one.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Signature {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    /// The explicit instructions, if any.
    #[serde(rename = "instructions", skip_serializing_if = "Option::is_none")]
    explicit: Option<String>,
    inputs: Vec<Field>,
    outputs: Vec<Field>,
    /// The default instructions, generated from the field names.
    #[serde(skip)]
    implied: String,
}

impl Signature {
    /// Creates a builder, to add fields one by one.
    pub fn builder() -> SignatureBuilder {
        SignatureBuilder::default()
    }

    /// Parses an arrow string such as `question: str, k: int = 3 -> answer: str`.
    ///
    /// A field without a type is a `str`. Types are `str`, `int`, `float`, `bool`, `date`,
    /// `datetime`, `time`, `image`, `any`, `list[T]`, `dict[str, T]`, `{name: T, …}`,
    /// `Literal["a", "b"]`, `Optional[T]` and `A | B`; Rust spellings (`String`, `i64`,
    /// `Vec<T>`, `Option<T>`, `HashMap<String, T>`, …) are also accepted. Types can have a range
    /// (`int(0..10)`) and, before the fields, a name:
    ///
    /// ```
    /// use enact_signature::Signature;
    ///
    /// let signature = Signature::parse(
    ///     "type Person = {name: str, age?: int(0..150)}; text -> author: Person, others: list[Person]",
    /// )?;
    /// assert_eq!(
    ///     signature.outputs()[0].ty.to_string(),
    ///     "{name: str, age: Optional[int(0..150)]}"
    /// );
    /// # Ok::<(), enact_signature::SignatureError>(())
    /// ```
    pub fn parse(arrow: &str) -> Result<Signature, SignatureError> {
        arrow::parse(arrow, &Types::new())
    }

    /// Parses an arrow string that can use these named types.
    pub fn parse_with(arrow: &str, types: &Types) -> Result<Signature, SignatureError> {
        arrow::parse(arrow, types)
    }

    /// The signature of an arrow string that a macro has parsed at compile time, so it is valid.
    #[doc(hidden)]
    pub fn parse_checked_by_macro(arrow: &str) -> Signature {
        let parsed = Self::parse(arrow);
        parsed.unwrap_or_else(|_| Self::builder().build_checked_by_macro())
    }

    pub(crate) fn assemble(
        name: Option<String>,
        instructions: Option<String>,
        inputs: Vec<Field>,
        outputs: Vec<Field>,
    ) -> Signature {
        Signature {
            name,
            explicit: instructions.filter(|text| !text.trim().is_empty()),
            implied: default_instructions(&inputs, &outputs),
            inputs,
            outputs,
        }
    }

    /// The name of the signature, if it has one.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// The instructions: the explicit ones, or a sentence generated from the field
    /// names.
    pub fn instructions(&self) -> &str {
        self.explicit.as_deref().unwrap_or(&self.implied)
    }

    /// Whether there are no explicit instructions, so that they follow the fields.
    pub fn has_default_instructions(&self) -> bool {
        self.explicit.is_none()
    }

    /// The explicit instructions, if any.
    pub(crate) fn explicit_instructions(&self) -> Option<&str> {
        self.explicit.as_deref()
    }

    /// The inputs, in order.
    pub fn inputs(&self) -> &[Field] {
        &self.inputs
    }

    /// The outputs, in order.
    pub fn outputs(&self) -> &[Field] {
        &self.outputs
    }

    /// The input or output with this name.
    pub fn field(&self, name: &str) -> Option<&Field> {
        self.fields().find(|field| field.name == name)
    }

    /// All fields, inputs first.
    pub(crate) fn fields(&self) -> impl Iterator<Item = &Field> {
        self.inputs.iter().chain(&self.outputs)
    }

    /// Sets the name.
    #[must_use]
    pub fn with_name(&self, name: impl Into<String>) -> Signature {
        Signature {
            name: Some(name.into()),
            ..self.clone()
        }
    }

    /// Sets the instructions; a blank text restores the default.
    #[must_use]
    pub fn with_instructions(&self, text: impl Into<String>) -> Signature {
        self.rebuilt(Some(text.into()), self.inputs.clone(), self.outputs.clone())
    }

    /// Appends a paragraph to the instructions.
    #[must_use]
    pub fn append_instructions(&self, text: &str) -> Signature {
        if text.trim().is_empty() {
            return self.clone();
        }
        self.with_instructions(format!("{}\n\n{text}", self.instructions()))
    }

    /// Adds the input `trajectory`, for a program that extracts these outputs from the work of an agent.
    /// The name is reserved in the signatures of agents.
    pub fn with_trajectory(&self) -> Result<Signature, SignatureError> {
        let trajectory = Field::new("trajectory", Type::Str)
            .describe("What was done to solve the task, and what came of it.");
        self.append_input(trajectory)
    }

    /// Adds an input after the others.
    pub fn append_input(&self, field: Field) -> Result<Signature, SignatureError> {
        self.insert_input(self.inputs.len(), field)
    }

    /// Adds an input before the others.
    pub fn prepend_input(&self, field: Field) -> Result<Signature, SignatureError> {
        self.insert_input(0, field)
    }

    /// Adds an output after the others.
    pub fn append_output(&self, field: Field) -> Result<Signature, SignatureError> {
        self.insert_output(self.outputs.len(), field)
    }

    /// Adds an output before the others.
    pub fn prepend_output(&self, field: Field) -> Result<Signature, SignatureError> {
        self.insert_output(0, field)
    }

    /// Adds an input at an index; an index past the end appends it.
    pub fn insert_input(&self, index: usize, field: Field) -> Result<Signature, SignatureError> {
        let mut inputs = self.inputs.clone();
        inputs.insert(index.min(inputs.len()), field);
        self.changed(inputs, self.outputs.clone())
    }

    /// Adds an output at an index; an index past the end appends it.
    pub fn insert_output(&self, index: usize, field: Field) -> Result<Signature, SignatureError> {
        let mut outputs = self.outputs.clone();
        outputs.insert(index.min(outputs.len()), field);
        self.changed(self.inputs.clone(), outputs)
    }

    /// Removes the field with this name.
    pub fn remove(&self, name: &str) -> Result<Signature, SignatureError> {
        self.known(name)?;
        let without = |fields: &[Field]| -> Vec<Field> {
            fields
                .iter()
                .filter(|field| field.name != name)
                .cloned()
                .collect()
        };
        self.changed(without(&self.inputs), without(&self.outputs))
    }

    /// Changes the field with this name in place.
    pub fn update(
        &self,
        name: &str,
        change: impl FnOnce(Field) -> Field,
    ) -> Result<Signature, SignatureError> {
        self.known(name)?;
        let mut changed = self.clone();
        let mut fields = changed.inputs.iter_mut().chain(&mut changed.outputs);
        if let Some(field) = fields.find(|field| field.name == name) {
            *field = change(field.clone());
        }
        self.changed(changed.inputs, changed.outputs)
    }

    /// Rejects field names that are reserved for the agent loop.
    ///
    /// [`parse`](Self::parse) and [`SignatureBuilder::build`] call this; the operations above don't,
    /// because the loop itself uses them to add those fields.
    pub fn check_reserved(&self) -> Result<(), SignatureError> {
        Ok(names::check_reserved(&self.inputs, &self.outputs)?)
    }

    /// The JSON Schema of the inputs as one object.
    pub fn input_schema(&self) -> Value {
        object_schema(&self.inputs)
    }

    /// The JSON Schema of the outputs as one object.
    pub fn output_schema(&self) -> Value {
        object_schema(&self.outputs)
    }

    /// The fields as an arrow string.
    pub fn arrow(&self) -> String {
        self.to_string()
    }

    fn known(&self, name: &str) -> Result<&Field, SignatureError> {
        self.field(name).ok_or_else(|| {
            let message = format!("there is no field `{name}` in `{self}`");
            SignatureError::new(SignatureErrorKind::UnknownField, message)
        })
    }

    fn changed(
        &self,
        inputs: Vec<Field>,
        outputs: Vec<Field>,
    ) -> Result<Signature, SignatureError> {
        names::check(&inputs, &outputs)?;
        Ok(self.rebuilt(self.explicit.clone(), inputs, outputs))
    }

    pub(crate) fn rebuilt(
        &self,
        instructions: Option<String>,
        inputs: Vec<Field>,
        outputs: Vec<Field>,
    ) -> Signature {
        Signature::assemble(self.name.clone(), instructions, inputs, outputs)
    }
}

fn default_instructions(inputs: &[Field], outputs: &[Field]) -> String {
    let listed = |fields: &[Field]| crate::inputs::listed(fields.iter().map(|field| &field.name));
    format!("Given {}, produce {}.", listed(inputs), listed(outputs))
}

fn object_schema(fields: &[Field]) -> Value {
    let mut definitions = Definitions::default();
    let (mut properties, mut required) = (Map::new(), Vec::new());
    for field in fields {
        let mut schema = definitions.schema_of(&field.ty);
        if let Value::Object(schema) = &mut schema {
            if let Some(description) = &field.description {
                schema.insert("description".to_owned(), json!(description));
            }
            if let Some(default) = &field.default {
                schema.insert("default".to_owned(), default.clone());
            }
        }
        if field.is_required() {
            required.push(field.name.clone());
        }
        properties.insert(field.name.clone(), schema);
    }
    let mut root = Map::new();
    root.insert("type".to_owned(), json!("object"));
    root.insert("properties".to_owned(), Value::Object(properties));
    root.insert("required".to_owned(), json!(required));
    root.insert("additionalProperties".to_owned(), json!(false));
    Value::Object(definitions.attach(root))
}

/// The fields as an arrow string, which can't express name, instructions and descriptions.
impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let side = |f: &mut fmt::Formatter<'_>, fields: &[Field]| {
            for (index, field) in fields.iter().enumerate() {
                let separator = if index > 0 { ", " } else { "" };
                write!(f, "{separator}{field}")?;
            }
            Ok(())
        };
        side(f, &self.inputs)?;
        f.write_str(" -> ")?;
        side(f, &self.outputs)
    }
}

impl FromStr for Signature {
    type Err = SignatureError;

    fn from_str(arrow: &str) -> Result<Self, Self::Err> {
        Signature::parse(arrow)
    }
}

impl TryFrom<&str> for Signature {
    type Error = SignatureError;

    fn try_from(arrow: &str) -> Result<Self, Self::Error> {
        Signature::parse(arrow)
    }
}

impl<'de> Deserialize<'de> for Signature {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let builder = SignatureBuilder::deserialize(deserializer)?;
        builder.build_internal().map_err(D::Error::custom)
    }
}

#[cfg(test)]
#[path = "signature_tests.rs"]
mod tests;
