//! Reads steps from what a reply contains besides the requested form: calls in the provider's form, and
//! reasoning if there is no text.

use super::{Adapter, Misread, Native, Read, Repair, RepairKind, StepReply, Task, thinking};
use crate::model::Reply;

/// Reads a step with an adapter. Calls in the provider's form are used if the text contains none.
pub(crate) fn step(
    adapter: &dyn Adapter,
    task: &Task,
    reply: &Reply,
) -> Result<Read<StepReply>, Misread> {
    let read = adapter.parse_step(task, reply);
    let has_calls = matches!(&read, Ok(read) if !read.value.calls.is_empty());
    if has_calls || reply.calls.is_empty() {
        return read;
    }
    let mut given = Native.parse_step(task, reply)?;
    if let Ok(read) = read
        && !read.value.thought.is_empty()
    {
        given.value.thought = read.value.thought;
    }
    let detail = "the call came beside the text, in the provider's form";
    given
        .repairs
        .push(Repair::new(RepairKind::Structure, detail));
    Ok(given)
}

/// Whether a reply has no text of its own: nothing, or thinking that has no end.
pub(crate) fn is_silent(reply: &Reply) -> bool {
    let spoken = thinking::spoken(&reply.text);
    spoken.is_open || spoken.text.trim().is_empty()
}

/// A reply that only has reasoning, with the reasoning as its text.
pub(crate) fn reasoned(reply: &Reply) -> Option<Reply> {
    let spoken = thinking::spoken(&reply.text);
    let reasoning = match spoken.is_open {
        true => spoken.text,
        false => &reply.reasoning,
    };
    let has_nothing = is_silent(reply) && reply.calls.is_empty();
    (has_nothing && !reasoning.trim().is_empty()).then(|| Reply {
        text: reasoning.to_owned(),
        reasoning: String::new(),
        ..reply.clone()
    })
}
