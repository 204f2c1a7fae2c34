//! Replies that repeat themselves are cut off: a small model that falls into a loop would write until
//! its length limit, and hold a run for as long.

use std::collections::VecDeque;

use futures_util::{StreamExt as _, stream};

use super::{Chunk, FinishReason, ModelError, ReplyStream, Usage};

/// How many characters of nothing but repetition cut a reply off. Tables, rules and lists of zeros
/// that people want are shorter.
const CUT_AFTER: usize = 3_000;
/// The longest text whose repetition counts, so that it was written at least ten times.
const LONGEST_UNIT: usize = 300;
/// How many new characters are worth another look.
const LOOK_EVERY: usize = 256;
/// Fewer bytes than a token has in almost any text: what nobody counted is rather overestimated.
const BYTES_PER_TOKEN: usize = 3;

/// Cuts a reply off when it repeats itself: the last 3,000 characters of its text, its reasoning or its
/// calls are one text of at most 300 characters, over and over, and more of it comes.
///
/// Such a reply ends with [`Chunk::Repeats`] and [`FinishReason::Length`]. What it cost is estimated
/// from its bytes and those of the prompt, because providers report usage at the end.
///
/// For those who write clients: every client of enact does this to its replies.
pub fn cut_repetition(reply: ReplyStream<'_>, prompt_bytes: usize) -> ReplyStream<'_> {
    let watched = Watched {
        reply: Some(reply),
        ready: VecDeque::new(),
        tail: Tail::default(),
        prompt_bytes,
        written_bytes: 0,
    };
    Box::pin(stream::unfold(watched, Watched::next))
}

struct Watched<'a> {
    /// Dropped when the reply is cut off: the server learns that nobody reads on.
    reply: Option<ReplyStream<'a>>,
    ready: VecDeque<Chunk>,
    tail: Tail,
    prompt_bytes: usize,
    written_bytes: usize,
}

impl Watched<'_> {
    async fn next(mut self) -> Option<(Result<Chunk, ModelError>, Self)> {
        if let Some(chunk) = self.ready.pop_front() {
            return Some((Ok(chunk), self));
        }
        let chunk = match self.reply.as_mut()?.next().await? {
            Ok(chunk) => chunk,
            Err(error) => return Some((Err(error), self)),
        };
        match &chunk {
            Chunk::Text(text) => self.take(Channel::Text, &[text]),
            Chunk::Reasoning(text) => self.take(Channel::Reasoning, &[text]),
            // All calls in a row: the same call can be written over and over, too.
            Chunk::Call {
                name, arguments, ..
            } => {
                let name = name.as_deref().unwrap_or_default();
                self.take(Channel::Calls, &[name, arguments]);
            }
            // It had no time to be cut off, but it is no less repetition.
            Chunk::Finish(FinishReason::Length) if self.tail.repeats() => {
                self.ready.push_back(chunk);
                return Some((Ok(Chunk::Repeats), self));
            }
            Chunk::Restart => self.tail = Tail::default(),
            _ => {}
        }
        match self.reply {
            Some(_) => Some((Ok(chunk), self)),
            None => self.ready.pop_front().map(|chunk| (Ok(chunk), self)),
        }
    }

    /// Takes more of the reply, or cuts it off before.
    fn take(&mut self, channel: Channel, texts: &[&str]) {
        if texts.iter().all(|text| text.is_empty()) {
            return;
        }
        self.tail.turn_to(channel);
        // Looked at when more comes: what ends by itself was meant so, however long.
        if self.tail.is_worth_a_look() && self.tail.repeats() {
            self.reply = None;
            let tokens = |bytes: usize| bytes.div_ceil(BYTES_PER_TOKEN) as u64;
            let usage = Usage::of_request(tokens(self.prompt_bytes), tokens(self.written_bytes));
            self.ready.extend([
                Chunk::Usage(usage),
                Chunk::Repeats,
                Chunk::Finish(FinishReason::Length),
            ]);
            return;
        }
        for text in texts {
            self.written_bytes += text.len();
            self.tail.push(text);
        }
    }
}

/// Where in a reply something is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Channel {
    #[default]
    Text,
    Reasoning,
    Calls,
}

/// The last characters of what a model writes.
#[derive(Debug, Default)]
struct Tail {
    channel: Channel,
    characters: Vec<char>,
    /// How many of them were not there at the last look.
    new: usize,
}

impl Tail {
    fn turn_to(&mut self, channel: Channel) {
        if self.channel != channel {
            *self = Self {
                channel,
                ..Self::default()
            };
        }
    }

    fn push(&mut self, text: &str) {
        let before = self.characters.len();
        self.characters.extend(text.chars());
        self.new += self.characters.len() - before;
        // Seldom, so that each character is moved about once.
        if self.characters.len() > 2 * CUT_AFTER {
            self.characters.drain(..self.characters.len() - CUT_AFTER);
        }
    }

    fn is_worth_a_look(&self) -> bool {
        self.new >= LOOK_EVERY && self.characters.len() >= CUT_AFTER
    }

    /// Whether the last characters are one short text over and over.
    fn repeats(&mut self) -> bool {
        self.new = 0;
        let Some(start) = self.characters.len().checked_sub(CUT_AFTER) else {
            return false;
        };
        period(&self.characters[start..]) <= LONGEST_UNIT
    }
}

/// The length of the shortest text that gives this one when it is written over and over, its last
/// copy perhaps not to its end. The prefix function of Knuth, Morris and Pratt knows it.
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
