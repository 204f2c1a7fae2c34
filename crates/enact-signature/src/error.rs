//! Errors of signatures.

use std::fmt;

/// The kind of a [`SignatureError`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SignatureErrorKind {
    /// The arrow string is malformed.
    Syntax,
    /// A type name is unknown.
    UnknownType,
    /// Two fields have the same name, on either side; or two properties or types.
    DuplicateField,
    /// There is no input field.
    EmptyInputs,
    /// There is no output field.
    EmptyOutputs,
    /// A field name is reserved for the agent loop.
    ReservedName,
    /// A field name is not an identifier.
    InvalidName,
    /// The signature doesn't have the field.
    UnknownField,
    /// A default value doesn't fit the type of its field.
    BadDefault,
    /// A type can't have these limits.
    BadRange,
    /// Saved state belongs to a signature with other fields.
    StateMismatch,
}

/// Why a signature could not be parsed, built or changed.
///
/// The text says what is allowed. For an arrow string it ends with the string and a caret under
/// the position, see [`pointer`](Self::pointer).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignatureError {
    kind: SignatureErrorKind,
    message: String,
    column: Option<usize>,
    source_text: Option<String>,
}

impl SignatureError {
    pub(crate) fn new(kind: SignatureErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            column: None,
            source_text: None,
        }
    }

    pub(crate) fn at(mut self, column: usize) -> Self {
        self.column = Some(column);
        self
    }

    pub(crate) fn in_source(mut self, source: &str) -> Self {
        self.source_text = Some(source.to_owned());
        self
    }

    /// The kind of error, for programs.
    pub fn kind(&self) -> SignatureErrorKind {
        self.kind
    }

    /// The problem and what is allowed, for people, without the excerpt.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The position in the arrow string, in characters from 1.
    pub fn column(&self) -> Option<usize> {
        self.column
    }

    /// Two lines: the arrow string (if it is long, the line with the error) and a caret below the
    /// position.
    pub fn pointer(&self) -> Option<String> {
        let source = self.source_text.as_deref()?;
        let mut offset = self.column?.saturating_sub(1);
        let mut line = "";
        for candidate in source.split('\n') {
            line = candidate;
            let length = candidate.chars().count();
            if offset <= length {
                break;
            }
            offset -= length + 1;
        }
        // The width of a tab depends on the terminal, which would misplace the caret.
        let line: String = line
            .chars()
            .map(|c| {
                if c.is_control() || c.is_whitespace() {
                    ' '
                } else {
                    c
                }
            })
            .collect();
        Some(format!("{line}\n{}^", " ".repeat(offset)))
    }
}

impl fmt::Display for SignatureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match self.pointer() {
            Some(pointer) => write!(f, "\n{pointer}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for SignatureError {}

/// For a value that already is a signature.
impl From<std::convert::Infallible> for SignatureError {
    fn from(never: std::convert::Infallible) -> Self {
        match never {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(source: &str, column: usize) -> SignatureError {
        SignatureError::new(SignatureErrorKind::Syntax, "wrong")
            .at(column)
            .in_source(source)
    }

    #[test]
    fn the_caret_counts_characters() {
        assert_eq!(error("é -> b", 3).pointer().as_deref(), Some("é -> b\n  ^"));
    }

    #[test]
    fn only_the_line_in_question_is_shown() {
        assert_eq!(
            error("a,\n\tb ->\nc", 5).pointer().as_deref(),
            Some(" b ->\n ^")
        );
    }

    #[test]
    fn a_column_past_the_end_points_behind_the_text() {
        assert_eq!(error("ab", 3).pointer().as_deref(), Some("ab\n  ^"));
    }

    #[test]
    fn without_a_source_there_is_only_the_message() {
        let error = SignatureError::new(SignatureErrorKind::UnknownField, "no such field");
        assert_eq!(error.to_string(), "no such field");
    }
}
