//! Valid field names.

use crate::{Field, SignatureError, SignatureErrorKind, fit};

/// Input names that the agent loop uses.
pub const RESERVED_INPUTS: &[&str] = &["trajectory", "history", "tools"];

/// Output names that the agent loop uses.
pub const RESERVED_OUTPUTS: &[&str] = &[
    "trajectory",
    "history",
    "tools",
    "next_thought",
    "next_tool_name",
    "next_tool_args",
];

/// Providers reject longer property names.
const LONGEST: usize = 64;

/// A problem and its field, so that a parser can point at it.
#[derive(Debug)]
pub(crate) struct Problem {
    /// The index of the field, starting with the first input.
    pub(crate) place: usize,
    pub(crate) error: SignatureError,
}

impl From<Problem> for SignatureError {
    fn from(problem: Problem) -> Self {
        problem.error
    }
}

/// Validates any signature.
pub(crate) fn check(inputs: &[Field], outputs: &[Field]) -> Result<(), Problem> {
    use SignatureErrorKind::{BadDefault, DuplicateField, EmptyInputs, EmptyOutputs};
    for (side, kind, name) in [
        (inputs, EmptyInputs, "input"),
        (outputs, EmptyOutputs, "output"),
    ] {
        if side.is_empty() {
            let message = format!("a signature needs at least one {name} field");
            let error = SignatureError::new(kind, message);
            return Err(Problem { place: 0, error });
        }
    }
    let mut seen: Vec<&str> = Vec::new();
    for (place, field) in inputs.iter().chain(outputs).enumerate() {
        let problem = |error| Err(Problem { place, error });
        if !is_name(&field.name) {
            return problem(invalid(&field.name));
        }
        if seen.contains(&field.name.as_str()) {
            let message = format!(
                "two fields are called `{}`; every input and output needs a name of its own",
                field.name
            );
            return problem(SignatureError::new(DuplicateField, message));
        }
        if let Some(value) = field
            .default
            .as_ref()
            .filter(|value| !fit::fits(value, &field.ty))
        {
            let message = fit::misfit(&field.name, value, &field.ty);
            return problem(SignatureError::new(BadDefault, message));
        }
        seen.push(&field.name);
    }
    Ok(())
}

/// Validates a signature declared by a user.
pub(crate) fn check_reserved(inputs: &[Field], outputs: &[Field]) -> Result<(), Problem> {
    let inputs = inputs.iter().map(|field| (field, RESERVED_INPUTS, "input"));
    let outputs = outputs
        .iter()
        .map(|field| (field, RESERVED_OUTPUTS, "output"));
    for (place, (field, reserved, kind)) in inputs.chain(outputs).enumerate() {
        if reserved.contains(&field.name.as_str()) {
            let message = format!(
                "the {kind} name `{0}` is reserved for the agent; choose another, such as `my_{0}`",
                field.name
            );
            let error = SignatureError::new(SignatureErrorKind::ReservedName, message);
            return Err(Problem { place, error });
        }
    }
    Ok(())
}

/// Whether models can call a tool with this name.
#[doc(hidden)]
pub fn is_tool_name(name: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    (1..=LONGEST).contains(&name.len()) && name.bytes().all(is_part)
}

pub(crate) fn is_name(name: &str) -> bool {
    name.len() <= LONGEST
        && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

pub(crate) fn invalid(name: &str) -> SignatureError {
    let message = format!(
        "`{}` is not a field name; use letters, digits and `_` ({LONGEST} at most), and start \
         with a letter or `_`",
        name.escape_debug()
    );
    SignatureError::new(SignatureErrorKind::InvalidName, message)
}
