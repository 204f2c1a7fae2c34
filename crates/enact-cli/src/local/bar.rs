//! Progress bars on a terminal.

use enact_models::Progress;
use indicatif::ProgressBar;

use crate::view::{Screen, Stream};

const BYTES: &str =
    "{msg} {bar:24} {decimal_bytes}/{decimal_total_bytes} · {decimal_bytes_per_sec} · {eta}";

/// A bar on standard error, or nothing without a terminal.
#[derive(Clone)]
pub(super) struct Bar(Option<ProgressBar>);

impl Bar {
    /// A bar that counts bytes.
    pub(super) fn of_bytes(what: &'static str) -> Self {
        Self::drawn(what, BYTES)
    }

    fn drawn(what: &'static str, template: &str) -> Self {
        let bar = Screen::new(Stream::Stderr).bar(template, 0);
        Self(bar.map(|bar| bar.with_message(what)))
    }

    pub(super) fn tell(&self, progress: Progress) {
        if let Some(bar) = &self.0 {
            bar.set_length(progress.total);
            bar.set_position(progress.done);
        }
    }

    /// Removes the bar.
    pub(super) fn end(&self) {
        if let Some(bar) = &self.0 {
            bar.finish_and_clear();
        }
    }
}

#[cfg(feature = "local")]
impl Bar {
    /// A bar that counts per cent.
    pub(super) fn of_percent(what: &'static str) -> Self {
        Self::drawn(what, "{msg} {bar:24} {percent} %")
    }

    /// Sets the completed part, from 0 to 1.
    pub(super) fn tell_part(&self, part: f32) {
        self.tell(Progress {
            done: (f64::from(part.clamp(0.0, 1.0)) * 100.0) as u64,
            total: 100,
        });
    }
}
