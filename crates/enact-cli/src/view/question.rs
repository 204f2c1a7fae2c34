//! Shows a question to a person, in the same form everywhere.

use enact::Question;
use enact::run::QuestionKind;
use enact::tool::builtin::FileChange;
use serde_json::Value;

use super::diff::diff;
use super::exact::{self, Extent, Shown};
use super::screen::{Ink, Screen};
use super::text;
use super::values::call_line;

/// The maximum number of arguments, at the beginning and at the end.
const FIRST: usize = 30;
const LAST: usize = 10;
/// The maximum number of rows of a thought beside a question.
const THOUGHT_ROWS: usize = 6;
/// The number of rows of a question if the height of the screen is unknown, and the rows to reserve
/// for the prompt otherwise.
const ROWS: usize = 200;
const PROMPT_ROWS: usize = 5;
/// The minimum number of rows of a question, however small the screen is.
const FEWEST: usize = 12;

/// How a question was shown.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asked {
    /// Whether something was left out.
    pub(crate) is_cut: bool,
    /// Whether its beginning may be out of view.
    pub(crate) is_tall: bool,
}

/// The lines of a question, which are shown together.
struct Sheet<'a> {
    screen: &'a Screen,
    extent: Extent,
    lines: Vec<String>,
    is_cut: bool,
}

/// Shows a question and its subject: the arguments of the call, or its change to a file.
pub(crate) fn show_question(
    screen: &Screen,
    question: &Question,
    change: Option<&Result<FileChange, String>>,
    extent: Extent,
) -> Asked {
    let call = &question.tool_call;
    let mut sheet = Sheet::new(screen, extent);
    let name = sheet.name(Ink::Tool, &call.name);
    let mark = screen.paint(Ink::Question, "?");
    sheet.line(match question.kind {
        QuestionKind::InDoubt => format!(
            "   {mark} {name} had started when its process ended: did it happen? Run it again?"
        ),
        QuestionKind::Clarify => format!("   {mark} {name} asks:"),
        _ => format!("   {mark} may {name} run with these arguments?"),
    });
    sheet.subject(question, change);
    sheet.show()
}

/// A way to answer a question: its effect, and the command to paste.
pub(crate) type Way = (&'static str, String);

/// Shows that a question waits for an answer, the id by which it is answered, and the ways to do that.
pub(crate) fn show_waiting(
    screen: &Screen,
    question: &Question,
    change: Option<&Result<FileChange, String>>,
    ways: &[Way],
) {
    let call = &question.tool_call;
    let shown = screen.paint(Ink::Tool, &call_line(&call.name, &call.args));
    let mut sheet = Sheet::new(screen, Extent::Ends);
    let name = sheet.name(Ink::Tool, &call.name);
    sheet.line(String::new());
    sheet.line(match question.kind {
        QuestionKind::InDoubt => {
            format!("waits for an answer: did {shown} happen? Run it again?")
        }
        QuestionKind::Clarify => format!("waits for an answer: {name} asks:"),
        _ => format!("waits for an answer: may {shown} run?"),
    });
    let id = format!("id: {}", question.confirmation_id);
    sheet.line(format!("     {}", screen.paint(Ink::Quiet, &id)));
    sheet.subject(question, change);
    for (what, line) in ways {
        sheet.line(format!("   {}", screen.paint(Ink::Quiet, what)));
        sheet.line(format!("     {line}"));
    }
    sheet.show();
}

/// Shows the thought of the model for the call in question.
pub(crate) fn show_thought(screen: &Screen, thought: &str) {
    let thought = thought.trim();
    if thought.is_empty() {
        return;
    }
    screen.line(&format!(
        "   {}",
        screen.paint(Ink::Quiet, "the model thought:")
    ));
    let head = text::clipped(thought, 100 * THOUGHT_ROWS);
    let width = Some(screen.room(7).unwrap_or(100));
    let shown = exact::text(screen, &head, width, Extent::Whole);
    let count = shown.rows.len().min(THOUGHT_ROWS);
    for row in rows("     ", &shown.rows[..count]) {
        screen.line(&row);
    }
    if count < shown.rows.len() || head.len() != thought.len() {
        let note = screen.paint(Ink::Hidden, "… the rest of the thought is left out …");
        screen.line(&format!("     {note}"));
    }
}

/// Shows an action of a run in full.
pub(crate) fn show_deed(screen: &Screen, what: &str, how: &str) {
    let mut sheet = Sheet::new(screen, Extent::Whole);
    let what = exact::caption(screen, what);
    sheet.captioned(&what, how);
    sheet.show();
}

impl<'a> Sheet<'a> {
    fn new(screen: &'a Screen, extent: Extent) -> Self {
        Self {
            screen,
            extent,
            lines: Vec::new(),
            is_cut: false,
        }
    }

    fn line(&mut self, line: String) {
        self.lines.push(line);
    }

    fn name(&mut self, ink: Ink, name: &str) -> String {
        let (name, is_cut) = exact::name(self.screen, ink, name, self.extent);
        self.is_cut |= is_cut;
        name
    }

    /// The subject of a question: the arguments of the call, or the question of the tool.
    fn subject(&mut self, question: &Question, change: Option<&Result<FileChange, String>>) {
        let call = &question.tool_call;
        for change in &question.changes {
            self.text(&format!("the tool has changed: {change}"));
        }
        if question.kind == QuestionKind::Clarify {
            self.text(&question.question);
            return;
        }
        match change {
            Some(Ok(change)) if self.change(change) => return,
            Some(Err(problem)) => self.text(&format!("the call would fail: {problem}")),
            _ => {}
        }
        let count = call.args.len();
        for (index, (name, value)) in call.args.iter().enumerate() {
            let is_left_out = index >= FIRST && index + LAST < count;
            if self.extent == Extent::Ends && is_left_out {
                if index == FIRST {
                    self.note(&format!("{} arguments", count - FIRST - LAST));
                }
                self.is_cut = true;
                continue;
            }
            self.value(name, value);
        }
    }

    /// The change that a call makes to an existing file.
    fn change(&mut self, change: &FileChange) -> bool {
        let width = self.screen.room(9);
        let Some((shown, size)) = diff(self.screen, change, width, self.extent) else {
            return false;
        };
        self.captioned("path", &change.path);
        let size = self.screen.paint(Ink::Quiet, &format!(" ({size})"));
        self.line(format!("     diff:{size}"));
        self.rows("       ", &shown);
        true
    }

    /// A text in a block of its own.
    fn text(&mut self, text: &str) {
        let shown = exact::text(self.screen, text, self.screen.room(7), self.extent);
        if let Some(length) = shown.length.as_ref().filter(|_| shown.is_cut) {
            self.line(format!("     ({length})"));
        }
        self.rows("     ", &shown);
    }

    /// A named value: text unchanged, anything else as JSON.
    fn value(&mut self, name: &str, value: &Value) {
        let name = self.name(Ink::Plain, name);
        match value {
            Value::String(text) => self.captioned(&name, text),
            other => {
                let pretty = serde_json::to_string_pretty(other);
                self.captioned(&name, &pretty.unwrap_or_else(|_| other.to_string()));
            }
        }
    }

    fn captioned(&mut self, caption: &str, text: &str) {
        let shown = exact::text(self.screen, text, self.screen.room(9), self.extent);
        match (shown.rows.as_slice(), &shown.length) {
            ([], _) => self.line(format!("     {caption}: (empty)")),
            ([(only, _)], None) => self.line(format!("     {caption}: {only}")),
            (_, length) => {
                let length = length.as_ref().map(|length| format!(" ({length})"));
                let length = self.screen.paint(Ink::Quiet, &length.unwrap_or_default());
                self.line(format!("     {caption}:{length}"));
                self.rows("       ", &shown);
            }
        }
    }

    fn rows(&mut self, indent: &str, shown: &Shown) {
        self.lines.extend(rows(indent, &shown.rows));
        self.is_cut |= shown.is_cut;
    }

    fn note(&mut self, what: &str) {
        let note = format!("… {what} left out …");
        let note = self.screen.paint(Ink::Hidden, &note);
        self.line(format!("     {note}"));
    }

    /// Shows the lines: the first and the last, if they don't fit on the screen.
    fn show(mut self) -> Asked {
        let height = self.screen.height();
        let room = height.map_or(ROWS, |height| {
            height.saturating_sub(PROMPT_ROWS).max(FEWEST)
        });
        let tall = |lines: &[String]| -> usize {
            lines.iter().map(|line| self.screen.rows_of(line)).sum()
        };
        if self.extent == Extent::Ends && tall(&self.lines) > room {
            let fitting = |room: usize, lines: &mut dyn Iterator<Item = &String>| {
                let mut used = 0;
                let fits = lines.take_while(|line| {
                    used += self.screen.rows_of(line);
                    used <= room
                });
                fits.count().max(1)
            };
            let head = fitting(room / 2, &mut self.lines.iter());
            let tail = fitting(room - room / 2 - 1, &mut self.lines.iter().rev());
            if head + tail < self.lines.len() {
                let rest = self.lines.split_off(self.lines.len() - tail);
                let left_out = self.lines.len() - head;
                self.lines.truncate(head);
                self.note(&format!("{left_out} rows"));
                self.lines.extend(rest);
                self.is_cut = true;
            }
        }
        for line in &self.lines {
            self.screen.line(line);
        }
        Asked {
            is_cut: self.is_cut,
            is_tall: height.is_some_and(|height| {
                let rows = self.lines.iter().map(|line| self.screen.rows_of(line));
                rows.sum::<usize>() + PROMPT_ROWS > height
            }),
        }
    }
}

fn rows(indent: &str, rows: &[(String, bool)]) -> Vec<String> {
    let rows = rows.iter().map(|(row, continues)| {
        // A wrapped line is marked as such.
        let bar = if *continues { "┊" } else { "│" };
        format!("{indent}{bar} {row}")
    });
    rows.collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::screen::Stream;
    use super::*;

    #[test]
    fn truth_whatever_is_left_out_can_be_shown() {
        let asked = |args: Value| {
            let question = json!({
                "confirmation_id": "q",
                "kind": "confirm",
                "question": "?",
                "tool_call": {"id": "c", "name": "shell", "args": args},
            });
            let question: Question = serde_json::from_value(question).unwrap();
            let screen = Screen::new(Stream::Nowhere);
            [Extent::Ends, Extent::Whole]
                .map(|extent| show_question(&screen, &question, None, extent).is_cut)
        };
        let long = format!("{} --force {}", "K".repeat(60), "K".repeat(150));
        assert_eq!(asked(json!({ long: "8" })), [true, false]);
        assert_eq!(asked(json!({ "short": "8" })), [false, false]);
        let several: serde_json::Map<String, Value> = (0..20)
            .map(|n| (format!("a{n}"), json!("x\n".repeat(30))))
            .collect();
        assert_eq!(asked(Value::Object(several)), [true, false]);
    }
}
