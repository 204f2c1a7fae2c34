//! How far an evaluation is: a bar on a terminal, a line for each example elsewhere.

use std::cell::Cell;
use std::time::Duration;

use enact_eval::{Status, Trial};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::view::{Screen, Stream, text};

const BAR: &str = "{bar:24} {pos}/{len} · {msg}{elapsed}";
const TICK: Duration = Duration::from_millis(200);

/// Tells how far an evaluation is.
pub(super) struct Progress {
    screen: Screen,
    bar: Option<ProgressBar>,
    count: usize,
    done: Cell<usize>,
    skipped: Cell<usize>,
    passed: Cell<usize>,
    failed: Cell<usize>,
}

impl Progress {
    pub(super) fn new(count: usize) -> Self {
        let screen = Screen::new(Stream::Stderr);
        let bar = screen.is_terminal().then(|| {
            let length = Some(count as u64);
            let bar = ProgressBar::with_draw_target(length, ProgressDrawTarget::stderr());
            let bar = match ProgressStyle::with_template(BAR) {
                Ok(style) => bar.with_style(style),
                Err(_) => bar,
            };
            bar.enable_steady_tick(TICK);
            bar
        });
        Self {
            screen,
            bar,
            count,
            done: Cell::new(0),
            skipped: Cell::new(0),
            passed: Cell::new(0),
            failed: Cell::new(0),
        }
    }

    /// An example was tried just now.
    pub(super) fn tell(&self, trial: &Trial) {
        self.count(trial);
        if self.bar.is_some() {
            return;
        }
        let (done, count) = (self.done.get(), self.count);
        let figures = &trial.figures;
        let mut line = format!("{done}/{count} {}: {}", trial.id, verdict(trial));
        if figures.steps > 0 {
            let noun = if figures.steps == 1 { "step" } else { "steps" };
            line.push_str(&format!(
                " · {} {noun} · {:.1} s",
                figures.steps, figures.seconds
            ));
        }
        let fault = trial.fault.as_ref().map(|fault| fault.message.as_str());
        let score = trial.score.as_ref().filter(|score| !score.passed);
        let reason = score.and_then(|score| score.reason.as_deref());
        if let Some(why) = fault.or(reason) {
            line.push_str(&format!(" · {why}"));
        }
        let line = text::one_line(&line);
        self.screen.line(&text::clipped(&line, 300));
    }

    /// An example was done before.
    pub(super) fn skip(&self, trial: &Trial) {
        self.skipped.set(self.skipped.get() + 1);
        self.count(trial);
    }

    fn count(&self, trial: &Trial) {
        self.done.set(self.done.get() + 1);
        match trial.passed() {
            Some(true) => self.passed.set(self.passed.get() + 1),
            Some(false) => self.failed.set(self.failed.get() + 1),
            None => {}
        }
        if let Some(bar) = &self.bar {
            let (passed, failed) = (self.passed.get(), self.failed.get());
            bar.set_message(format!("{passed} passed, {failed} not · "));
            bar.inc(1);
        }
    }

    /// Nothing more comes.
    pub(super) fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
        let skipped = self.skipped.get();
        if skipped > 0 {
            let noun = if skipped == 1 {
                "example was"
            } else {
                "examples were"
            };
            self.screen
                .line(&format!("{skipped} {noun} done before, and not run again"));
        }
    }
}

fn verdict(trial: &Trial) -> &'static str {
    match (trial.status, trial.passed()) {
        (Status::Paused, _) => "waits for a person",
        (Status::Failed, _) => "failed",
        (Status::Finished, _) if trial.is_unscored() => "could not be scored",
        (Status::Finished, Some(true)) => "passed",
        (Status::Finished, Some(false)) => "not passed",
        (Status::Finished, None) => "done",
    }
}
