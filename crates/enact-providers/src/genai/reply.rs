//! Converts replies of genai.

use enact_core::model::{Chunk, FinishReason, Usage};
use genai::adapter::AdapterKind;
use genai::chat::{ChatStreamEvent, ContentPart, StopReason, StreamEnd, ToolCall};
use serde_json::{Map, Value, json};

use super::request::OPAQUE;
use crate::http::DecodeError;

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

    /// Whether the provider sent this. genai reports the start of a stream before it has connected.
    pub(crate) fn is_said(event: &ChatStreamEvent) -> bool {
        !matches!(event, ChatStreamEvent::Start)
    }

    pub(crate) fn take(&mut self, event: ChatStreamEvent) -> Result<Vec<Chunk>, DecodeError> {
        Ok(match event {
            ChatStreamEvent::Chunk(chunk) => vec![Chunk::Text(chunk.content)],
            ChatStreamEvent::ReasoningChunk(chunk) => vec![Chunk::Reasoning(chunk.content)],
            ChatStreamEvent::End(end) => self.end(end)?,
            // Calls and signatures are complete at the end: before that, some are parts and some are
            // everything known so far.
            ChatStreamEvent::Start
            | ChatStreamEvent::Heartbeat
            | ChatStreamEvent::ToolCallChunk(_)
            | ChatStreamEvent::ThoughtSignatureChunk(_) => Vec::new(),
        })
    }

    fn end(&mut self, end: StreamEnd) -> Result<Vec<Chunk>, DecodeError> {
        self.is_whole = true;
        let mut thoughts = Vec::new();
        let mut calls = Vec::new();
        let parts = end.captured_content.map(|content| content.into_parts());
        for part in parts.into_iter().flatten() {
            match part {
                ContentPart::ToolCall(call) => calls.push(call),
                // The text has arrived in parts.
                ContentPart::Text(_) => {}
                other => thoughts.push(other),
            }
        }
        let finish = match end.captured_stop_reason {
            Some(StopReason::ContentFilter(_)) => return Err(DecodeError::Filtered),
            Some(StopReason::MaxTokens(_)) => FinishReason::Length,
            None if !has_end_marker(self.kind) => return Err(DecodeError::CutOff),
            _ if calls.is_empty() => FinishReason::Stop,
            _ => FinishReason::ToolCalls,
        };
        let mut out = Vec::from_iter(self.opaque(&thoughts, &calls).map(Chunk::Opaque));
        for (index, call) in calls.into_iter().enumerate() {
            out.push(Chunk::Call {
                index,
                id: Some(call.call_id).filter(|id| !id.is_empty()),
                name: Some(call.fn_name),
                arguments: match call.fn_arguments {
                    // Unparsable text is left as it was written.
                    Value::String(raw) => raw,
                    Value::Null => String::new(),
                    other => other.to_string(),
                },
            });
        }
        out.extend(end.captured_usage.as_ref().map(usage).map(Chunk::Usage));
        out.push(Chunk::Finish(finish));
        Ok(out)
    }

    /// Data that has to be returned with the next request.
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

/// Whether the end of a stream is sent separately from the finish reason, like OpenAI's `[DONE]`.
/// For other protocols, genai ends the stream when the connection ends.
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
