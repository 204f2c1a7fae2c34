//! The person at the terminal, who is asked before tools that require it run.

use std::io::IsTerminal as _;
use std::time::Duration;

use enact::run::QuestionKind;
use enact::{CancellationToken, Decision, Question, Run};

use crate::editor::{Editor, Prompt, Recall};
use crate::line::{self, Line};
use crate::tools::preview;
use crate::view::exact::{self, Extent};
use crate::view::{Ink, Narrator, Screen, Stream, show_question, show_thought, text};

/// How long a question is shown before an answer is accepted: earlier keys belong to what was typed
/// before.
const GLANCE: Duration = Duration::from_millis(250);

/// Who answers questions.
#[derive(Debug)]
pub(crate) enum Person {
    /// A user who sees the steps.
    Watching,
    /// A user whose terminal shows only the questions.
    Elsewhere(Screen),
    /// A user in a conversation, who sees the steps and edits lines.
    Talking(Editor),
    /// A pipe, in the demo: at its end, the answer is yes.
    Pipe,
    /// No one.
    Nobody,
}

/// The result of asking.
#[derive(Debug, PartialEq)]
pub(crate) enum Answer {
    Decided(Decision),
    /// There is no one to ask.
    Nobody,
    /// The run is to be cancelled.
    Interrupted,
}

impl Person {
    /// The user at this terminal, if they can read questions and type answers.
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

    pub(crate) fn screen<'a>(&'a self, narrator: &'a Narrator) -> &'a Screen {
        match self {
            Self::Elsewhere(screen) => screen,
            Self::Watching | Self::Talking(_) | Self::Pipe | Self::Nobody => narrator.screen(),
        }
    }

    /// Asks until there is a decision, or no one who can make it.
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
        if matches!(self, Self::Elsewhere(_)) {
            show_thought(screen, thought(run));
        }
        let change = preview::change(run, question).await;
        let mut asked = show_question(screen, question, change.as_ref(), Extent::Ends);
        // The first argument as an example: an edit contains the arguments to change.
        let argument = question.tool_call.args.keys().next();
        let argument = exact::spelled_out(argument.map_or("argument", String::as_str));
        let argument = text::ends(&argument, 30);
        let prompt = match question.kind {
            QuestionKind::InDoubt => {
                "[y]es, run it again / [n]o, it did not happen / happened RESULT:".to_owned()
            }
            QuestionKind::Clarify => "your answer:".to_owned(),
            _ => {
                format!("[y]es / [n]o / [a]lways / edit {{\"{argument}\": …}} / or type feedback:")
            }
        };
        let name = exact::identifier(&question.tool_call.name);
        let name = exact::spelled_out(&name);
        let name = text::ends(&name, 40);
        loop {
            let mut prompt = match asked.is_cut {
                true => format!("[s]how all / {prompt}"),
                false => prompt.clone(),
            };
            // The question may have scrolled out of view.
            if asked.is_tall {
                prompt = format!("{name}: {prompt}");
            }
            let typed = match (self.read_line(screen, &prompt, interrupted).await, self) {
                (Line::Interrupted | Line::Cleared, _) => return Answer::Interrupted,
                (Line::End, Self::Pipe) => {
                    screen.line("yes");
                    screen.line(
                        "   (No one can answer here. This is a demo in a temporary directory, so it \
                         answers yes itself.)",
                    );
                    return Answer::Decided(Decision::Approve);
                }
                (Line::End, _) => return Answer::Nobody,
                (Line::Typed(typed), Self::Pipe) => {
                    // Piped input was written before the output could be seen.
                    screen.line(&text::one_line(&typed));
                    typed
                }
                (Line::Typed(typed), _) => typed,
            };
            let wants_all = matches!(typed.trim().to_ascii_lowercase().as_str(), "s" | "show");
            if asked.is_cut && wants_all {
                asked = show_question(screen, question, change.as_ref(), Extent::Whole);
                continue;
            }
            match decision(&typed, question) {
                Ok(decision) => return Answer::Decided(decision),
                Err(problem) => self.refuse(narrator, &problem),
            }
        }
    }

    /// Asks for yes or no. Anything else is not an agreement.
    pub(crate) async fn agrees(
        &self,
        narrator: &Narrator,
        prompt: &str,
        interrupted: &CancellationToken,
    ) -> bool {
        let screen = self.screen(narrator);
        while let Line::Typed(typed) = self.read_line(screen, prompt, interrupted).await {
            match typed.trim().to_ascii_lowercase().as_str() {
                "y" | "yes" => return true,
                "n" | "no" => return false,
                _ => self.refuse(narrator, "type yes or no"),
            }
        }
        false
    }

    async fn read_line(
        &self,
        screen: &Screen,
        prompt: &str,
        interrupted: &CancellationToken,
    ) -> Line {
        if !matches!(self, Self::Pipe) {
            // Keys pressed before the question was shown don't answer it.
            tokio::select! {
                biased;
                () = interrupted.cancelled() => return Line::Interrupted,
                () = tokio::time::sleep(GLANCE) => line::forget_typed(),
            }
        }
        let prompt = Prompt::new(screen, Ink::Question, &format!("   {prompt} "));
        let Self::Talking(editor) = self else {
            screen.write(prompt.styled());
            let line = line::read(interrupted).await;
            if line == Line::Interrupted || (line == Line::End && !matches!(self, Self::Pipe)) {
                // The line of the prompt has not been ended.
                screen.line("");
            }
            return line;
        };
        let line = editor.read(prompt, Recall::No).await;
        // While a line is edited, Ctrl-C is an ordinary key and not a signal.
        if matches!(line, Line::Interrupted | Line::Cleared) {
            interrupted.cancel();
        }
        line
    }

    /// Shows why an answer was not accepted.
    pub(crate) fn refuse(&self, narrator: &Narrator, problem: &str) {
        let screen = self.screen(narrator);
        for line in text::lines(problem, screen.room(3)) {
            screen.line(&format!("   {}", screen.paint(Ink::Bad, &line)));
        }
    }
}

/// The last thought of the model.
fn thought(run: &Run) -> &str {
    run.steps().last().map_or("", |step| step.thought())
}

/// Parses an answer.
fn decision(typed: &str, question: &Question) -> Result<Decision, String> {
    let typed = typed.trim();
    if typed.is_empty() {
        return Err("type an answer: nothing runs without one".to_owned());
    }
    let mut words = typed.splitn(2, char::is_whitespace);
    let first = words.next().unwrap_or_default().to_ascii_lowercase();
    let rest = words.next().map(str::trim);
    match (question.kind, first.as_str(), rest) {
        (QuestionKind::InDoubt, "happened", rest) => {
            let result = rest.unwrap_or("It happened.");
            Ok(Decision::Answer(result.to_owned()))
        }
        (QuestionKind::Confirm, "a" | "always", None) => Ok(Decision::ApproveAlways),
        _ => question.read(typed).map_err(|error| error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

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
            ("yes.", Decision::Feedback("yes.".to_owned())),
            ("OK", Decision::Feedback("OK".to_owned())),
            ("a lot", Decision::Feedback("a lot".to_owned())),
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
            "edit nonsense",
            "Edit nonsense",
            r#"edit {"path": }"#,
            r#"{"path": "c"}"#,
            "{",
        ] {
            assert!(decision(typed, &asked("confirm")).is_err(), "{typed}");
        }
    }
}
