//! Reports as web pages: one file, no scripts, nothing from elsewhere.

mod plots;
mod text;

use enact_core::Values;
use serde_json::Value;

use self::text::{element, escape, percent};
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
    let mut body = element(
        "h1",
        &escape(&format!("{} on {}", report.model(), report.dataset)),
    );
    body.push_str(&format!(
        "<p class=\"quiet\">Evaluation {}, {}</p>",
        escape(&report.evaluation_id),
        escape(&report.made.strftime("%Y-%m-%d %H:%M UTC").to_string())
    ));
    body.push_str(&summary(report));
    body.push_str(&element("h2", "Examples by outcome"));
    body.push_str(&plots::outcomes(&report.trials));
    body.push_str(&element("h2", "Latency"));
    body.push_str(&plots::latency(&report.trials));
    body.push_str(&element("h2", "Tokens per example"));
    body.push_str(&plots::tokens(&report.trials));
    body.push_str(&element("h2", "Examples"));
    body.push_str(&examples(&report.trials));
    body.push_str(&element("h2", "Settings"));
    body.push_str(&values(&report.settings));
    page(&format!("{} on {}", report.model(), report.dataset), &body)
}

/// Two reports side by side, as a page.
pub fn comparison(
    comparison: &Comparison,
    (first_name, first): (&str, &Report),
    (second_name, second): (&str, &Report),
) -> String {
    let title = format!("{first_name} and {second_name}");
    let mut body = element("h1", &escape(&title));
    let counted = [first_name, second_name, "Difference"].map(heading);
    let head = element("th", "") + &counted.concat();
    let mut rows = element("tr", &head);
    for row in &comparison.rows {
        let shown = |value: Option<f64>, sign: &str| match value {
            None => "–".to_owned(),
            Some(value) => {
                let sign = if value > 0.0 { sign } else { "" };
                match row.unit {
                    Unit::Share => format!("{sign}{}", percent(value)),
                    Unit::Seconds => format!("{sign}{value:.2} s"),
                    Unit::Count => format!("{sign}{value:.0}"),
                    Unit::Cost => format!("{sign}{value:.4}"),
                }
            }
        };
        rows.push_str(&element(
            "tr",
            &format!(
                "{}{}{}{}",
                element("td", &escape(&row.name)),
                number(&shown(row.first, "")),
                number(&shown(row.second, "")),
                number(&shown(row.difference(), "+"))
            ),
        ));
    }
    body.push_str(&element("table", &rows));
    body.push_str(&element(
        "p",
        &format!(
            "{} examples in common. Chance alone makes such a difference with a probability of \
             {:.4} (McNemar's exact test).",
            comparison.common, comparison.p_value
        ),
    ));
    for (ids, heading) in [
        (&comparison.fixed, "Passed only in the second"),
        (&comparison.broken, "Passed only in the first"),
    ] {
        body.push_str(&element("h2", &format!("{heading}: {}", ids.len())));
        body.push_str(&changed(ids, first, second));
    }
    if !comparison.different.is_empty() {
        body.push_str(&element("h2", "Not comparable"));
        body.push_str(&element("p", &escape(&comparison.different.join(", "))));
    }
    page(&title, &body)
}

fn page(title: &str, body: &str) -> String {
    let title = escape(title);
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\" />\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src \
         'unsafe-inline'\" /><meta name=\"viewport\" content=\"width=device-width\" />\
         <title>{title}</title><style>{STYLE}</style></head><body>\n{body}\n</body></html>\n"
    )
}

fn summary(report: &Report) -> String {
    let row = |name: &str, value: &str, basis: &str| {
        let cells = [
            element("td", &escape(name)),
            number(value),
            element("td", &escape(basis)),
        ];
        element("tr", &cells.concat())
    };
    let mut rows = String::new();
    if let Some(accuracy) = &report.accuracy {
        let basis = format!(
            "{} of {}; 95 % interval {} to {}; mean score {:.3}",
            accuracy.share.hits,
            accuracy.share.of,
            percent(accuracy.low),
            percent(accuracy.high),
            accuracy.mean_score
        );
        rows.push_str(&row("accuracy", &percent(accuracy.value), &basis));
    }
    rows.extend(report.criteria.iter().map(criterion));
    if let Some(latency) = &report.latency {
        let basis = format!("p90 {:.2} s, p99 {:.2} s", latency.p90, latency.p99);
        rows.push_str(&row(
            "latency, p50",
            &format!("{:.2} s", latency.p50),
            &basis,
        ));
    }
    let cost = |cost: Option<f64>| cost.map_or("unknown".to_owned(), |cost| format!("{cost:.4}"));
    let mut spent = |who: &str, usage: &enact_core::model::Usage, price: Option<f64>| {
        let total = usage.input_tokens + usage.output_tokens;
        let basis = format!(
            "{} in ({} cached), {} out, {} requests",
            usage.input_tokens, usage.cached_input_tokens, usage.output_tokens, usage.requests
        );
        rows.push_str(&row(&format!("tokens{who}"), &total.to_string(), &basis));
        rows.push_str(&row(&format!("cost{who}"), &cost(price), ""));
    };
    spent("", &report.usage, report.cost);
    if report.judge_usage.requests > 0 {
        spent(" of the judge", &report.judge_usage, report.judge_cost);
    }
    let counts = &report.counts;
    let basis = format!(
        "{} finished, {} failed, {} wait for a person, {} could not be scored, {} not tried",
        counts.finished, counts.failed, counts.paused, counts.unscored, counts.untried
    );
    rows.push_str(&row("examples", &counts.examples.to_string(), &basis));
    element("table", &rows)
}

fn criterion(criterion: &Criterion) -> String {
    let goal = criterion.goal;
    let verdict = match criterion.is_met {
        Some(true) => format!("<span class=\"good\">met</span> ({goal})"),
        Some(false) => format!("<span class=\"bad\">not met</span> ({goal})"),
        None => format!("not known ({goal})"),
    };
    let value = criterion.value.map_or("–".to_owned(), percent);
    let cells = [
        element("td", &escape(&criterion.name)),
        number(&value),
        element("td", &format!("{verdict} {}", escape(&criterion.basis))),
    ];
    element("tr", &cells.concat())
}

fn examples(trials: &[Trial]) -> String {
    let told = ["Example", "Outcome"].map(|name| element("th", name));
    let counted = ["Score", "Steps", "Seconds", "Tokens"].map(heading);
    let head = told.concat() + &counted.concat();
    let mut rows = element("tr", &head);
    for trial in trials {
        let figures = &trial.figures;
        let score = trial
            .score
            .as_ref()
            .map_or("–".to_owned(), |score| format!("{:.2}", score.value));
        let tokens = figures.usage.input_tokens + figures.usage.output_tokens;
        let cells = [
            element("td", &details(trial)),
            element("td", &outcome(trial)),
            number(&score),
            number(&figures.steps.to_string()),
            number(&format!("{:.2}", figures.seconds)),
            number(&tokens.to_string()),
        ];
        rows.push_str(&element("tr", &cells.concat()));
    }
    element("table", &rows)
}

fn outcome(trial: &Trial) -> String {
    let (class, word) = match (trial.status, trial.passed()) {
        (Status::Paused, _) => ("quiet", "waits for a person"),
        (Status::Failed, _) => ("bad", "failed"),
        (Status::Finished, _) if trial.is_unscored() => ("quiet", "could not be scored"),
        (Status::Finished, Some(true)) => ("good", "passed"),
        (Status::Finished, Some(false)) => ("bad", "not passed"),
        (Status::Finished, None) => ("quiet", "done"),
    };
    format!("<span class=\"{class}\">{word}</span>")
}

/// All that is known of a trial, to be unfolded.
fn details(trial: &Trial) -> String {
    let mut inner = element("summary", &escape(&trial.id));
    let mut part = |name: &str, shown: &str| {
        inner.push_str(&element("strong", &escape(name)));
        inner.push_str(shown);
    };
    part("inputs", &values(&trial.inputs));
    if let Some(expected) = &trial.expected {
        let metric = trial.metric.as_ref().map_or("", |metric| metric.name());
        part(&format!("expected ({metric})"), &values(expected));
    }
    if !trial.outputs.is_empty() {
        part("given", &values(&trial.outputs));
    }
    let reason = trial
        .score
        .as_ref()
        .and_then(|score| score.reason.as_deref());
    if let Some(reason) = reason {
        part("why", &element("pre", &escape(reason)));
    }
    if let Some(fault) = &trial.fault {
        let text = format!("{}: {}", fault.kind, fault.message);
        part("fault", &element("pre", &escape(&text)));
    }
    let ended = trial
        .termination
        .map_or("not over", |reason| reason.as_str());
    let run = format!("{} · {ended}", trial.run_id);
    part("run", &element("pre", &escape(&run)));
    element("details", &inner)
}

/// What both sides gave for these examples.
fn changed(ids: &[String], first: &Report, second: &Report) -> String {
    let given = |report: &Report, id: &String| {
        let trial = report.trials.iter().find(|trial| trial.id == *id);
        trial.map_or(String::new(), details)
    };
    let rows: String = ids
        .iter()
        .map(|id| {
            let cells = [
                element("td", &given(first, id)),
                element("td", &given(second, id)),
            ];
            element("tr", &cells.concat())
        })
        .collect();
    if rows.is_empty() {
        rows
    } else {
        element("table", &rows)
    }
}

fn values(values: &Values) -> String {
    let lines = values.iter().map(|(name, value)| match value {
        Value::String(text) => format!("{name}: {text}"),
        other => format!("{name}: {other}"),
    });
    element("pre", &escape(&lines.collect::<Vec<_>>().join("\n")))
}

/// Above a column of numbers.
fn heading(text: &str) -> String {
    format!("<th class=\"n\">{}</th>", escape(text))
}

fn number(text: &str) -> String {
    format!("<td class=\"n\">{}</td>", escape(text))
}
