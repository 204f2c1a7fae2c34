//! The recorded model: prepared replies, selected by what happened.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use enact::LanguageModel;
use enact::model::{
    Capabilities, Chunk, FinishReason, ModelInfo, RawCall, Reply, ReplyStream, Request,
};
use futures_util::{StreamExt as _, stream};
use serde_json::{Value, json};

const REPORT: &str = "report.md";

/// A model that replays a recording. The decision of the person can't be recorded, so replies after it
/// depend on the last observation.
#[derive(Debug)]
pub(super) struct Recorded {
    pace: Duration,
    turn: AtomicUsize,
}

impl Recorded {
    /// Takes this long for each reply.
    pub(super) fn new(pace: Duration) -> Self {
        Self {
            pace,
            turn: AtomicUsize::new(0),
        }
    }
}

impl LanguageModel for Recorded {
    fn info(&self) -> ModelInfo<'_> {
        ModelInfo::new("recorded", Capabilities::FULL)
    }

    fn stream(&self, request: Request) -> ReplyStream<'_> {
        let number = self.turn.fetch_add(1, Ordering::Relaxed);
        let last = request.prompt.iter().last();
        let last = last.map(|message| message.text()).unwrap_or_default();
        let chunks: Vec<Chunk> = turn(number, &last).into();
        let pace = self.pace;
        let replay = stream::once(async move { tokio::time::sleep(pace).await })
            .flat_map(move |()| stream::iter(chunks.clone()).map(Ok));
        Box::pin(replay)
    }
}

/// A reply with these calls.
fn reply<const N: usize>(text: impl Into<String>, calls: [(&str, Value); N]) -> Reply {
    let mut reply = Reply::text(text);
    reply.calls.extend(calls.map(|(name, arguments)| RawCall {
        id: None,
        name: name.to_owned(),
        arguments: arguments.to_string(),
    }));
    if N > 0 {
        reply.finish = FinishReason::ToolCalls;
    }
    reply
}

fn turn(number: usize, last: &str) -> Reply {
    match number {
        0 => reply(
            "I read the notes and list the invoices at the same time.",
            [
                ("read_file", json!({"path": "notes.txt"})),
                ("list_files", json!({"path": "invoices"})),
            ],
        ),
        // The number of lines is written as text, as models do: it is converted to a number.
        1 => reply(
            "The notes name four customers. I read the invoice of each of them.",
            [
                (
                    "read_file",
                    json!({"path": "invoices/acme.txt", "max_lines": "20"}),
                ),
                ("read_file", json!({"path": "invoices/globex.txt"})),
                ("read_file", json!({"path": "invoices/initech.txt"})),
                ("read_file", json!({"path": "invoices/umbrella.txt"})),
            ],
        ),
        // A call in the text instead of a tool call, as models do: it is found there.
        2 => reply(
            "There is no invoice for Umbrella, so I leave it out and say so. I add up the others.\
             \n\n```json\n{\"name\": \"calculator\", \"arguments\": {\"expression\": \
             \"1240.50 + 310.25 + 89.00\"}}\n```",
            [],
        ),
        3 => reply(
            "I have the total. I write the report, which needs your approval.",
            [(
                "write_file",
                json!({"path": REPORT, "content": report(&[])}),
            )],
        ),
        4 => match feedback(last) {
            Some(feedback) => {
                let note = format!("Note: {feedback}");
                reply(
                    "I was asked to change the report. I add it as a note and ask again.",
                    [(
                        "write_file",
                        json!({"path": REPORT, "content": report(&[&note])}),
                    )],
                )
            }
            None => ending(last),
        },
        _ => ending(last),
    }
}

fn ending(last: &str) -> Reply {
    let written = written(last);
    let thought = match &written {
        Some(_) => "The report is written. I submit the outputs.",
        None => "The report must not be written. I submit the outputs without it.",
    };
    // The total is written as text, as models do: it is converted to a number.
    let outputs = json!({
        "total": "1639.75",
        "unpaid": ["Globex", "Initech"],
        "report": written,
    });
    reply(thought, [("submit", outputs)])
}

fn report(notes: &[&str]) -> String {
    let mut lines = vec![
        "# Invoices of May",
        "",
        "Total: 1639.75",
        "Open: Globex (310.25), Initech (89.00)",
        "Missing: the invoice of Umbrella",
    ];
    lines.extend(notes);
    lines.join("\n") + "\n"
}

/// What a person answered instead of yes or no.
fn feedback(last: &str) -> Option<&str> {
    last.split_once("User feedback: ")
        .map(|(_, feedback)| feedback.trim())
}

/// The written file: the person may have changed its name.
fn written(last: &str) -> Option<&str> {
    let (_, rest) = ["wrote `", "replaced `"]
        .iter()
        .find_map(|done| last.split_once(done))?;
    rest.split_once('`').map(|(path, _)| path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_answer_leads_to_an_end() {
        let args = |turn: &Reply| serde_json::from_str::<Value>(&turn.calls[0].arguments).unwrap();
        let report_of = |turn: &Reply| {
            assert_eq!(turn.calls[0].name, "submit");
            args(turn)["report"].clone()
        };
        let approved = turn(4, "wrote `other/r.md` (12 bytes)");
        assert_eq!(report_of(&approved), "other/r.md");
        for declined in [
            "The user declined this call. It was not executed.",
            "Error executing write_file: `../x` leads out of the folder",
            "[\"a\", \"b\"]",
        ] {
            assert_eq!(report_of(&turn(4, declined)), Value::Null);
        }
        let again = turn(4, "User feedback: add the date");
        assert_eq!(again.calls[0].name, "write_file");
        assert!(
            args(&again)["content"]
                .as_str()
                .unwrap()
                .contains("Note: add the date")
        );
        assert_eq!(report_of(&turn(5, "User feedback: no!")), Value::Null);
    }
}
