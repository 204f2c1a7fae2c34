//! Patterns of tool names.

use std::fmt;
use std::str::FromStr;

use wildmatch::WildMatchPattern;

/// A pattern for tool names: the name itself, with `*` for any characters.
///
/// ```
/// use enact_mcp::Pattern;
///
/// let reads: Pattern = "read_*".parse().unwrap();
/// assert!(reads.matches("read_file"));
/// assert!(!reads.matches("write_file"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern(String);

impl Pattern {
    /// Whether a name matches.
    pub fn matches(&self, name: &str) -> bool {
        // There is no wildcard for a single character: no name contains `\0`.
        WildMatchPattern::<'*', '\0'>::new(&self.0).matches(name)
    }
}

/// A pattern that matches no name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an empty pattern fits no tool: name one, such as `read_*`")]
pub struct EmptyPattern;

impl FromStr for Pattern {
    type Err = EmptyPattern;

    fn from_str(text: &str) -> Result<Self, EmptyPattern> {
        match text.trim() {
            "" => Err(EmptyPattern),
            text => Ok(Self(text.to_owned())),
        }
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_stand_for_any_characters() {
        for (pattern, name, is_match) in [
            ("read", "read", true),
            ("read", "reads", false),
            ("*", "anything", true),
            ("*", "", true),
            ("read_*", "read_", true),
            ("*_file", "read_file", true),
            ("*_file", "read_files", false),
            ("r*d*e", "read_file", true),
            ("r*d*x", "read_file", false),
            ("*ä*", "zählen", true),
        ] {
            let pattern: Pattern = pattern.parse().unwrap();
            assert_eq!(pattern.matches(name), is_match, "{pattern} {name}");
        }
        assert_eq!(" ".parse::<Pattern>(), Err(EmptyPattern));
    }

    #[test]
    fn many_stars_are_read_at_once() {
        let pattern: Pattern = format!("{}b", "*a".repeat(40)).parse().unwrap();
        assert!(!pattern.matches(&"a".repeat(200)));
    }
}
