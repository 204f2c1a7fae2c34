//! Replies in genai's words.

use std::collections::VecDeque;

use enact_core::model::failure::Failures;
use enact_core::model::{Chunk, FinishReason, ModelError, Usage};
use genai::adapter::AdapterKind;
use genai::chat::{ChatStreamEvent, ContentPart, StopReason, StreamEnd, ToolCall};
use serde_json::{Map, Value, json};

use super::request::OPAQUE;

/// Why a reply cannot be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wrong {
    /// The provider's filter stopped it.
    Filtered,
    /// It ended without a reason.
    CutOff,
}

impl Wrong {
    pub(crate) fn tell(self, failures: Failures<'_>) -> ModelError {
        match self {
            Self::Filtered => failures.filtered(),
            Self::CutOff => {
                failures.protocol("was cut off: it ended without a reason for stopping")
            }
        }
    }
}

/// Turns the events of one reply into chunks.
#[derive(Debug)]
pub(crate) struct Reading {
    kind: AdapterKind,
    is_whole: bool,
}

impl Reading {
    pub(crate) fn new(kind: AdapterKind) -> Self {
        Self {
            kind,
            is_whole: false,
        }
    }

    /// Whether nothing can follow.
    pub(crate) fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// Whether the provider said this. genai announces a stream before it has connected.
    pub(crate) fn is_said(event: &ChatStreamEvent) -> bool {
        !matches!(event, ChatStreamEvent::Start)
    }

    pub(crate) fn take(
        &mut self,
        event: ChatStreamEvent,
        out: &mut VecDeque<Chunk>,
    ) -> Result<(), Wrong> {
        match event {
            ChatStreamEvent::Chunk(chunk) => out.push_back(Chunk::Text(chunk.content)),
            ChatStreamEvent::ReasoningChunk(chunk) => {
                out.push_back(Chunk::Reasoning(chunk.content));
            }
            ChatStreamEvent::End(end) => self.end(end, out)?,
            // Calls and signatures come whole at the end: on the way, some are pieces and some are
            // all that is known so far.
            ChatStreamEvent::Start
            | ChatStreamEvent::Heartbeat
            | ChatStreamEvent::ToolCallChunk(_)
            | ChatStreamEvent::ThoughtSignatureChunk(_) => {}
        }
        Ok(())
    }

    fn end(&mut self, end: StreamEnd, out: &mut VecDeque<Chunk>) -> Result<(), Wrong> {
        self.is_whole = true;
        let mut thoughts = Vec::new();
        let mut calls = Vec::new();
        let parts = end.captured_content.map(|content| content.into_parts());
        for part in parts.into_iter().flatten() {
            match part {
                ContentPart::ToolCall(call) => calls.push(call),
                // The text came piece by piece.
                ContentPart::Text(_) => {}
                other => thoughts.push(other),
            }
        }
        let finish = match end.captured_stop_reason {
            Some(StopReason::ContentFilter(_)) => return Err(Wrong::Filtered),
            Some(StopReason::MaxTokens(_)) => FinishReason::Length,
            None if !has_end_marker(self.kind) => return Err(Wrong::CutOff),
            _ if calls.is_empty() => FinishReason::Stop,
            _ => FinishReason::ToolCalls,
        };
        out.extend(self.opaque(&thoughts, &calls).map(Chunk::Opaque));
        for (index, call) in calls.into_iter().enumerate() {
            out.push_back(Chunk::Call {
                index,
                id: Some(call.call_id).filter(|id| !id.is_empty()),
                name: Some(call.fn_name),
                arguments: match call.fn_arguments {
                    // What could not be read is left as it was written.
                    Value::String(raw) => raw,
                    Value::Null => String::new(),
                    other => other.to_string(),
                },
            });
        }
        out.extend(end.captured_usage.as_ref().map(usage).map(Chunk::Usage));
        out.push_back(Chunk::Finish(finish));
        Ok(())
    }

    /// What has to go back with the next request.
    fn opaque(&self, thoughts: &[ContentPart], calls: &[ToolCall]) -> Option<Map<String, Value>> {
        let signatures = calls.iter().map(|call| &call.thought_signatures);
        let has_signatures = signatures.clone().any(Option::is_some);
        if thoughts.is_empty() && !has_signatures {
            return None;
        }
        let kept = json!({
            "provider": self.kind.as_lower_str(),
            "thoughts": thoughts,
            "calls": signatures.collect::<Vec<_>>(),
        });
        Some(Map::from_iter([(OPAQUE.to_owned(), kept)]))
    }
}

/// Whether the end of a stream is said apart from the reason for stopping, as OpenAI's `[DONE]` is.
/// For other protocols genai ends the stream by itself when the connection ends.
fn has_end_marker(kind: AdapterKind) -> bool {
    matches!(
        kind,
        AdapterKind::Baidu | AdapterKind::Omlx | AdapterKind::OpenCodeGo | AdapterKind::Custom(_)
    )
}

fn usage(usage: &genai::chat::Usage) -> Usage {
    let count = |tokens: Option<i32>| tokens.and_then(|count| u64::try_from(count).ok());
    let mut read = Usage::of_request(
        count(usage.prompt_tokens).unwrap_or(0),
        count(usage.completion_tokens).unwrap_or(0),
    );
    let input = usage.prompt_tokens_details.as_ref();
    let output = usage.completion_tokens_details.as_ref();
    let cached = input.and_then(|details| count(details.cached_tokens));
    let reasoning = output.and_then(|details| count(details.reasoning_tokens));
    read.cached_input_tokens = cached.unwrap_or(0);
    read.reasoning_tokens = reasoning.unwrap_or(0);
    read
}
