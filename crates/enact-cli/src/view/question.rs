//! A question to a person, in the one form in which it is shown everywhere.

use enact::Question;
use enact::run::QuestionKind;
use serde_json::Value;

use super::exact::{self, Extent, Shown};
use super::screen::{Ink, Screen};
use super::values::call_line;

/// The most arguments, at the beginning and at the end.
const FIRST: usize = 30;
const LAST: usize = 10;

/// Shows a question and what it is about. Tells whether something was left out.
pub(crate) fn show_question(screen: &Screen, question: &Question, extent: Extent) -> bool {
    let call = &question.tool_call;
    let name = exact::name(screen, Ink::Tool, &call.name);
    let mark = screen.paint(Ink::Question, "?");
    screen.line(&match question.kind {
        QuestionKind::InDoubt => format!(
            "   {mark} {name} had started when its process ended: did it happen? Run it again?"
        ),
        QuestionKind::Clarify => format!("   {mark} {name} asks:"),
        _ => format!("   {mark} may {name} run with these arguments?"),
    });
    show_subject(screen, question, extent)
}

/// Shows that a question waits for an answer, and the id by which it is answered.
pub(crate) fn show_waiting(screen: &Screen, question: &Question) {
    let call = &question.tool_call;
    let shown = screen.paint(Ink::Tool, &call_line(&call.name, &call.args));
    let name = exact::name(screen, Ink::Tool, &call.name);
    screen.line("");
    screen.line(&match question.kind {
        QuestionKind::InDoubt => {
            format!("waits for an answer: did {shown} happen? Run it again?")
        }
        QuestionKind::Clarify => format!("waits for an answer: {name} asks:"),
        _ => format!("waits for an answer: may {shown} run?"),
    });
    let id = format!("id: {}", question.confirmation_id);
    screen.line(&format!("     {}", screen.paint(Ink::Quiet, &id)));
    show_subject(screen, question, Extent::Ends);
}

/// Shows what a question is about: the arguments of the call, or what the tool asks.
fn show_subject(screen: &Screen, question: &Question, extent: Extent) -> bool {
    let call = &question.tool_call;
    for change in &question.changes {
        let change = format!("the tool has changed: {change}");
        let shown = exact::text(screen, &change, screen.room(7), Extent::Whole);
        show_rows(screen, "     ", &shown);
    }
    if question.kind == QuestionKind::Clarify {
        return show_text(screen, &question.question, extent);
    }
    let mut is_cut = false;
    let count = call.args.len();
    for (index, (name, value)) in call.args.iter().enumerate() {
        let is_left_out = index >= FIRST && index + LAST < count;
        if extent == Extent::Ends && is_left_out {
            if index == FIRST {
                let note = format!("… {} arguments left out …", count - FIRST - LAST);
                screen.line(&format!("     {}", screen.paint(Ink::Hidden, &note)));
            }
            is_cut = true;
            continue;
        }
        is_cut |= show_value(screen, name, value, extent);
    }
    is_cut
}

/// Shows a text in a block of its own. Tells whether something was left out.
fn show_text(screen: &Screen, text: &str, extent: Extent) -> bool {
    let shown = exact::text(screen, text, screen.room(7), extent);
    if let Some(length) = shown.length.as_ref().filter(|_| shown.is_cut) {
        screen.line(&format!("     ({length})"));
    }
    show_rows(screen, "     ", &shown);
    shown.is_cut
}

/// Shows a value by its name: text as it is, anything else as JSON.
pub(crate) fn show_value(screen: &Screen, name: &str, value: &Value, extent: Extent) -> bool {
    let name = exact::name(screen, Ink::Plain, name);
    let text = match value {
        Value::String(text) => text.clone(),
        other => serde_json::to_string_pretty(other).unwrap_or_else(|_| other.to_string()),
    };
    let shown = exact::text(screen, &text, screen.room(9), extent);
    match (shown.rows.as_slice(), &shown.length) {
        ([], _) => screen.line(&format!("     {name}: (empty)")),
        ([(only, _)], None) => screen.line(&format!("     {name}: {only}")),
        (_, length) => {
            let length = length.as_ref().map(|length| format!(" ({length})"));
            let length = screen.paint(Ink::Quiet, &length.unwrap_or_default());
            screen.line(&format!("     {name}:{length}"));
            show_rows(screen, "       ", &shown);
        }
    }
    shown.is_cut
}

fn show_rows(screen: &Screen, indent: &str, shown: &Shown) {
    for (row, continues) in &shown.rows {
        // A line that was broken here is one line there.
        let bar = if *continues { "┊" } else { "│" };
        screen.line(&format!("{indent}{bar} {row}"));
    }
}
