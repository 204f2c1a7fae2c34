//! Extracts JSON from a reply: past fences and text, repaired if that is safe.

use serde_json::Value;

use super::thinking;
use super::{Repair, RepairKind};
use crate::model::FinishReason;
use crate::signature::parse_exactly;

/// The maximum number of positions to try as the start; keeps the search linear.
const STARTS: usize = 24;
/// The maximum length of text to repair.
const MENDED: usize = 256 * 1024;

/// JSON found in a text.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Found<'a> {
    /// The JSON.
    pub(super) value: Value,
    /// The text before it, without the fence.
    pub(super) before: &'a str,
    /// The repairs.
    pub(super) repairs: Vec<Repair>,
}

/// Why no JSON was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoJson {
    /// The text contains nothing like JSON.
    Absent,
    /// It is incomplete, because the reply was cut off.
    CutOff,
    /// It can't be parsed, even with repairs.
    Broken,
}

/// Finds the first object or array that is `wanted`.
///
/// A complete value is preferred. A broken one is repaired unless it was cut off, or ends within a
/// string: the missing part can't be guessed.
pub(super) fn find<'a>(
    reply: &'a str,
    finish: FinishReason,
    wanted: impl Fn(&Value) -> bool,
) -> Result<Found<'a>, NoJson> {
    let spoken = thinking::spoken(reply);
    let text = spoken.text.trim();
    let mut first_broken = None;
    for start in starts(text) {
        let rest = &text[start..];
        let extent = extent(rest);
        if let Extent::Whole(end) = extent {
            let mut repairs = Vec::new();
            match parse(&rest[..end], &mut repairs) {
                Some(value) if wanted(&value) => {
                    let alone = start == 0 && end == rest.len() && !spoken.dropped;
                    if !alone {
                        repairs.push(surroundings());
                    }
                    return Ok(Found {
                        value,
                        before: before(text, start),
                        repairs,
                    });
                }
                Some(_) => continue,
                None => {}
            }
        }
        first_broken.get_or_insert((start, extent));
        // The contents of an incomplete object must not be taken for the whole.
        if !matches!(extent, Extent::Whole(_)) && is_promising(rest) {
            break;
        }
    }
    let Some((start, extent)) = first_broken else {
        return Err(NoJson::Absent);
    };
    let rest = &text[start..];
    let broken = match extent {
        Extent::Whole(end) => &rest[..end],
        // Words may have a bracket in them.
        _ if start > 0 && !is_promising(rest) => return Err(NoJson::Absent),
        _ if finish == FinishReason::Length => return Err(NoJson::CutOff),
        Extent::Open | Extent::InText if closes(rest) => without_fence(rest),
        Extent::Open => without_fence(rest),
        Extent::InText => return Err(NoJson::Broken),
    };
    let mut repairs = vec![Repair::new(RepairKind::Json, "broken JSON was mended")];
    let value = mend(broken, &mut repairs)
        .filter(wanted)
        .ok_or(NoJson::Broken)?;
    if start > 0 || broken.len() < rest.len() || spoken.dropped {
        repairs.push(surroundings());
    }
    Ok(Found {
        value,
        before: before(text, start),
        repairs,
    })
}

/// Whether a bracket starts JSON, not a remark in brackets.
fn is_promising(text: &str) -> bool {
    let next = text[1..].trim_start().bytes().next();
    match text.bytes().next() {
        Some(b'{') => matches!(next, Some(b'"' | b'\'' | b'}') | None),
        _ => matches!(next, Some(b'"' | b'{' | b'[') | None),
    }
}

fn surroundings() -> Repair {
    Repair::new(RepairKind::Surroundings, "text around the JSON was dropped")
}

fn before(text: &str, start: usize) -> &str {
    let before = text[..start].trim_end();
    match before.rfind("```") {
        Some(fence) if before[fence + 3..].chars().all(char::is_alphanumeric) => {
            before[..fence].trim_end()
        }
        _ => before,
    }
}

/// Parses a complete JSON text, and notes values that could not be represented.
pub(super) fn parse(text: &str, repairs: &mut Vec<Repair>) -> Option<Value> {
    let exact = parse_exactly(text).ok()?;
    let kept = exact.kept.into_iter();
    repairs.extend(kept.map(|told| Repair::new(RepairKind::Coercion, told)));
    let twice = exact.twice.into_iter();
    repairs.extend(twice.map(|told| Repair::new(RepairKind::Json, told)));
    Some(exact.value)
}

/// Repairs broken JSON, as long as no value has to be invented.
fn mend(text: &str, repairs: &mut Vec<Repair>) -> Option<Value> {
    let options = jsonrepair_rs::RepairOptions::new().with_max_input_bytes(MENDED);
    let mended = jsonrepair_rs::jsonrepair_with_options(text, options).ok()?;
    let value = parse(&mended, repairs)?;
    const NOTHING: [&str; 3] = ["null", "None", "undefined"];
    let written: usize = NOTHING.iter().map(|word| text.matches(word).count()).sum();
    (nulls(&value) <= written).then_some(value)
}

fn nulls(value: &Value) -> usize {
    match value {
        Value::Null => 1,
        Value::Array(items) => items.iter().map(nulls).sum(),
        Value::Object(fields) => fields.values().map(nulls).sum(),
        _ => 0,
    }
}

fn closes(text: &str) -> bool {
    without_fence(text).ends_with(['}', ']'])
}

fn without_fence(text: &str) -> &str {
    text.trim_end().trim_end_matches('`').trim_end()
}

/// Possible starts of JSON: the start of the text, else after a fence, else any bracket that is not
/// inside an earlier candidate.
fn starts(text: &str) -> Vec<usize> {
    let is_open = |byte: u8| byte == b'{' || byte == b'[';
    let mut starts = Vec::new();
    if text.bytes().next().is_some_and(is_open) {
        starts.push(0);
    }
    let (mut seen, mut is_quoted) = (0, false);
    let fences = text.match_indices("```").filter_map(|(at, _)| {
        // One behind a quotation mark in its line is part of a text.
        let between = &text[seen..at];
        let line = between.rfind('\n');
        is_quoted &= line.is_none();
        is_quoted |= between[line.unwrap_or(0)..].contains('"');
        seen = at;
        if is_quoted {
            return None;
        }
        let inside = at + 3;
        let label = text[inside..].find(|c: char| !c.is_alphanumeric())?;
        let content = inside + label;
        let gap = text[content..].find(|c: char| !c.is_whitespace())?;
        let first = content + gap;
        text.as_bytes()
            .get(first)
            .copied()
            .is_some_and(is_open)
            .then_some(first)
    });
    starts.extend(fences.take(STARTS / 2));
    let mut from = 0;
    while starts.len() < STARTS {
        let Some(at) = text.as_bytes()[from..].iter().copied().position(is_open) else {
            break;
        };
        let start = from + at;
        starts.push(start);
        from = start
            + match extent(&text[start..]) {
                Extent::Whole(end) => end,
                Extent::Open | Extent::InText => 1,
            };
    }
    let mut seen = std::collections::HashSet::new();
    starts.retain(|start| seen.insert(*start));
    starts
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Extent {
    /// Ends before this byte.
    Whole(usize),
    /// Brackets are missing at the end.
    Open,
    /// The text ends within a string.
    InText,
}

/// How long the text in single quotes is that stands here, as Python writes it. It ends at a quote
/// after which a value can end.
fn single_quoted(text: &str) -> Option<usize> {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'\'' => {
                let next = text[at + 1..].trim_start().bytes().next();
                if next.is_none_or(|next| matches!(next, b',' | b':' | b'}' | b']')) {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
    }
    None
}

/// How far the value that starts here reaches, going by brackets outside of quoted texts.
fn extent(text: &str) -> Extent {
    let mut depth = 0_usize;
    let mut quoted = false;
    let mut escaped = false;
    let mut before = b' ';
    let (mut single_until, mut may_be_single) = (0, true);
    for (at, byte) in text.bytes().enumerate() {
        if at < single_until {
            continue;
        }
        let opens = || matches!(before, b'{' | b'[' | b',' | b':');
        if byte == b'\'' && may_be_single && !quoted && opens() {
            let length = single_quoted(&text[at..]);
            // Where the rest has no end of such a text, it has none further on.
            may_be_single = length.is_some();
            single_until = at + length.unwrap_or(0);
        }
        if !matches!(byte, b' ' | b'\n' | b'\r' | b'\t') {
            before = byte;
        }
        if quoted {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => quoted = false,
                _ => {}
            }
            continue;
        }
        match byte {
            b'"' => quoted = true,
            b'{' | b'[' => depth += 1,
            b'}' | b']' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return Extent::Whole(at + 1);
                }
            }
            _ => {}
        }
    }
    if quoted { Extent::InText } else { Extent::Open }
}
