//! The person at the terminal, who is asked before a tool runs that wants it.

use std::io::IsTerminal as _;

use enact::run::{Event, QuestionKind};
use enact::{CancellationToken, Decision, Question, Run};
use serde_json::Value;

use crate::editor::{Editor, Prompt, Recall};
use crate::line::{self, Line};
use crate::view::{Ink, Narrator, Screen, Stream, output_lines, text};

/// The most lines of one argument that a question shows.
const ARGUMENT_LINES: usize = 40;

/// Who is asked.
#[derive(Debug)]
pub(crate) enum Person {
    /// Someone who sees what the narrator tells.
    Watching,
    /// Someone whose terminal shows only the questions.
    Elsewhere(Screen),
    /// Someone in a conversation, who sees what the narrator tells and edits what they type.
    Talking(Editor),
    /// A pipe, in a demonstration: when nothing comes any more, the answer is yes.
    Pipe,
    /// No one.
    Nobody,
}

/// What came of asking.
#[derive(Debug, PartialEq)]
pub(crate) enum Answer {
    Decided(Decision),
    /// There is no one to ask.
    Nobody,
    /// The run is to be cancelled.
    Interrupted,
}

impl Person {
    /// The person at this terminal, if there is one who can read questions and type answers.
    pub(crate) fn here(narrator: &Narrator) -> Self {
        if !std::io::stdin().is_terminal() {
            return Self::Nobody;
        }
        if narrator.screen().is_terminal() {
            return Self::Watching;
        }
        let stderr = Screen::new(Stream::Stderr);
        if stderr.is_terminal() {
            Self::Elsewhere(stderr)
        } else {
            Self::Nobody
        }
    }

    /// Whether there is someone to ask.
    pub(crate) fn is_there(&self) -> bool {
        !matches!(self, Self::Nobody)
    }

    fn screen<'a>(&'a self, narrator: &'a Narrator) -> &'a Screen {
        match self {
            Self::Elsewhere(screen) => screen,
            Self::Watching | Self::Talking(_) | Self::Pipe | Self::Nobody => narrator.screen(),
        }
    }

    /// Asks until there is a decision, or no one who could make it.
    pub(crate) async fn ask(
        &self,
        narrator: &Narrator,
        run: &Run,
        question: &Question,
        interrupted: &CancellationToken,
    ) -> Answer {
        if !self.is_there() {
            return Answer::Nobody;
        }
        narrator.screen().idle();
        let screen = self.screen(narrator);
        show(screen, question);
        if matches!(self, Self::Elsewhere(_)) {
            show_thought(screen, run);
        }
        // The first argument as the example: an edit names those that change.
        let argument = question.tool_call.args.keys().next();
        let argument = text::one_line(argument.map_or("argument", String::as_str));
        let prompt = match question.kind {
            QuestionKind::InDoubt => {
                "[y]es, run it again / [n]o, it did not happen / happened RESULT:".to_owned()
            }
            QuestionKind::Clarify => "your answer:".to_owned(),
            _ => {
                format!("[y]es / [n]o / [a]lways / edit {{\"{argument}\": …}} / or type feedback:")
            }
        };
        loop {
            let typed = match (self.read_line(screen, &prompt, interrupted).await, self) {
                (Line::Interrupted | Line::Cleared, _) => return Answer::Interrupted,
                (Line::End, Self::Pipe) => {
                    screen.line("yes");
                    screen.line(
                        "   (Nobody is there to ask. This is a demo in a throw-away folder, so it \
                         answers yes itself.)",
                    );
                    return Answer::Decided(question.read("yes"));
                }
                (Line::End, _) => return Answer::Nobody,
                (Line::Typed(typed), Self::Pipe) => {
                    // What comes through a pipe was not seen by whoever reads the output.
                    screen.line(&text::one_line(&typed));
                    typed
                }
                (Line::Typed(typed), _) => typed,
            };
            match decision(&typed, question) {
                Ok(decision) => return Answer::Decided(decision),
                Err(problem) => self.refuse(narrator, &problem),
            }
        }
    }

    async fn read_line(
        &self,
        screen: &Screen,
        prompt: &str,
        interrupted: &CancellationToken,
    ) -> Line {
        let prompt = Prompt::new(screen, Ink::Question, &format!("   {prompt} "));
        let Self::Talking(editor) = self else {
            screen.write(prompt.styled());
            let line = line::read(interrupted).await;
            if line == Line::Interrupted || (line == Line::End && !matches!(self, Self::Pipe)) {
                // Nobody ended the line of the prompt.
                screen.line("");
            }
            return line;
        };
        let line = editor.read(prompt, Recall::No).await;
        // While a line is edited, Ctrl-C is a key like others and no signal.
        if matches!(line, Line::Interrupted | Line::Cleared) {
            interrupted.cancel();
        }
        line
    }

    /// Says why an answer does not do.
    pub(crate) fn refuse(&self, narrator: &Narrator, problem: &str) {
        let screen = self.screen(narrator);
        for line in text::lines(problem, screen.room(3)) {
            screen.line(&format!("   {}", screen.paint(Ink::Bad, &line)));
        }
    }
}

fn show(screen: &Screen, question: &Question) {
    let call = &question.tool_call;
    let name = screen.paint(Ink::Tool, &text::one_line(&call.name));
    let mark = screen.paint(Ink::Question, "?");
    screen.line(&match question.kind {
        QuestionKind::InDoubt => format!(
            "   {mark} {name} had started when its process ended: did it happen? Run it again?"
        ),
        QuestionKind::Clarify => format!("   {mark} {name} asks:"),
        _ => format!("   {mark} may {name} run with these arguments?"),
    });
    for change in changes(question) {
        for line in text::lines(&change, screen.room(5)) {
            screen.line(&format!("     {}", screen.paint(Ink::Bad, &line)));
        }
    }
    if question.kind == QuestionKind::Clarify {
        for line in text::lines(&question.question, screen.room(5)) {
            screen.line(&format!("     {line}"));
        }
        return;
    }
    for (name, value) in &call.args {
        let name = text::one_line(name);
        let mut lines = output_lines(value, screen.room(9));
        // A person agrees to what they see: what they do not see is counted.
        if lines.len() > ARGUMENT_LINES {
            let more = lines.len() - ARGUMENT_LINES;
            lines.truncate(ARGUMENT_LINES);
            lines.push(format!("… {more} more lines"));
        }
        match lines.as_slice() {
            [] => screen.line(&format!("     {name}: (empty)")),
            [only] => screen.line(&format!("     {name}: {only}")),
            several => {
                screen.line(&format!("     {name}:"));
                for line in several {
                    screen.line(&format!("       │ {line}"));
                }
            }
        }
    }
}

/// What is new about the tool since the person was last asked about it, a line for each change.
pub(crate) fn changes(question: &Question) -> impl Iterator<Item = String> {
    let changes = question.changes.iter();
    changes.map(|change| format!("the tool has changed: {change}"))
}

fn show_thought(screen: &Screen, run: &Run) {
    let thought = run.events().rev().find_map(|event| match event {
        Event::Stepped(step) => Some(step.thought()),
        _ => None,
    });
    if let Some(thought) = thought.filter(|thought| !thought.trim().is_empty()) {
        for line in text::first_lines(thought.trim(), screen.room(5), ARGUMENT_LINES) {
            screen.line(&format!("     {}", screen.paint(Ink::Quiet, &line)));
        }
    }
}

/// Reads an answer. What looks like an edit and is none is an error: as feedback it would surprise
/// whoever typed it.
fn decision(typed: &str, question: &Question) -> Result<Decision, String> {
    let asked = &question.tool_call;
    let typed = typed.trim();
    let happened = typed.strip_prefix("happened").map(str::trim);
    if let (QuestionKind::InDoubt, Some(result)) = (question.kind, happened) {
        let result = if result.is_empty() {
            "It happened."
        } else {
            result
        };
        return Ok(Decision::Answer(result.to_owned()));
    }
    if typed.is_empty() {
        return Err("type an answer: nothing runs without one".to_owned());
    }
    if question.kind == QuestionKind::Clarify {
        return Ok(question.read(typed));
    }
    let is_always = matches!(typed.to_ascii_lowercase().as_str(), "a" | "always");
    if question.kind == QuestionKind::Confirm && is_always {
        return Ok(Decision::ApproveAlways);
    }
    let how = "to change arguments write: edit {\"argument\": \"new value\"}";
    if typed.starts_with('{') {
        return match question.read(typed) {
            Decision::Feedback(_) => Err(format!("this is no edit: {how}")),
            decision => Ok(decision),
        };
    }
    let edit = typed.strip_prefix("edit").map(str::trim_start);
    if let Some(json) = edit.filter(|rest| rest.is_empty() || rest.starts_with('{')) {
        let changes = match serde_json::from_str(json) {
            Ok(Value::Object(changes)) => changes,
            Ok(_) => return Err(format!("this is no edit: {how}")),
            Err(error) => return Err(format!("the edit is not JSON ({error}): {how}")),
        };
        let mut args = asked.args.clone();
        args.extend(changes);
        return Ok(Decision::Edit {
            name: asked.name.clone(),
            args,
        });
    }
    Ok(question.read(typed))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn asked(kind: &str) -> Question {
        serde_json::from_value(json!({
            "confirmation_id": "q",
            "kind": kind,
            "question": "?",
            "tool_call": {"id": "c", "name": "write_file", "args": {"path": "a", "content": "b"}},
        }))
        .unwrap()
    }

    #[test]
    fn what_happened_is_an_answer_only_where_it_is_asked() {
        for (kind, typed, expected) in [
            (
                "in_doubt",
                "happened wrote 3 bytes",
                Decision::Answer("wrote 3 bytes".to_owned()),
            ),
            (
                "in_doubt",
                "happened",
                Decision::Answer("It happened.".to_owned()),
            ),
            ("in_doubt", "y", Decision::Approve),
            (
                "confirm",
                "happened",
                Decision::Feedback("happened".to_owned()),
            ),
            ("confirm", "Always", Decision::ApproveAlways),
            (
                "in_doubt",
                "always",
                Decision::Feedback("always".to_owned()),
            ),
            ("clarify", "yes", Decision::Answer("yes".to_owned())),
            ("clarify", "{", Decision::Answer("{".to_owned())),
        ] {
            assert_eq!(
                decision(typed, &asked(kind)),
                Ok(expected),
                "{kind}: {typed}"
            );
        }
    }

    #[test]
    fn answers_are_read() {
        let edit = |args: Value| Decision::Edit {
            name: "write_file".to_owned(),
            args: serde_json::from_value(args).unwrap(),
        };
        for (typed, expected) in [
            (" Yes\n", Decision::Approve),
            ("n", Decision::Reject(None)),
            ("wait, yes?", Decision::Feedback("wait, yes?".to_owned())),
            (
                "edit it please",
                Decision::Feedback("edit it please".to_owned()),
            ),
            (
                r#"edit {"path": "c"}"#,
                edit(json!({"path": "c", "content": "b"})),
            ),
            (
                r#"{"edit": {"args": {"path": "c", "content": "d"}}}"#,
                edit(json!({"path": "c", "content": "d"})),
            ),
        ] {
            assert_eq!(decision(typed, &asked("confirm")), Ok(expected), "{typed}");
        }
    }

    #[test]
    fn what_looks_like_an_edit_is_never_feedback() {
        for typed in [
            "",
            "  ",
            "edit",
            "edit {",
            r#"edit {"path": }"#,
            r#"{"path": "c"}"#,
            "{",
        ] {
            assert!(decision(typed, &asked("confirm")).is_err(), "{typed}");
        }
    }
}
