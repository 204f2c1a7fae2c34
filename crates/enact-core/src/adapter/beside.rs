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

/// Whether a reply has no text.
pub(crate) fn is_silent(reply: &Reply) -> bool {
    thinking::spoken(&reply.text).text.trim().is_empty()
}

/// A reply that only has reasoning, with the reasoning as its text.
pub(crate) fn reasoned(reply: &Reply) -> Option<Reply> {
    let has_nothing = is_silent(reply) && reply.calls.is_empty();
    (has_nothing && !reply.reasoning.trim().is_empty()).then(|| Reply {
        text: reply.reasoning.clone(),
        reasoning: String::new(),
        ..reply.clone()
    })
}
