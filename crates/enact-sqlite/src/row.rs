//! A record as a row of the table `events`.

use enact_core::Timestamp;
use enact_core::run::store::{StoreError, StoreErrorKind};
use enact_core::run::{Event, Record};

use crate::error::Failure;

/// A record as a row: its event is split into its name and the rest.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) position: i64,
    /// Nanoseconds since 1970.
    pub(crate) at: i64,
    /// The name of the event.
    pub(crate) event: String,
    /// The other keys of the event, as a JSON object.
    pub(crate) body: String,
    pub(crate) crc32: i64,
}

impl Row {
    /// A record of this run, and the description of the agent if it is the start of the run: that is the same
    /// in many runs, and stored once.
    pub(crate) fn new(run_id: &str, record: &Record) -> Result<(Self, Option<String>), Failure> {
        let (json, spec) = match record.position {
            0 => without_agent(&record.event),
            _ => serde_json::to_string(&record.event).map(|json| (json, None)),
        }
        .map_err(unwritable)?;
        // The name comes first, as in `{"event":"tool_started","call_id":"call_1"}`.
        let word = json.strip_prefix(r#"{"event":""#);
        let (event, rest) = word
            .and_then(|word| word.split_once('"'))
            .ok_or_else(|| unwritable(std::io::Error::other("its event has no name")))?;
        let mut row = Self {
            position: record.position.cast_signed(),
            at: nanoseconds(record.at)?,
            event: event.to_owned(),
            body: format!("{{{}", rest.strip_prefix(',').unwrap_or(rest)),
            crc32: 0,
        };
        let (body, agent) = (row.body.as_bytes(), spec.as_deref().unwrap_or_default());
        row.crc32 = checksum(run_id, row.position, row.at, event, body, agent);
        Ok((row, spec))
    }
}

/// An event as JSON, and the agent in it.
fn without_agent(event: &Event) -> serde_json::Result<(String, Option<String>)> {
    let mut json = serde_json::to_value(event)?;
    let keys = json.as_object_mut();
    let spec = keys.and_then(|keys| keys.shift_remove("agent"));
    Ok((json.to_string(), spec.map(|spec| spec.to_string())))
}

/// Recombines the event.
pub(crate) fn event(word: &str, body: &str, spec: &str) -> serde_json::Result<Event> {
    let agent = match spec {
        "" => String::new(),
        spec => format!("\"agent\":{spec},"),
    };
    let rest = body.strip_prefix('{').unwrap_or(body);
    let comma = if rest == "}" { "" } else { "," };
    let mut json = String::with_capacity(word.len() + agent.len() + rest.len() + 16);
    for part in [r#"{"event":""#, word, "\"", comma, &agent, rest] {
        json.push_str(part);
    }
    serde_json::from_str(&json)
}

/// Covers the position as well as the content: a row in the wrong place is damaged too. It is the CRC-32 of
/// these, separated by spaces, and of the agent's description at the start of a run. As a signed number,
/// it never takes more than four bytes.
pub(crate) fn checksum(
    run_id: &str,
    position: i64,
    at: i64,
    event: &str,
    body: &[u8],
    spec: &str,
) -> i64 {
    let mut crc = crc32fast::Hasher::new();
    crc.update(run_id.as_bytes());
    crc.update(format!(" {position} {at} {event} ").as_bytes());
    crc.update(body);
    if !spec.is_empty() {
        crc.update(b" ");
        crc.update(spec.as_bytes());
    }
    crc.finalize().cast_signed().into()
}

/// Nanoseconds since 1970.
pub(crate) fn nanoseconds(at: Timestamp) -> Result<i64, Failure> {
    i64::try_from(at.as_nanosecond()).map_err(|_| {
        let message = format!(
            "the time {at} is not between 1678 and 2262, and cannot be kept: set the clock right"
        );
        StoreError::new(StoreErrorKind::Io, message).into()
    })
}

fn unwritable(error: impl std::error::Error + Send + Sync + 'static) -> Failure {
    let message = "a record cannot be written as JSON: this is a defect of enact, report it";
    StoreError::new(StoreErrorKind::Io, message)
        .with_source(error)
        .into()
}
