//! Where lines go: a terminal with colours and a spinner, a pipe, or nowhere.

use std::io::{IsTerminal as _, Write as _};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use console::{Style, Term, measure_text_width};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::text;

/// The maximum width of lines, for readability.
const MAX_WIDTH: usize = 100;
const TICK: Duration = Duration::from_millis(100);

/// A stream for people.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stream {
    Stdout,
    Stderr,
    Nowhere,
}

/// The kind of a piece of text, which determines its colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ink {
    Strong,
    Quiet,
    Tool,
    Good,
    Bad,
    Question,
    /// The terminal's default.
    Plain,
    Emphasis,
    /// Stands for something invisible.
    Hidden,
}

/// A stream and its properties.
#[derive(Debug)]
pub(crate) struct Screen {
    stream: Stream,
    has_colour: bool,
    /// The width of the terminal; none in a pipe.
    width: Option<usize>,
    /// The rows and columns of the terminal; none in a pipe.
    size: Option<(usize, usize)>,
    /// Whether a spinner can be drawn.
    moves: bool,
    spinner: Mutex<Option<ProgressBar>>,
}

impl Screen {
    pub(crate) fn new(stream: Stream) -> Self {
        let (is_terminal, term) = match stream {
            Stream::Stdout => (std::io::stdout().is_terminal(), Term::stdout()),
            Stream::Stderr => (std::io::stderr().is_terminal(), Term::stderr()),
            Stream::Nowhere => (false, Term::stderr()),
        };
        let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let no_colour = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        Self {
            stream,
            has_colour: is_terminal && !is_dumb && !no_colour,
            width: is_terminal.then(|| usize::from(term.size().1).clamp(40, MAX_WIDTH)),
            size: is_terminal.then(|| {
                let (rows, columns) = term.size();
                let or = |size: u16, usual| if size == 0 { usual } else { usize::from(size) };
                (or(rows, 24), or(columns, 80))
            }),
            moves: is_terminal && !is_dumb,
            spinner: Mutex::new(None),
        }
    }

    /// This screen without colours, spinner or live lines.
    pub(crate) fn plain(mut self) -> Self {
        self.has_colour = false;
        self.moves = false;
        self
    }

    /// Whether it supports colours and other styles.
    pub(crate) fn has_colour(&self) -> bool {
        self.has_colour
    }

    /// Whether lines are written at all.
    pub(crate) fn is_anywhere(&self) -> bool {
        self.stream != Stream::Nowhere
    }

    /// Whether it is a terminal.
    pub(crate) fn is_terminal(&self) -> bool {
        self.width.is_some()
    }

    /// Whether written lines can be replaced.
    pub(crate) fn moves(&self) -> bool {
        self.moves
    }

    /// Replaces everything on the screen with these lines.
    pub(crate) fn redraw(&self, lines: &[String]) {
        self.write(&format!("\u{1b}[H\u{1b}[2J{}\n", lines.join("\n")));
    }

    /// The number of rows; none in a pipe.
    pub(crate) fn height(&self) -> Option<usize> {
        Some(self.size?.0)
    }

    /// The number of rows that a line takes.
    pub(crate) fn rows_of(&self, line: &str) -> usize {
        let columns = self.size.map_or(usize::MAX, |(_, columns)| columns);
        measure_text_width(line).div_ceil(columns).max(1)
    }

    /// The width for text after an indent; none in a pipe, where lines are not wrapped.
    pub(crate) fn room(&self, indent: usize) -> Option<usize> {
        self.width.map(|width| width.saturating_sub(indent).max(20))
    }

    /// A text in its colour. The text must be sanitised already.
    pub(crate) fn paint(&self, ink: Ink, text: &str) -> String {
        let style = match ink {
            Ink::Strong => Style::new().bold(),
            Ink::Quiet => Style::new().dim(),
            Ink::Tool => Style::new().cyan(),
            Ink::Good => Style::new().green(),
            Ink::Bad => Style::new().red(),
            Ink::Question => Style::new().yellow().bold(),
            Ink::Emphasis => Style::new().italic(),
            Ink::Plain => return text.to_owned(),
            Ink::Hidden => Style::new().black().on_yellow(),
        };
        style
            .force_styling(self.has_colour)
            .apply_to(text)
            .to_string()
    }

    /// Writes one line.
    pub(crate) fn line(&self, line: &str) {
        self.write(&format!("{line}\n"));
    }

    /// Writes text unchanged, above the spinner if there is one.
    pub(crate) fn write(&self, text: &str) {
        match &*self.spinner() {
            Some(spinner) => spinner.suspend(|| self.send(text)),
            None => self.send(text),
        }
    }

    fn send(&self, text: &str) {
        // A closed pipe must not stop the run: it may have effects to finish.
        let _ = match self.stream {
            Stream::Stdout => {
                let mut stdout = std::io::stdout().lock();
                stdout
                    .write_all(text.as_bytes())
                    .and_then(|()| stdout.flush())
            }
            Stream::Stderr => std::io::stderr().lock().write_all(text.as_bytes()),
            Stream::Nowhere => Ok(()),
        };
    }

    /// Shows an activity until the next call. Only on a terminal.
    pub(crate) fn busy(&self, message: &str) {
        let template = match self.has_colour {
            true => "{spinner:.cyan} {wide_msg:.dim}",
            false => "{spinner} {wide_msg}",
        };
        self.draw(template, text::one_line(message));
    }

    /// Shows sanitised lines that are still being written, until the next call. Only on a
    /// terminal.
    pub(crate) fn live(&self, lines: &[String]) {
        self.draw("{msg}", lines.join("\n"));
    }

    fn draw(&self, template: &str, message: String) {
        if !self.moves {
            return;
        }
        let mut slot = self.spinner();
        match &*slot {
            Some(spinner) => {
                if let Ok(style) = ProgressStyle::with_template(template) {
                    spinner.set_style(style);
                }
                spinner.set_message(message);
            }
            None => {
                let spinner = self.drawn(template, None).with_message(message);
                spinner.enable_steady_tick(TICK);
                *slot = Some(spinner);
            }
        }
    }

    /// A progress bar of this length; none without a terminal.
    pub(crate) fn bar(&self, template: &str, length: u64) -> Option<ProgressBar> {
        self.is_terminal()
            .then(|| self.drawn(template, Some(length)))
    }

    fn drawn(&self, template: &str, length: Option<u64>) -> ProgressBar {
        let target = match self.stream {
            Stream::Stdout => ProgressDrawTarget::stdout(),
            Stream::Stderr => ProgressDrawTarget::stderr(),
            Stream::Nowhere => ProgressDrawTarget::hidden(),
        };
        let bar = ProgressBar::with_draw_target(length, target);
        match ProgressStyle::with_template(template) {
            Ok(style) => bar.with_style(style),
            Err(_) => bar,
        }
    }

    /// Removes the activity.
    pub(crate) fn idle(&self) {
        if let Some(spinner) = self.spinner().take() {
            spinner.finish_and_clear();
        }
    }

    fn spinner(&self) -> MutexGuard<'_, Option<ProgressBar>> {
        self.spinner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.idle();
    }
}
