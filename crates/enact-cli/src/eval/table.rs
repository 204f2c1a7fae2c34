//! A report in lines.

use enact::model::Usage;
use enact_eval::criteria::Criterion;
use enact_eval::{Report, Status};

use crate::view::{Ink, Screen, grouped, text};

/// How many trials without outputs are told.
const TOLD: usize = 10;

/// Shows a report.
pub(super) fn show(screen: &Screen, report: &Report, has_prices: bool) {
    let row = |name: &str, value: &str, basis: &str| {
        let basis = screen.paint(Ink::Quiet, basis);
        screen.line(format!("{name:<28} {value:>8}   {basis}").trim_end());
    };
    if let Some(accuracy) = &report.accuracy {
        let basis = format!(
            "{} of {}; 95 % interval {} to {}; mean score {:.3}",
            accuracy.share.hits,
            accuracy.share.of,
            percent(accuracy.low),
            percent(accuracy.high),
            accuracy.mean_score
        );
        row("accuracy", &percent(accuracy.value), &basis);
    }
    for criterion in &report.criteria {
        let value = criterion.value.map_or("–".to_owned(), percent);
        let verdict = verdict(screen, criterion);
        let basis = screen.paint(Ink::Quiet, &criterion.basis);
        screen.line(&format!(
            "{:<28} {value:>8}   {verdict} {basis}",
            criterion.name
        ));
    }
    if let Some(latency) = &report.latency {
        let basis = format!("p90 {:.2} s, p99 {:.2} s", latency.p90, latency.p99);
        row("latency, p50", &format!("{:.2} s", latency.p50), &basis);
    }
    let (total, basis) = tokens(&report.usage);
    row("tokens", &total, &basis);
    row("cost", &cost(report.cost), unknown(report, has_prices));
    if report.judge_usage.requests > 0 {
        let (total, basis) = tokens(&report.judge_usage);
        row("tokens of the judge", &total, &basis);
        row("cost of the judge", &cost(report.judge_cost), "");
    }
    row(
        "examples",
        &report.counts.examples.to_string(),
        &standing(report),
    );
    faults(screen, report);
}

fn verdict(screen: &Screen, criterion: &Criterion) -> String {
    let goal = criterion.goal;
    match criterion.is_met {
        Some(true) => screen.paint(Ink::Good, &format!("met ({goal})")),
        Some(false) => screen.paint(Ink::Bad, &format!("not met ({goal})")),
        None => format!("not known ({goal})"),
    }
}

fn tokens(usage: &Usage) -> (String, String) {
    let basis = format!(
        "{} in ({} cached), {} out, {} requests",
        grouped(usage.input_tokens),
        grouped(usage.cached_input_tokens),
        grouped(usage.output_tokens),
        grouped(usage.requests)
    );
    (grouped(usage.input_tokens + usage.output_tokens), basis)
}

/// What something costs, in the unit of the price file.
pub(super) fn cost(cost: Option<f64>) -> String {
    cost.map_or("unknown".to_owned(), |cost| format!("{cost:.4}"))
}

fn unknown(report: &Report, has_prices: bool) -> &'static str {
    match (report.cost, has_prices) {
        (Some(_), _) => "",
        (None, true) => "the price file does not have the model",
        (None, false) => "`--prices` names a file of prices",
    }
}

fn standing(report: &Report) -> String {
    let counts = &report.counts;
    let all = [
        (counts.finished, "finished"),
        (counts.failed, "failed"),
        (counts.paused, "wait for a person"),
        (counts.unscored, "could not be scored"),
        (counts.untried, "not tried"),
    ];
    let told = all.iter().filter(|(count, _)| *count > 0);
    let told: Vec<String> = told
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    told.join(", ")
}

/// Says which runs have no outputs or no score, and what to do.
fn faults(screen: &Screen, report: &Report) {
    let without: Vec<_> = report
        .trials
        .iter()
        .filter(|trial| trial.status != Status::Finished || trial.fault.is_some())
        .collect();
    if without.is_empty() {
        return;
    }
    screen.line("");
    for trial in without.iter().take(TOLD) {
        let why = match (&trial.fault, trial.status) {
            (_, Status::Paused) => {
                format!("waits for a person: `enact resume {}`", trial.run_id)
            }
            (Some(fault), _) => fault.message.clone(),
            (None, _) => "failed".to_owned(),
        };
        let line = text::one_line(&format!("{}: {why}", trial.id));
        screen.line(&text::clipped(&line, 300));
    }
    if without.len() > TOLD {
        screen.line(&format!("… and {} more", without.len() - TOLD));
    }
    if report.counts.resumable + report.counts.unscored > 0 {
        let hint = "the same command tries again those that a model or a metric failed for";
        screen.line(&screen.paint(Ink::Quiet, hint));
    }
}

/// A share in percent.
pub(crate) fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}
