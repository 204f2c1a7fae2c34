//! Reports as web pages: one file, no scripts, nothing from elsewhere.

mod plots;

use enact_core::Values;
use enact_core::model::Usage;
use maud::{Markup, PreEscaped, html};
use serde_json::Value;

use crate::compare::{Comparison, Unit};
use crate::criteria::Criterion;
use crate::report::Report;
use crate::trial::{Status, Trial};

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

/// A report as a page.
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

/// Two reports side by side, as a page.
pub fn comparison(
    comparison: &Comparison,
    (first_name, first): (&str, &Report),
    (second_name, second): (&str, &Report),
) -> String {
    let title = format!("{first_name} and {second_name}");
    let shown = |unit: Unit, value: Option<f64>, sign: &str| match value {
        None => "–".to_owned(),
        Some(value) => {
            let sign = if value > 0.0 { sign } else { "" };
            match unit {
                Unit::Share => format!("{sign}{}", percent(value)),
                Unit::Seconds => format!("{sign}{value:.2} s"),
                Unit::Count => format!("{sign}{value:.0}"),
                Unit::Cost => format!("{sign}{value:.4}"),
            }
        }
    };
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
                    td class="n" { (shown(row.unit, row.first, "")) }
                    td class="n" { (shown(row.unit, row.second, "")) }
                    td class="n" { (shown(row.unit, row.difference(), "+")) }
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

/// Markup without what is not allowed in a page, and without what turns the direction of the text
/// that follows it.
fn tamed(PreEscaped(markup): Markup) -> String {
    let is_wild = |c: char| {
        c.is_control() && !matches!(c, '\n' | '\t')
            || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    markup.replace(is_wild, "\u{fffd}").replace('\'', "&#39;")
}

fn summary(report: &Report) -> Markup {
    let row = |name: &str, value: &str, basis: &str| {
        html! { tr { td { (name) } td class="n" { (value) } td { (basis) } } }
    };
    let spent = |who: &str, usage: &Usage, price: Option<f64>| {
        let total = usage.input_tokens + usage.output_tokens;
        let basis = format!(
            "{} in ({} cached), {} out, {} requests",
            usage.input_tokens, usage.cached_input_tokens, usage.output_tokens, usage.requests
        );
        let price = price.map_or("unknown".to_owned(), |price| format!("{price:.4}"));
        html! {
            (row(&format!("tokens{who}"), &total.to_string(), &basis))
            (row(&format!("cost{who}"), &price, ""))
        }
    };
    let accuracy = report.accuracy.as_ref().map(|accuracy| {
        let basis = format!(
            "{} of {}; 95 % interval {} to {}; mean score {:.3}",
            accuracy.share.hits,
            accuracy.share.of,
            percent(accuracy.low),
            percent(accuracy.high),
            accuracy.mean_score
        );
        row("accuracy", &percent(accuracy.value), &basis)
    });
    let latency = report.latency.as_ref().map(|latency| {
        let basis = format!("p90 {:.2} s, p99 {:.2} s", latency.p90, latency.p99);
        row("latency, p50", &format!("{:.2} s", latency.p50), &basis)
    });
    let counts = &report.counts;
    let basis = format!(
        "{} finished, {} failed, {} wait for a person, {} could not be scored, {} not tried",
        counts.finished, counts.failed, counts.paused, counts.unscored, counts.untried
    );
    html! {
        table {
            @if let Some(accuracy) = accuracy { (accuracy) }
            @for met in &report.criteria { (criterion(met)) }
            @if let Some(latency) = latency { (latency) }
            (spent("", &report.usage, report.cost))
            @if report.judge_usage.requests > 0 {
                (spent(" of the judge", &report.judge_usage, report.judge_cost))
            }
            (row("examples", &counts.examples.to_string(), &basis))
        }
    }
}

fn criterion(criterion: &Criterion) -> Markup {
    html! {
        tr {
            td { (criterion.name) }
            td class="n" { (criterion.value.map_or("–".to_owned(), percent)) }
            td {
                @match criterion.is_met {
                    Some(true) => span class="good" { "met" },
                    Some(false) => span class="bad" { "not met" },
                    None => { "not known" },
                }
                " (" (maud::display(criterion.goal)) ") " (criterion.basis)
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
    let (class, word) = match (trial.status, trial.passed()) {
        (Status::Paused, _) => ("quiet", "waits for a person"),
        (Status::Failed, _) => ("bad", "failed"),
        (Status::Finished, _) if trial.is_unscored() => ("quiet", "could not be scored"),
        (Status::Finished, Some(true)) => ("good", "passed"),
        (Status::Finished, Some(false)) => ("bad", "not passed"),
        (Status::Finished, None) => ("quiet", "done"),
    };
    html! { span class=(class) { (word) } }
}

/// All that is known of a trial, to be unfolded.
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

/// What both sides gave for these examples.
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

/// A share in percent.
fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}
