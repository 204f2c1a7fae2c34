//! Cuts off endless replies: a small model in a loop would write until its length limit, a broken
//! server forever, and block the run.

use std::collections::VecDeque;

use futures_util::{StreamExt as _, stream};

use super::repetition::{CUT_AFTER, Channel, Tail};
use super::{Chunk, FinishReason, ModelError, Reply, ReplyBuilder, ReplyStream, Usage, read_reply};

/// The maximum number of tool calls in a reply.
pub const MAX_CALLS: usize = 128;
/// The maximum size of a reply in bytes, whatever was requested.
const MOST_BYTES: usize = 4 * 1024 * 1024;
/// The size in bytes that is always allowed: token limits don't count everything.
const FEWEST_BYTES: usize = 64 * 1024;
/// More bytes than a token has in any text.
const BYTES_OF_TOKEN: usize = 32;
/// Data that goes back to the provider unchanged is surrounded by names and punctuation.
const OPAQUE_FACTOR: usize = 4;

/// The maximum size in bytes of text, reasoning and calls in a reply with this token limit:
/// 32 per token, from 64 KiB up to 4 MiB.
///
/// ```
/// use enact::model::max_reply_bytes;
///
/// assert_eq!(max_reply_bytes(Some(8192)), 256 * 1024);
/// assert_eq!(max_reply_bytes(None), 4 * 1024 * 1024);
/// ```
pub fn max_reply_bytes(max_tokens: Option<u32>) -> usize {
    let tokens = max_tokens.map(|tokens| usize::try_from(tokens).unwrap_or(usize::MAX));
    tokens.map_or(MOST_BYTES, |tokens| {
        let bytes = tokens.saturating_mul(BYTES_OF_TOKEN);
        bytes.clamp(FEWEST_BYTES, MOST_BYTES)
    })
}

/// Cuts off an endless reply:
///
/// - It repeats itself: the last 3,000 characters of its text, its reasoning or its calls are one text
///   of at most 300 characters over and over, or the last 12,000 are one of at most 2,000, and more of
///   it comes. Or it holds more than
///   [`MAX_CALLS`] calls. It ends with [`Chunk::Repeats`].
/// - It is longer than `max_bytes`; see [`max_reply_bytes`].
///
/// In both cases it ends with [`FinishReason::Length`]. Its usage is estimated from its size and that
/// of the prompt, because providers report usage at the end.
///
/// For authors of clients: every client in enact does this. It yields between chunks, so that a reply
/// which is always ready doesn't delay timers and cancellation.
pub fn cut_endless(
    reply: ReplyStream<'_>,
    prompt_bytes: usize,
    max_bytes: usize,
) -> ReplyStream<'_> {
    let watched = Watched {
        reply: Some(reply),
        ready: VecDeque::new(),
        tail: Tail::default(),
        prompt_bytes,
        max_bytes,
        written_bytes: 0,
    };
    Box::pin(stream::unfold(watched, Watched::next))
}

/// Combines chunks into a reply, cut off as by [`cut_endless`]. For clients that receive replies as a
/// whole: they are only inspected chunk by chunk if they could be cut off at all.
pub async fn whole_reply(
    chunks: VecDeque<Chunk>,
    prompt_bytes: usize,
    max_bytes: usize,
) -> Result<Reply, ModelError> {
    if is_ordinary(&chunks, max_bytes) {
        let mut builder = ReplyBuilder::default();
        chunks.into_iter().for_each(|chunk| builder.push(chunk));
        return builder.finish();
    }
    let chunks = Box::pin(stream::iter(chunks.into_iter().map(Ok)));
    read_reply(cut_endless(chunks, prompt_bytes, max_bytes)).await
}

/// Whether nothing of a reply can be cut off: it is short and complete.
fn is_ordinary(chunks: &VecDeque<Chunk>, max_bytes: usize) -> bool {
    let mut bytes = 0;
    let is_short = |chunk: &Chunk| match chunk {
        Chunk::Text(text) | Chunk::Reasoning(text) => {
            bytes += text.len();
            true
        }
        Chunk::Call {
            index,
            id,
            name,
            arguments,
        } => {
            let name = name.as_ref().map_or(0, String::len);
            bytes += id.as_ref().map_or(0, String::len) + name + arguments.len();
            *index < MAX_CALLS
        }
        Chunk::Opaque(_) | Chunk::Restart | Chunk::Finish(FinishReason::Length) => false,
        _ => true,
    };
    chunks.iter().all(is_short) && bytes <= max_bytes.min(CUT_AFTER)
}

struct Watched<'a> {
    /// Dropped when the reply is cut off, so that the server can stop.
    reply: Option<ReplyStream<'a>>,
    ready: VecDeque<Chunk>,
    tail: Tail,
    prompt_bytes: usize,
    max_bytes: usize,
    written_bytes: usize,
}

/// Why a reply is cut off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cut {
    Repeats,
    TooLong,
}

impl Watched<'_> {
    async fn next(mut self) -> Option<(Result<Chunk, ModelError>, Self)> {
        if let Some(chunk) = self.ready.pop_front() {
            return Some((Ok(chunk), self));
        }
        tokio::task::consume_budget().await;
        let chunk = match self.reply.as_mut()?.next().await? {
            Ok(chunk) => chunk,
            Err(error) => return Some((Err(error), self)),
        };
        let cut = match &chunk {
            Chunk::Text(text) => self.take(Channel::Text, &[text], 0),
            Chunk::Reasoning(text) => self.take(Channel::Reasoning, &[text], 0),
            Chunk::Call { index, .. } if *index >= MAX_CALLS => Some(Cut::Repeats),
            // All calls together: the same call can also be repeated with other ids.
            Chunk::Call {
                id,
                name,
                arguments,
                ..
            } => {
                let name = name.as_deref().unwrap_or_default();
                let id = id.as_ref().map_or(0, String::len);
                self.take(Channel::Calls, &[name, arguments], id)
            }
            Chunk::Opaque(fields) => {
                let bytes = serde_json::to_vec(fields).map_or(0, |text| text.len());
                let most = self.max_bytes.saturating_mul(OPAQUE_FACTOR);
                (bytes > most).then_some(Cut::TooLong)
            }
            // It ended before it was cut off, but it is still a repetition.
            Chunk::Finish(FinishReason::Length) if self.tail.repeats() => {
                self.ready.push_back(chunk);
                return Some((Ok(Chunk::Repeats), self));
            }
            Chunk::Restart => {
                self.tail = Tail::default();
                self.written_bytes = 0;
                None
            }
            _ => None,
        };
        match cut {
            None => Some((Ok(chunk), self)),
            Some(cut) => {
                self.cut_off(cut, chunk);
                self.ready.pop_front().map(|chunk| (Ok(chunk), self))
            }
        }
    }

    /// Processes more of the reply, unless it has to be cut off first. `unread` bytes contribute to the
    /// size only.
    fn take(&mut self, channel: Channel, texts: &[&str], unread: usize) -> Option<Cut> {
        let bytes = unread + texts.iter().map(|text| text.len()).sum::<usize>();
        if bytes == 0 {
            return None;
        }
        self.tail.turn_to(channel);
        // Looked at when more comes: what ends by itself was meant so, however long.
        if self.tail.is_caught() {
            return Some(Cut::Repeats);
        }
        if bytes > self.max_bytes.saturating_sub(self.written_bytes) {
            return Some(Cut::TooLong);
        }
        self.written_bytes += bytes;
        texts.iter().for_each(|text| self.tail.push(text));
        None
    }

    /// Ends the reply before this chunk, or within it if the reply is too long.
    fn cut_off(&mut self, cut: Cut, mut chunk: Chunk) {
        self.reply = None;
        let room = self.max_bytes.saturating_sub(self.written_bytes);
        let text = match &mut chunk {
            Chunk::Text(text) | Chunk::Reasoning(text) => Some(text),
            Chunk::Call { arguments, .. } => Some(arguments),
            _ => None,
        };
        if cut == Cut::TooLong
            && let Some(text) = text
        {
            text.truncate(text.floor_char_boundary(room));
            self.written_bytes += text.len();
            self.ready.push_back(chunk);
        }
        let usage = Usage::estimated(self.prompt_bytes, self.written_bytes);
        self.ready.push_back(Chunk::Usage(usage));
        if cut == Cut::Repeats {
            self.ready.push_back(Chunk::Repeats);
        }
        self.ready.push_back(Chunk::Finish(FinishReason::Length));
    }
}
