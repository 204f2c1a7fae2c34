//! Detects repetition in a text.

/// The number of repetitive characters after which a reply is cut off. Tables, rulers and lists of
/// zeros that people want are shorter.
pub(super) const CUT_AFTER: usize = 3_000;
/// The longest text whose repetition counts, so that it occurs at least ten times.
const LONGEST_UNIT: usize = 300;
/// The number of new characters after which the text is checked again.
const LOOK_EVERY: usize = 256;

/// The part of a reply that a text belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Channel {
    #[default]
    Text,
    Reasoning,
    Calls,
}

/// The last characters of a text.
#[derive(Debug, Default)]
pub(super) struct Tail {
    channel: Channel,
    characters: Vec<char>,
    /// The number of characters since the last check.
    new: usize,
}

impl Tail {
    pub(super) fn turn_to(&mut self, channel: Channel) {
        if self.channel != channel {
            *self = Self {
                channel,
                ..Self::default()
            };
        }
    }

    pub(super) fn push(&mut self, text: &str) {
        let before = self.characters.len();
        self.characters.extend(text.chars());
        self.new += self.characters.len() - before;
        // Rarely, so that each character is moved about once.
        if self.characters.len() > 2 * CUT_AFTER {
            self.characters.drain(..self.characters.len() - CUT_AFTER);
        }
    }

    pub(super) fn is_worth_a_look(&self) -> bool {
        self.new >= LOOK_EVERY && self.characters.len() >= CUT_AFTER
    }

    /// Whether the last characters repeat one short text.
    pub(super) fn repeats(&mut self) -> bool {
        self.new = 0;
        let Some(start) = self.characters.len().checked_sub(CUT_AFTER) else {
            return false;
        };
        period(&self.characters[start..]) <= LONGEST_UNIT
    }
}

/// The length of the shortest text whose repetition gives this one; the last copy may be incomplete.
/// Computed with the prefix function of Knuth, Morris and Pratt.
fn period(text: &[char]) -> usize {
    let mut borders = vec![0; text.len()];
    let mut border = 0;
    for index in 1..text.len() {
        while border > 0 && text[index] != text[border] {
            border = borders[border - 1];
        }
        if text[index] == text[border] {
            border += 1;
        }
        borders[index] = border;
    }
    text.len() - border
}

#[cfg(test)]
mod tests {
    use super::*;

    fn length_of_unit(text: &str) -> usize {
        period(&text.chars().collect::<Vec<char>>())
    }

    #[test]
    fn the_shortest_unit_is_found() {
        assert_eq!(length_of_unit("aaaa"), 1);
        assert_eq!(length_of_unit("abcabcab"), 3);
        assert_eq!(length_of_unit("ünü"), 2);
        assert_eq!(length_of_unit("abcd"), 4);
        assert_eq!(length_of_unit(""), 0);
    }
}
