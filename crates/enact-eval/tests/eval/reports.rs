//! Reports and comparisons.

use enact::model::Prices;
use enact::{Values, values};
use enact_eval::compare::Comparison;
use enact_eval::results::Heading;
use enact_eval::{Fault, Metric, Report, Score, Trial};

use crate::log::{Log, example};

pub(crate) fn heading() -> Heading {
    Heading {
        format: 1,
        evaluation_id: "e1".to_owned(),
        settings: values! { model: "m", signature: "question: str -> answer: int" },
    }
}

/// A trial that expects something.
pub(crate) fn trial(id: &str, score: Option<Score>) -> Trial {
    let mut example = example(id);
    example.expected = Some((values! { answer: 42 }, Metric::Exact));
    let log = Log::new().step("I calculate it.").submit();
    let mut trial = Trial::of(&example, &log.finished("success").run());
    if score.is_none() {
        trial.fault = Some(Fault {
            kind: "judge".to_owned(),
            message: "it failed".to_owned(),
        });
    }
    trial.score = score;
    trial
}

pub(crate) fn report(trials: Vec<Trial>) -> Report {
    let count = trials.len();
    Report::new(&heading(), "d.jsonl", count, trials, None)
}

fn passed(is_passed: bool) -> Option<Score> {
    Some(Score::whole(is_passed, None))
}

#[test]
fn what_nobody_confirmed_did_not_pass() {
    let mut waits = Log::new().calls("I calculate.").asked().trial();
    waits.expected = Some(values! { answer: 42 });
    let trials = vec![
        trial("a", passed(true)),
        trial("b", passed(false)),
        trial("c", None),
        waits,
        Log::new().submit().finished("success").trial(),
    ];
    let report = Report::new(&heading(), "d.jsonl", 7, trials, None);
    let accuracy = report.accuracy.unwrap();
    assert_eq!((accuracy.share.hits, accuracy.share.of), (1, 4));
    assert_eq!((accuracy.value, accuracy.mean_score), (0.25, 0.25));
    let counts = report.counts;
    assert_eq!((counts.examples, counts.finished, counts.paused), (7, 4, 1));
    assert_eq!((counts.unscored, counts.untried, counts.failed), (1, 2, 0));
    // What waits has no latency yet.
    let latency = report.latency.unwrap();
    assert_eq!((latency.p50, latency.p99), (1.5, 1.5));
}

#[test]
fn a_cost_is_known_or_unknown_and_never_nothing() {
    let trials = || vec![trial("a", passed(true))];
    assert_eq!(report(trials()).cost, None);
    let of = |prices: &str| {
        let prices = Prices::read(prices).unwrap();
        Report::new(&heading(), "d", 1, trials(), Some(&prices)).cost
    };
    assert_eq!(of(r#"{"other": {"input": 1, "output": 1}}"#), None);
    // Two requests of 10 tokens in and 2 out.
    assert_eq!(of(r#"{"m": {"input": 1, "output": 10}}"#), Some(60.0 / 1e6));
}

#[test]
fn reports_come_back_from_json() {
    let report = report(vec![trial("a", passed(true)), trial("b", None)]);
    let json = serde_json::to_string(&report).unwrap();
    assert_eq!(Report::read(&json).unwrap(), report);
    let newer = json.replace("\"format\":1", "\"format\":2");
    assert!(Report::read(&newer).unwrap_err().contains("newer"));
    assert!(Report::read("{}").is_err());
}

#[test]
fn an_empty_report_knows_nothing() {
    let report = Report::new(&heading(), "d", 3, Vec::new(), None);
    assert_eq!((report.accuracy, report.latency), (None, None));
    assert!(report.criteria.iter().all(|one| one.is_met.is_none()));
    assert_eq!(report.counts.untried, 3);
}

#[test]
fn comparisons_find_what_changed() {
    let first = report(vec![
        trial("same", passed(true)),
        trial("fixed", passed(false)),
        trial("broken", passed(true)),
        trial("gone", passed(true)),
        trial("changed", passed(true)),
    ]);
    let mut changed = trial("changed", passed(false));
    changed.inputs = Values::new();
    let second = report(vec![
        trial("same", passed(true)),
        trial("fixed", passed(true)),
        trial("broken", passed(false)),
        changed,
        trial("new", passed(true)),
    ]);
    let comparison = Comparison::of(&first, &second);
    assert_eq!(comparison.fixed, ["fixed"]);
    assert_eq!(comparison.broken, ["broken"]);
    assert_eq!(comparison.different, ["gone", "changed", "new"]);
    assert_eq!((comparison.common, comparison.p_value), (3, 1.0));
    let accuracy = &comparison.rows[0];
    assert_eq!(accuracy.name, "accuracy");
    assert_eq!((accuracy.first, accuracy.second), (Some(0.8), Some(0.6)));
    assert!((accuracy.difference().unwrap() + 0.2).abs() < 1e-12);

    // Six examples that only the second passed: 2 / 2^6.
    let six = |is_passed| {
        let trials = (0..6).map(|number| trial(&number.to_string(), passed(is_passed)));
        report(trials.collect())
    };
    let comparison = Comparison::of(&six(false), &six(true));
    assert!((comparison.p_value - 2.0 / 64.0).abs() < 1e-12);
}
