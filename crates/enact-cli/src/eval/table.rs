//! A report as lines of text.

use enact_eval::{Report, Status};
use enact_providers::PRICES_AS_OF;

use crate::agent::Agent;
use crate::models::built_in_price;
use crate::view::text::grouped;
use crate::view::{Ink, Screen, text};

/// The maximum number of trials without outputs to list.
const TOLD: usize = 10;

/// Shows a report.
pub(super) fn show(screen: &Screen, report: &Report, plan: &Agent) {
    let built_in = plan.models.first().and_then(built_in_price);
    let about_cost = match (report.cost, &plan.prices) {
        (Some(_), prices) if *prices == built_in => {
            &format!("in USD, an estimate by the built-in prices of {PRICES_AS_OF}")
        }
        (Some(_), _) => "",
        (None, Some(_)) => "the prices don't include the model",
        (None, None) => "set prices with `--prices FILE`",
    };
    for line in report.lines(grouped, about_cost) {
        let verdict = line
            .goal
            .map_or(String::new(), |(goal, is_met)| match is_met {
                Some(true) => screen.paint(Ink::Good, &format!("met ({goal})")) + " ",
                Some(false) => screen.paint(Ink::Bad, &format!("not met ({goal})")) + " ",
                None => format!("not known ({goal}) "),
            });
        row(screen, &line.name, &line.value, &verdict, &line.basis);
    }
    let examples = report.counts.examples.to_string();
    row(screen, "examples", &examples, "", &standing(report));
    faults(screen, report);
}

fn row(screen: &Screen, name: &str, value: &str, verdict: &str, basis: &str) {
    let basis = screen.paint(Ink::Quiet, basis);
    screen.line(format!("{name:<28} {value:>8}   {verdict}{basis}").trim_end());
}

fn standing(report: &Report) -> String {
    let counts = &report.counts;
    let all = [
        (counts.finished, "finished"),
        (counts.failed, "failed"),
        (counts.paused, "waiting for a person"),
        (counts.unscored, "could not be scored"),
        (counts.untried, "not tried"),
    ];
    let told = all.iter().filter(|(count, _)| *count > 0);
    let told: Vec<String> = told
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    told.join(", ")
}

/// Lists runs without outputs or score, and what to do about them.
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
        let hint = "run the same command to retry those that failed because of a model or a metric";
        screen.line(&screen.paint(Ink::Quiet, hint));
    }
}
