//! Reports as HTML: one file, without scripts or external resources.

mod plots;

use enact_core::Values;
use maud::{Markup, PreEscaped, html};
use serde_json::Value;

use crate::compare::Comparison;
use crate::report::Report;
use crate::trial::Trial;

const STYLE: &str = "\
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;\
color:#1f2328;background:#fff}\
h1{font-size:1.6rem}h2{font-size:1.2rem;margin-top:2rem}\
table{border-collapse:collapse;width:100%}\
th,td{text-align:left;vertical-align:top;padding:.3rem .6rem;border-bottom:1px solid #d0d7de}\
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}\
pre{white-space:pre-wrap;overflow-wrap:anywhere;margin:.2rem 0;font-size:.85rem}\
.good{color:#116329}.bad{color:#a40e26}.quiet{color:#59636e}\
svg{max-width:100%;height:auto}svg text{font:12px system-ui,sans-serif;fill:#59636e}\
details summary{cursor:pointer}";

/// A report as HTML.
pub fn report(report: &Report) -> String {
    let title = format!("{} on {}", report.model(), report.dataset);
    let made = format!("{} UTC", report.made.to_minute());
    let body = html! {
        h1 { (title) }
        p class="quiet" { "Evaluation " (report.evaluation_id) ", " (made) }
        (summary(report))
        h2 { "Examples by outcome" }
        (plots::outcomes(&report.trials))
        h2 { "Latency" }
        (plots::latency(&report.trials))
        h2 { "Tokens per example" }
        (plots::tokens(&report.trials))
        h2 { "Examples" }
        (examples(&report.trials))
        h2 { "Settings" }
        (values(&report.settings))
    };
    page(&title, body)
}

/// The comparison of two reports as HTML.
pub fn comparison(
    comparison: &Comparison,
    (first_name, first): (&str, &Report),
    (second_name, second): (&str, &Report),
) -> String {
    let title = format!("{first_name} and {second_name}");
    let body = html! {
        h1 { (title) }
        table {
            tr {
                th {}
                @for name in [first_name, second_name, "Difference"] { th class="n" { (name) } }
            }
            @for row in &comparison.rows {
                tr {
                    td { (row.name) }
                    td class="n" { (row.unit.shown(row.first, "")) }
                    td class="n" { (row.unit.shown(row.second, "")) }
                    td class="n" { (row.unit.shown(row.difference(), "+")) }
                }
            }
        }
        p {
            (comparison.common) " examples in common. Chance alone makes such a difference with a "
            "probability of " (format!("{:.4}", comparison.p_value)) " (McNemar's exact test)."
        }
        @for (ids, heading) in [
            (&comparison.fixed, "Passed only in the second"),
            (&comparison.broken, "Passed only in the first"),
        ] {
            h2 { (heading) ": " (ids.len()) }
            (changed(ids, first, second))
        }
        @if !comparison.different.is_empty() {
            h2 { "Not comparable" }
            p { (comparison.different.join(", ")) }
        }
    };
    page(&title, body)
}

fn page(title: &str, body: Markup) -> String {
    let [title, body] = [html! { title { (title) } }, body].map(tamed);
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\" />\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src \
         'unsafe-inline'\" /><meta name=\"viewport\" content=\"width=device-width\" />\
         {title}<style>{STYLE}</style></head><body>\n{body}\n</body></html>\n"
    )
}

/// Markup without characters that are invalid in HTML, and without those that change the direction of the
/// text that follows.
fn tamed(PreEscaped(markup): Markup) -> String {
    let is_wild = |c: char| {
        c.is_control() && !matches!(c, '\n' | '\t')
            || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    markup.replace(is_wild, "\u{fffd}").replace('\'', "&#39;")
}

fn summary(report: &Report) -> Markup {
    let counts = &report.counts;
    html! {
        table {
            @for line in report.lines(|count| count.to_string(), "") {
                tr {
                    td { (line.name) }
                    td class="n" { (line.value) }
                    td {
                        @if let Some((goal, is_met)) = line.goal {
                            @match is_met {
                                Some(true) => span class="good" { "met" },
                                Some(false) => span class="bad" { "not met" },
                                None => { "not known" },
                            }
                            " (" (maud::display(goal)) ") "
                        }
                        (line.basis)
                    }
                }
            }
            tr {
                td { "examples" }
                td class="n" { (counts.examples) }
                td {
                    (counts.finished) " finished, " (counts.failed) " failed, " (counts.paused)
                    " wait for a person, " (counts.unscored) " could not be scored, "
                    (counts.untried) " not tried"
                }
            }
        }
    }
}

fn examples(trials: &[Trial]) -> Markup {
    html! {
        table {
            tr {
                @for name in ["Example", "Outcome"] { th { (name) } }
                @for name in ["Score", "Steps", "Seconds", "Tokens"] { th class="n" { (name) } }
            }
            @for trial in trials {
                @let figures = &trial.figures;
                @let score = trial.score.as_ref().map(|score| format!("{:.2}", score.value));
                tr {
                    td { (details(trial)) }
                    td { (outcome(trial)) }
                    td class="n" { (score.as_deref().unwrap_or("–")) }
                    td class="n" { (figures.steps) }
                    td class="n" { (format!("{:.2}", figures.seconds)) }
                    td class="n" { (figures.usage.input_tokens + figures.usage.output_tokens) }
                }
            }
        }
    }
}

fn outcome(trial: &Trial) -> Markup {
    let class = match trial.outcome() {
        "passed" => "good",
        "failed" | "not passed" => "bad",
        _ => "quiet",
    };
    html! { span class=(class) { (trial.outcome()) } }
}

/// The details of a trial, collapsed.
fn details(trial: &Trial) -> Markup {
    let metric = trial.metric.as_ref().map_or("", |metric| metric.name());
    let reason = trial.score.as_ref().and_then(|score| score.reason.as_ref());
    let ended = trial
        .termination
        .map_or("not over", |reason| reason.as_str());
    html! {
        details {
            summary { (trial.id) }
            strong { "inputs" } (values(&trial.inputs))
            @if let Some(expected) = &trial.expected {
                strong { "expected (" (metric) ")" } (values(expected))
            }
            @if !trial.outputs.is_empty() { strong { "given" } (values(&trial.outputs)) }
            @if let Some(reason) = reason { strong { "why" } pre { (reason) } }
            @if let Some(fault) = &trial.fault {
                strong { "fault" } pre { (fault.kind) ": " (fault.message) }
            }
            strong { "run" } pre { (trial.run_id) " · " (ended) }
        }
    }
}

/// The results of both sides for these examples.
fn changed(ids: &[String], first: &Report, second: &Report) -> Markup {
    let given = |report: &Report, id: &String| {
        let trial = report.trials.iter().find(|trial| trial.id == *id);
        trial.map(details).unwrap_or_default()
    };
    html! {
        @if !ids.is_empty() {
            table {
                @for id in ids { tr { td { (given(first, id)) } td { (given(second, id)) } } }
            }
        }
    }
}

fn values(values: &Values) -> Markup {
    let lines = values.iter().map(|(name, value)| match value {
        Value::String(text) => format!("{name}: {text}"),
        other => format!("{name}: {other}"),
    });
    html! { pre { (lines.collect::<Vec<_>>().join("\n")) } }
}
