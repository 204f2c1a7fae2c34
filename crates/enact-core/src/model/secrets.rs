//! Values that are never shown.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

/// The replacement for a secret.
pub const REDACTED: &str = "[redacted]";

/// A value that cannot be kept secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "a secret needs at least {} characters: shorter ones occur by chance",
    Secrets::SHORTEST
)]
#[non_exhaustive]
pub struct SecretError;

/// Values that are never shown, such as keys and passwords: they are replaced by `[redacted]`.
///
/// [`Settings::secrets`](crate::Settings::secrets) keeps them out of runs: logs, prompts and spans.
/// [`Recording`](super::Recording) keeps them out of recordings.
///
/// ```
/// use enact::model::Secrets;
///
/// let secrets = Secrets::new().with("correct horse battery")?;
/// assert_eq!(secrets.redact("say: correct horse battery!"), "say: [redacted]!");
/// # Ok::<(), enact::model::SecretError>(())
/// ```
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Secrets {
    /// Longest first, so that a secret inside another leaves no remainder.
    values: Arc<Vec<String>>,
}

impl Secrets {
    /// The minimum length of a secret, in characters.
    pub const SHORTEST: usize = 8;

    /// No secrets.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a secret. Surrounding white space is ignored.
    ///
    /// # Errors
    /// If it is shorter than [`Secrets::SHORTEST`].
    pub fn with(mut self, value: &str) -> Result<Self, SecretError> {
        let value = value.trim();
        if value.chars().count() < Self::SHORTEST {
            return Err(SecretError);
        }
        let values = Arc::make_mut(&mut self.values);
        // Texts can contain JSON, such as the arguments of calls.
        let quoted = Value::from(value).to_string();
        let quoted = quoted[1..quoted.len() - 1].to_owned();
        for form in [value.to_owned(), quoted] {
            if !values.contains(&form) {
                values.push(form);
            }
        }
        values.sort_by_key(|value| std::cmp::Reverse(value.len()));
        Ok(self)
    }

    /// Adds the value of an environment variable, if it is set and not empty.
    ///
    /// # Errors
    /// If the value is shorter than [`Secrets::SHORTEST`].
    pub fn with_variable(self, name: &str) -> Result<Self, SecretError> {
        match std::env::var(name) {
            Ok(value) if !value.trim().is_empty() => self.with(&value),
            _ => Ok(self),
        }
    }

    /// Whether there are no secrets.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Whether a text contains a secret.
    pub fn is_in(&self, text: &str) -> bool {
        self.values.iter().any(|value| text.contains(&**value))
    }

    /// Replaces the secrets in a text.
    pub fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut text = Cow::Borrowed(text);
        for value in self.values.iter() {
            if text.contains(&**value) {
                text = Cow::Owned(text.replace(&**value, REDACTED));
            }
        }
        text
    }

    /// The beginning of a longer text without secrets: a secret that the cut runs through is removed
    /// too. Use this to truncate, or truncate what is already redacted, but never redact a truncated
    /// text: part of a secret isn't recognised.
    ///
    /// ```
    /// # let secrets = enact::model::Secrets::new().with("correct horse battery")?;
    /// assert_eq!(secrets.redact_head("say: correct hor"), "say: ");
    /// # Ok::<(), enact::model::SecretError>(())
    /// ```
    pub fn redact_head(&self, text: &str) -> String {
        let mut end = self.showable(text);
        while let Some(whole) = self.across(text, end) {
            end = whole.start;
        }
        self.redact(&text[..end]).into_owned()
    }

    /// The end of a longer text without secrets, like [`Secrets::redact_head`].
    pub fn redact_tail(&self, text: &str) -> String {
        let ends = |begin: &str| {
            let mut values = self.values.iter();
            values.any(|value| value.len() > begin.len() && value.ends_with(begin))
        };
        let longest = self.values.first().map_or(0, String::len);
        let places = text.char_indices().map(|(place, c)| place + c.len_utf8());
        let places = places.take_while(|place| *place < longest);
        let open = places.filter(|place| ends(&text[..*place])).last();
        let mut start = open.unwrap_or(0);
        while let Some(whole) = self.across(text, start) {
            start = whole.end;
        }
        self.redact(&text[start..]).into_owned()
    }

    /// A secret that spans a position in a text.
    fn across(&self, text: &str, place: usize) -> Option<Range<usize>> {
        let found = self.values.iter().flat_map(|value| {
            let found = text.match_indices(&**value);
            found.map(|(start, value)| start..start + value.len())
        });
        let mut found = found.filter(|whole| whole.start < place && place < whole.end);
        found.next()
    }

    /// Replaces the secrets in all texts of a value, including field names.
    pub fn redact_value(&self, value: &mut Value) {
        match value {
            Value::String(text) => {
                if let Cow::Owned(redacted) = self.redact(text) {
                    *text = redacted;
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.redact_value(item)),
            Value::Object(fields) => {
                if fields.keys().any(|name| self.is_in(name)) {
                    let named = std::mem::take(fields).into_iter();
                    *fields = named
                        .map(|(name, value)| (self.redact(&name).into_owned(), value))
                        .collect::<Map<String, Value>>();
                }
                fields
                    .values_mut()
                    .for_each(|value| self.redact_value(value));
            }
            _ => {}
        }
    }

    /// Replaces the secrets in anything that serialises as JSON; `None` if it contains none.
    pub(crate) fn redact_all<T: Serialize + DeserializeOwned>(
        &self,
        whole: &T,
    ) -> Result<Option<T>, serde_json::Error> {
        if self.is_empty() {
            return Ok(None);
        }
        let before = serde_json::to_value(whole)?;
        let mut after = before.clone();
        self.redact_value(&mut after);
        match after == before {
            true => Ok(None),
            false => serde_json::from_value(after).map(Some),
        }
    }

    /// How much of an incomplete text can be shown: the rest may be the start of a secret.
    pub(crate) fn showable(&self, text: &str) -> usize {
        let begins = |rest: &str| {
            let mut values = self.values.iter();
            values.any(|value| value.len() > rest.len() && value.starts_with(rest))
        };
        let longest = self.values.first().map_or(0, String::len);
        let mut places = text.char_indices().map(|(place, _)| place);
        let open = places.find(|place| text.len() - place < longest && begins(&text[*place..]));
        open.unwrap_or(text.len())
    }
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secrets")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn secrets() -> Secrets {
        let secrets = Secrets::new().with("pa\"ss-word").unwrap();
        secrets.with("pa\"ss-word-and-more").unwrap()
    }

    #[test]
    fn a_secret_is_found_in_any_text_also_as_json_and_inside_another() {
        let mut value = json!({
            "pa\"ss-word": ["a pa\"ss-word-and-more b", 1],
            "raw": "{\"key\":\"pa\\\"ss-word\"}",
        });
        secrets().redact_value(&mut value);
        let expected =
            json!({"[redacted]": ["a [redacted] b", 1], "raw": "{\"key\":\"[redacted]\"}"});
        assert_eq!(value, expected);
    }

    #[test]
    fn what_may_be_the_beginning_of_a_secret_is_held_back() {
        for (text, showable) in [
            ("nothing", 7),
            ("say p", 4),
            ("say pa\"ss-wor", 4),
            ("say pat", 7),
            ("", 0),
        ] {
            assert_eq!(secrets().showable(text), showable, "{text}");
        }
        assert_eq!(Secrets::new().showable("pa"), 2);
    }

    #[test]
    fn a_cut_through_a_secret_shows_nothing_of_it() {
        let alike = Secrets::new().with("abababab").unwrap();
        for (secrets, whole, shown) in [
            (secrets(), "a pa\"ss-word-and-more b", "a [redacted] b"),
            (alike, "- abababab -", "- [redacted] -"),
        ] {
            for at in 0..=whole.len() {
                let head = secrets.redact_head(&whole[..at]);
                assert!(shown.starts_with(&head), "{at}: {head}");
                let tail = secrets.redact_tail(&whole[at..]);
                assert!(shown.ends_with(&tail), "{at}: {tail}");
            }
        }
        assert_eq!(Secrets::new().redact_head("pa"), "pa");
        assert_eq!(Secrets::new().redact_tail("pa"), "pa");
    }

    #[test]
    fn short_values_are_refused_and_none_is_shown() {
        assert_eq!(Secrets::new().with(" seven77 ").unwrap_err(), SecretError);
        assert_eq!(format!("{:?}", secrets()), "Secrets");
        let unset = Secrets::new().with_variable("ENACT_TEST_NO_SUCH_VARIABLE");
        assert!(unset.unwrap().is_empty());
    }
}
