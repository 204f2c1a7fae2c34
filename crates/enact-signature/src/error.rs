//! The error of everything that builds or changes a signature.

use std::fmt;

/// What is wrong with a signature.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SignatureErrorKind {
    /// The arrow string is not well formed.
    Syntax,
    /// A type name that is not known.
    UnknownType,
    /// Two fields of one name, on either side; or two properties or types of one name.
    DuplicateField,
    /// No input field.
    EmptyInputs,
    /// No output field.
    EmptyOutputs,
    /// A field name that the agent loop needs for itself.
    ReservedName,
    /// A field name that is not an identifier.
    InvalidName,
    /// An operation on a field that the signature does not have.
    UnknownField,
    /// A default value that does not fit the type of its field.
    BadDefault,
    /// Limits that a type cannot have.
    BadRange,
    /// A saved state that belongs to a signature with other fields.
    StateMismatch,
}

/// Why a signature could not be parsed, built or changed.
///
/// The text says what is allowed. For an arrow string it ends with the string and a caret under
/// the place in question, see [`pointer`](Self::pointer).
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

    /// What is wrong, for programs.
    pub fn kind(&self) -> SignatureErrorKind {
        self.kind
    }

    /// What is wrong and what is allowed, for people, without the picture.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Where in the arrow string, counted in characters from 1.
    pub fn column(&self) -> Option<usize> {
        self.column
    }

    /// Two lines: the arrow string (of a long one, the line in question) and a caret below the
    /// place where the error is.
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
        // A tab is as wide as the terminal likes, which would move the caret away from its place.
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

/// For what is a signature already.
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
