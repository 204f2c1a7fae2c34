//! Which names fields may have.

use crate::{Field, SignatureError, SignatureErrorKind, fit};

/// Input names that the agent loop fills itself.
pub const RESERVED_INPUTS: &[&str] = &["trajectory", "history", "tools"];

/// Output names that the agent loop reads itself.
pub const RESERVED_OUTPUTS: &[&str] = &[
    "trajectory",
    "history",
    "tools",
    "next_thought",
    "next_tool_name",
    "next_tool_args",
];

/// Providers refuse longer property names.
const LONGEST: usize = 64;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    Input,
    Output,
}

/// What is wrong, and with which field, so that a parser can point at it.
#[derive(Debug)]
pub(crate) struct Problem {
    pub(crate) side: Side,
    pub(crate) index: usize,
    pub(crate) error: SignatureError,
}

impl From<Problem> for SignatureError {
    fn from(problem: Problem) -> Self {
        problem.error
    }
}

/// What every signature has to satisfy.
pub(crate) fn check(inputs: &[Field], outputs: &[Field]) -> Result<(), Problem> {
    use SignatureErrorKind::{BadDefault, DuplicateField, EmptyInputs, EmptyOutputs};
    let empty = |side, kind, name: &str| {
        let message = format!("a signature needs at least one {name} field");
        Err(Problem {
            side,
            index: 0,
            error: SignatureError::new(kind, message),
        })
    };
    if inputs.is_empty() {
        return empty(Side::Input, EmptyInputs, "input");
    }
    if outputs.is_empty() {
        return empty(Side::Output, EmptyOutputs, "output");
    }
    let mut seen: Vec<&str> = Vec::new();
    for (side, index, field) in placed(inputs, outputs) {
        let problem = |error| Err(Problem { side, index, error });
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

/// What a signature declared by a user has to satisfy beyond that.
pub(crate) fn check_reserved(inputs: &[Field], outputs: &[Field]) -> Result<(), Problem> {
    for (side, index, field) in placed(inputs, outputs) {
        let (reserved, kind) = match side {
            Side::Input => (RESERVED_INPUTS, "input"),
            Side::Output => (RESERVED_OUTPUTS, "output"),
        };
        if reserved.contains(&field.name.as_str()) {
            let message = format!(
                "the {kind} name `{0}` is reserved for the agent; choose another, such as `my_{0}`",
                field.name
            );
            let error = SignatureError::new(SignatureErrorKind::ReservedName, message);
            return Err(Problem { side, index, error });
        }
    }
    Ok(())
}

fn placed<'a>(
    inputs: &'a [Field],
    outputs: &'a [Field],
) -> impl Iterator<Item = (Side, usize, &'a Field)> {
    let side = |side, fields: &'a [Field]| {
        fields
            .iter()
            .enumerate()
            .map(move |(index, field)| (side, index, field))
    };
    side(Side::Input, inputs).chain(side(Side::Output, outputs))
}

fn is_name(name: &str) -> bool {
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
