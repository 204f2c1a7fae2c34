//! Detects repetition in a text.

/// The number of repetitive characters after which a reply is cut off. Tables, rulers and lists of
/// zeros that people want are shorter.
pub(super) const CUT_AFTER: usize = 3_000;
/// How many characters are kept to compare.
const KEPT: usize = 12_000;
/// What counts as repetition: a short text ten times, a long one six times.
const LOOKS: [Look; 2] = [
    Look {
        tail: CUT_AFTER,
        longest_unit: 300,
        every: 256,
    },
    Look {
        tail: KEPT,
        longest_unit: 2_000,
        every: 2_048,
    },
];

/// A look at the last characters of a reply.
#[derive(Debug)]
struct Look {
    /// How many of them have to be repetition.
    tail: usize,
    /// The longest text whose repetition they may be.
    longest_unit: usize,
    /// How many new characters are worth another look.
    every: usize,
}

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
    /// How many of them were not there at the last look of each kind.
    new: [usize; LOOKS.len()],
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
        let added = self.characters.len() - before;
        self.new.iter_mut().for_each(|new| *new += added);
        // Seldom, so that each character is moved about once.
        if self.characters.len() > 2 * KEPT {
            self.characters.drain(..self.characters.len() - KEPT);
        }
    }

    /// Whether the last characters are one text over and over, where another look is worth it.
    pub(super) fn is_caught(&mut self) -> bool {
        for (look, new) in LOOKS.iter().zip(&mut self.new) {
            if *new >= look.every && self.characters.len() >= look.tail {
                *new = 0;
                if look.finds_repetition(&self.characters) {
                    return true;
                }
            }
        }
        false
    }

    /// Whether the last characters are one text over and over.
    pub(super) fn repeats(&self) -> bool {
        LOOKS
            .iter()
            .any(|look| look.finds_repetition(&self.characters))
    }
}

impl Look {
    fn finds_repetition(&self, characters: &[char]) -> bool {
        let start = characters.len().checked_sub(self.tail);
        start.is_some_and(|start| period(&characters[start..]) <= self.longest_unit)
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
