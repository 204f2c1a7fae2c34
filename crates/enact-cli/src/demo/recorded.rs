//! The recorded model: replies written down beforehand, picked by what happened.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use enact::LanguageModel;
use enact::model::{Capabilities, Chunk, FinishReason, Message, ReplyStream, Request, Usage};
use futures_util::{StreamExt as _, stream};
use serde_json::{Value, json};

const REPORT: &str = "report.md";

/// A model that replays a recording. What a person decided is the one thing that nobody could
/// record, so there the reply depends on the last observation.
#[derive(Debug)]
pub(super) struct Recorded {
    pace: Duration,
    turn: AtomicUsize,
}

/// One recorded reply.
#[derive(Debug, PartialEq)]
struct Turn {
    text: String,
    calls: Vec<(&'static str, Value)>,
}

impl Turn {
    fn new<const N: usize>(text: impl Into<String>, calls: [(&'static str, Value); N]) -> Self {
        Self {
            text: text.into(),
            calls: Vec::from(calls),
        }
    }
}

impl Recorded {
    /// Takes this long for every reply.
    pub(super) fn new(pace: Duration) -> Self {
        Self {
            pace,
            turn: AtomicUsize::new(0),
        }
    }
}

impl LanguageModel for Recorded {
    fn name(&self) -> &str {
        "recorded"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::FULL
    }

    fn stream(&self, request: Request) -> ReplyStream<'_> {
        let number = self.turn.fetch_add(1, Ordering::Relaxed);
        let messages: Vec<&Message> = request.prompt.iter().collect();
        let last = messages
            .last()
            .map(|message| message.text())
            .unwrap_or_default();
        let turn = turn(number, &last);
        let mut chunks = vec![Chunk::Text(turn.text)];
        let finish = if turn.calls.is_empty() {
            FinishReason::Stop
        } else {
            FinishReason::ToolCalls
        };
        for (index, (name, arguments)) in turn.calls.into_iter().enumerate() {
            chunks.push(Chunk::Call {
                index,
                id: None,
                name: Some(name.to_owned()),
                arguments: arguments.to_string(),
            });
        }
        chunks.push(Chunk::Usage(Usage::of_request(0, 0)));
        chunks.push(Chunk::Finish(finish));
        let pace = self.pace;
        let replay = stream::once(async move { tokio::time::sleep(pace).await })
            .flat_map(move |()| stream::iter(chunks.clone()).map(Ok));
        Box::pin(replay)
    }
}

fn turn(number: usize, last: &str) -> Turn {
    match number {
        0 => Turn::new(
            "I look at the notes and at the folder with the invoices at the same time.",
            [
                ("read_file", json!({"path": "notes.txt"})),
                ("list_files", json!({"path": "invoices"})),
            ],
        ),
        // The number of lines is written as text, as models do: it is taken for the number.
        1 => Turn::new(
            "The notes name four customers. I read one invoice for each of them.",
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
        // A call in the text instead of a real one, as models do: it is found there.
        2 => Turn::new(
            "There is no invoice for Umbrella, so I leave it out and say so. I add up the others.\
             \n\n```json\n{\"name\": \"calculator\", \"arguments\": {\"expression\": \
             \"1240.50 + 310.25 + 89.00\"}}\n```",
            [],
        ),
        3 => Turn::new(
            "I have the total. I write the report, which somebody has to agree to first.",
            [(
                "write_file",
                json!({"path": REPORT, "content": report(&[])}),
            )],
        ),
        4 => match feedback(last) {
            Some(feedback) => {
                let note = format!("Note: {feedback}");
                Turn::new(
                    "I am told something about the report. I put it in as a note and ask again.",
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

fn ending(last: &str) -> Turn {
    let written = written(last);
    let thought = match &written {
        Some(_) => "The report is written. I hand in the outputs.",
        None => "The report is not to be written. I hand in the outputs without it.",
    };
    // The total is written as text, as models do: it is taken for the number.
    let outputs = json!({
        "total": "1639.75",
        "unpaid": ["Globex", "Initech"],
        "report": written,
    });
    Turn::new(thought, [("submit", outputs)])
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

/// What a person said instead of yes or no.
fn feedback(last: &str) -> Option<&str> {
    last.split_once("User feedback: ")
        .map(|(_, feedback)| feedback.trim())
}

/// The file that was written: the person may have changed its name.
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
        let report_of = |turn: &Turn| match turn.calls.as_slice() {
            [("submit", outputs)] => outputs["report"].clone(),
            other => panic!("{other:?}"),
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
        assert_eq!(again.calls[0].0, "write_file");
        assert!(
            again.calls[0].1["content"]
                .as_str()
                .unwrap()
                .contains("Note: add the date")
        );
        assert_eq!(report_of(&turn(5, "User feedback: no!")), Value::Null);
    }
}
