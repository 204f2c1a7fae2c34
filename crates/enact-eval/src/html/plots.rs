//! Plots as inline SVG.

use maud::{Markup, html};

use crate::statistics::float;
use crate::trial::{Status, Trial};

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 160.0;
/// Space for the labels beneath a plot and above it.
const LABEL: f64 = 18.0;
const BINS: usize = 20;
/// The number of squares in a row.
const PER_ROW: usize = 48;
const SQUARE: f64 = 15.0;

/// A square for each example, in the order of the dataset.
pub(super) fn outcomes(trials: &[Trial]) -> Markup {
    let rows = trials.len().div_ceil(PER_ROW).max(1);
    let shapes = html! {
        @for (index, trial) in trials.iter().enumerate() {
            @let x = SQUARE * count(index % PER_ROW);
            @let y = SQUARE * count(index / PER_ROW);
            @let (colour, word) = match (trial.status, trial.passed()) {
                (Status::Finished, Some(true)) => ("#2da44e", "passed"),
                (Status::Finished, Some(false)) => ("#cf222e", "not passed"),
                (Status::Finished, None) => ("#8c959f", "done"),
                (Status::Failed, _) => ("#6e2b00", "failed"),
                (Status::Paused, _) => ("#bf8700", "waits for a person"),
            };
            rect x=(x) y=(y) width=(SQUARE - 3.0) height=(SQUARE - 3.0) fill=(colour) {
                title { (trial.id) ": " (word) }
            }
        }
    };
    html! {
        (svg(SQUARE * count(rows), "Outcome of each example", shapes))
        p class="quiet" {
            "Green: passed. Red: not passed. Brown: failed. Yellow: waits for a person. Grey: "
            "nothing was expected."
        }
    }
}

/// A histogram of the durations.
pub(super) fn latency(trials: &[Trial]) -> Markup {
    let over = trials.iter().filter(|trial| trial.is_over());
    let seconds: Vec<f64> = over.map(|trial| trial.figures.seconds).collect();
    let longest = seconds.iter().copied().fold(0.0, f64::max);
    if seconds.is_empty() || longest <= 0.0 {
        return nothing();
    }
    let mut bins = [0_usize; BINS];
    for taken in &seconds {
        let share = taken / longest * count(BINS);
        // The longest belongs in the last bin.
        let bin = (0..BINS).rev().find(|bin| share >= count(*bin));
        bins[bin.unwrap_or(0)] += 1;
    }
    let bars: Vec<Bar> = bins
        .iter()
        .enumerate()
        .map(|(index, runs)| {
            let from = longest * count(index) / count(BINS);
            let to = longest * count(index + 1) / count(BINS);
            Bar {
                parts: vec![(count(*runs), "#0969da")],
                title: format!("{runs} runs from {from:.2} s to {to:.2} s"),
            }
        })
        .collect();
    let most = bins.iter().max().copied().unwrap_or(0);
    let top = format!("{most} runs");
    let right = format!("{longest:.2} s");
    plot("How many runs took how long", &bars, [&top, "0 s", &right])
}

/// The tokens of each example, in the order of the dataset.
pub(super) fn tokens(trials: &[Trial]) -> Markup {
    let bars: Vec<Bar> = trials
        .iter()
        .map(|trial| {
            let usage = &trial.figures.usage;
            let (read, written) = (usage.input_tokens, usage.output_tokens);
            Bar {
                parts: vec![(float(read), "#0969da"), (float(written), "#bc4c00")],
                title: format!("{}: {read} tokens in, {written} out", trial.id),
            }
        })
        .collect();
    let most = bars.iter().map(Bar::total).fold(0.0, f64::max);
    let top = format!("{most:.0} tokens");
    let [left, right] =
        [trials.first(), trials.last()].map(|trial| trial.map_or("", |trial| trial.id.as_str()));
    html! {
        (plot("Tokens of each example", &bars, [&top, left, right]))
        p class="quiet" { "Blue: read. Orange: written." }
    }
}

struct Bar {
    /// Heights and colours, from the bottom.
    parts: Vec<(f64, &'static str)>,
    title: String,
}

impl Bar {
    fn total(&self) -> f64 {
        self.parts.iter().map(|(height, _)| height).sum()
    }
}

/// Bars under a title, with labels at the top, on the left and on the right.
fn plot(title: &str, bars: &[Bar], [top, left, right]: [&str; 3]) -> Markup {
    let most = bars.iter().map(Bar::total).fold(0.0, f64::max);
    if most <= 0.0 {
        return nothing();
    }
    let room = WIDTH / count(bars.len());
    let width = format!("{:.2}", (room * 0.85).min(40.0));
    let base = LABEL + HEIGHT;
    let shapes = html! {
        @for (index, bar) in bars.iter().enumerate() {
            g {
                @for (part, (value, colour)) in bar.parts.iter().enumerate() {
                    @let beneath: f64 = bar.parts[..=part].iter().map(|(value, _)| value).sum();
                    rect x=(format!("{:.2}", room * count(index)))
                        y=(format!("{:.2}", base - beneath / most * HEIGHT))
                        width=(width) height=(format!("{:.2}", value / most * HEIGHT))
                        fill=(colour) {}
                }
                title { (bar.title) }
            }
        }
        line x1="0" y1=(base) x2=(WIDTH) y2=(base) stroke="#8c959f" {}
        text x="0" y="12" { (top) }
        text x="0" y=(base + 14.0) { (short(left)) }
        text x=(WIDTH) y=(base + 14.0) text-anchor="end" { (short(right)) }
    };
    svg(HEIGHT + 2.0 * LABEL, title, shapes)
}

fn svg(height: f64, title: &str, shapes: Markup) -> Markup {
    html! {
        svg viewBox=(format!("0 0 {WIDTH} {height}")) width=(WIDTH) height=(height) role="img"
            aria-label=(title) { (shapes) }
    }
}

fn nothing() -> Markup {
    html! { p class="quiet" { "Nothing to show." } }
}

fn short(text: &str) -> String {
    match text.char_indices().nth(40) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn count(count: usize) -> f64 {
    float(count as u64)
}
