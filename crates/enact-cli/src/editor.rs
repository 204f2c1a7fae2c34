//! Lines typed at a terminal, with editing and history.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};

use rustyline::error::ReadlineError;
use rustyline::history::DefaultHistory;
use rustyline::{
    Cmd, CompletionType, ConditionalEventHandler, Config, Event, EventContext, EventHandler,
    KeyEvent, RepeatCount,
};
use tokio::sync::oneshot;

use crate::completion::Completion;
use crate::exit::Failure;
use crate::line::Line;
use crate::secrets;
use crate::view::{Ink, Screen};

/// How many lines are remembered.
const MAX_LINES: usize = 1_000;

/// A terminal where lines are typed. A separate thread waits for them.
#[derive(Debug, Clone)]
pub(crate) struct Editor {
    requests: mpsc::Sender<Request>,
}

#[derive(Debug)]
struct Request {
    prompt: Prompt,
    recall: Recall,
    reply: oneshot::Sender<Line>,
}

/// Whether a line is added to the history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Recall {
    Yes,
    No,
}

/// The text before a line.
#[derive(Debug)]
pub(crate) struct Prompt {
    plain: String,
    styled: String,
}

impl Prompt {
    pub(crate) fn new(screen: &Screen, ink: Ink, text: &str) -> Self {
        Self {
            plain: text.to_owned(),
            styled: screen.paint(ink, text),
        }
    }

    pub(crate) fn styled(&self) -> &str {
        &self.styled
    }
}

impl rustyline::Prompt for Prompt {
    fn raw(&self) -> &str {
        &self.plain
    }

    fn styled(&self) -> &str {
        &self.styled
    }
}

impl Editor {
    /// Takes over the terminal. Earlier lines are read from a file, if given, and `commands` are
    /// completed.
    pub(crate) fn start(
        file: Option<PathBuf>,
        commands: &'static [&'static str],
    ) -> Result<Self, Failure> {
        let (requests, received) = mpsc::channel();
        std::thread::Builder::new()
            .name("editor".to_owned())
            .spawn(move || match Typist::new(file, commands) {
                Ok(mut typist) => typist.serve(&received),
                Err(error) => warn(&format!("the terminal cannot be used: {error}")),
            })
            .map_err(|error| {
                Failure::failed("runtime", format!("no threads can be started: {error}"))
            })?;
        Ok(Self { requests })
    }

    /// Waits for a line.
    pub(crate) async fn read(&self, prompt: Prompt, recall: Recall) -> Line {
        let (reply, line) = oneshot::channel();
        let request = Request {
            prompt,
            recall,
            reply,
        };
        match self.requests.send(request) {
            Ok(()) => line.await.unwrap_or(Line::End),
            Err(_) => Line::End,
        }
    }
}

/// The state of the thread.
struct Typist {
    editor: rustyline::Editor<Completion, DefaultHistory>,
    /// The history file; none once it has failed.
    file: Option<PathBuf>,
    /// Whether the line was empty when Ctrl-C was pressed.
    was_empty: Arc<AtomicBool>,
}

impl Typist {
    fn new(file: Option<PathBuf>, commands: &'static [&'static str]) -> rustyline::Result<Self> {
        let config = Config::builder()
            .max_history_size(MAX_LINES)?
            .history_ignore_dups(true)?
            .completion_type(CompletionType::List)
            .build();
        let mut editor = rustyline::Editor::with_config(config)?;
        editor.set_helper(Some(Completion::of(commands)));
        let was_empty = Arc::new(AtomicBool::new(false));
        let noticing = EventHandler::Conditional(Box::new(Notice(Arc::clone(&was_empty))));
        editor.bind_sequence(KeyEvent::ctrl('C'), noticing);
        let mut typist = Self {
            editor,
            file,
            was_empty,
        };
        typist.with_file(|editor, file| match editor.load_history(file) {
            Err(ReadlineError::Io(error)) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
            loaded => loaded,
        });
        Ok(typist)
    }

    /// Reads a line for each request, until the requests end.
    fn serve(&mut self, requests: &mpsc::Receiver<Request>) {
        for request in requests {
            let line = self.read(&request);
            // The caller may be gone.
            let _ = request.reply.send(line);
        }
    }

    fn read(&mut self, request: &Request) -> Line {
        if let Some(completion) = self.editor.helper_mut() {
            completion.is_on = request.recall == Recall::Yes;
        }
        match self.editor.readline(&request.prompt) {
            Ok(line) => {
                if request.recall == Recall::Yes && !line.trim().is_empty() {
                    self.remember(&line);
                }
                Line::Typed(line)
            }
            Err(ReadlineError::Interrupted) if self.was_empty.load(Ordering::Relaxed) => {
                Line::Interrupted
            }
            Err(ReadlineError::Interrupted) => Line::Cleared,
            Err(ReadlineError::Eof) => Line::End,
            Err(error) => {
                warn(&format!("the terminal cannot be read: {error}"));
                Line::End
            }
        }
    }

    fn remember(&mut self, line: &str) {
        // The file contains plain text, so secrets must not be added.
        let line = secrets::redact(line);
        // A repeated line is not added twice.
        let _ = self.editor.add_history_entry(&line);
        self.with_file(|editor, file| editor.append_history(file));
    }

    /// Accesses the history file. Only the first and last failures are reported: the conversation
    /// matters more than its history.
    fn with_file(
        &mut self,
        work: impl FnOnce(
            &mut rustyline::Editor<Completion, DefaultHistory>,
            &Path,
        ) -> rustyline::Result<()>,
    ) {
        let Some(file) = &self.file else {
            return;
        };
        if let Err(error) = work(&mut self.editor, file) {
            let place = file.display();
            warn(&format!(
                "what you type will not be remembered: `{place}`: {error}"
            ));
            self.file = None;
        }
    }
}

fn warn(message: &str) {
    // If standard error fails, there is nowhere to report it.
    // One write, so that other output can't interleave.
    let line = format!("warning: {message}\n");
    let _ = std::io::stderr().lock().write_all(line.as_bytes());
}

/// Notes whether Ctrl-C cleared a line, without changing what it does.
struct Notice(Arc<AtomicBool>);

impl ConditionalEventHandler for Notice {
    fn handle(&self, _: &Event, _: RepeatCount, _: bool, context: &EventContext) -> Option<Cmd> {
        self.0.store(context.line().is_empty(), Ordering::Relaxed);
        None
    }
}
