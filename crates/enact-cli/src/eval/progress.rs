//! The progress of an evaluation: a bar on a terminal, a line for each example elsewhere.

use std::time::Duration;

use enact_eval::Trial;
use indicatif::ProgressBar;

use crate::view::{Screen, Stream, text};

const BAR: &str = "{bar:24} {pos}/{len} · {msg}{elapsed}";
const TICK: Duration = Duration::from_millis(200);

/// Shows the progress of an evaluation.
pub(super) struct Progress {
    screen: Screen,
    bar: Option<ProgressBar>,
    count: usize,
    done: usize,
    skipped: usize,
    passed: usize,
    failed: usize,
}

impl Progress {
    pub(super) fn new(count: usize, is_quiet: bool) -> Self {
        let screen = Screen::new(match is_quiet {
            true => Stream::Nowhere,
            false => Stream::Stderr,
        });
        let bar = screen.bar(BAR, count as u64);
        if let Some(bar) = &bar {
            bar.enable_steady_tick(TICK);
        }
        Self {
            screen,
            bar,
            count,
            done: 0,
            skipped: 0,
            passed: 0,
            failed: 0,
        }
    }

    /// Reports an example that has just finished.
    pub(super) fn tell(&mut self, trial: &Trial) {
        self.count(trial);
        if self.bar.is_some() {
            return;
        }
        let (done, count) = (self.done, self.count);
        let figures = &trial.figures;
        let mut line = format!("{done}/{count} {}: {}", trial.id, trial.outcome());
        if figures.steps > 0 {
            let steps = text::counted(figures.steps as usize, "step");
            line.push_str(&format!(" · {steps} · {:.1} s", figures.seconds));
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

    /// Counts an example with an earlier result.
    pub(super) fn skip(&mut self, trial: &Trial) {
        self.skipped += 1;
        self.count(trial);
    }

    fn count(&mut self, trial: &Trial) {
        self.done += 1;
        match trial.passed() {
            Some(true) => self.passed += 1,
            Some(false) => self.failed += 1,
            None => {}
        }
        if let Some(bar) = &self.bar {
            let (passed, failed) = (self.passed, self.failed);
            bar.set_message(format!("{passed} passed, {failed} not · "));
            bar.inc(1);
        }
    }

    /// Ends the display.
    pub(super) fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
        let skipped = self.skipped;
        if skipped > 0 {
            let were = if skipped == 1 { "was" } else { "were" };
            let count = text::counted(skipped, "example");
            let line = format!("{count} {were} done before and not run again");
            self.screen.line(&line);
        }
    }
}
