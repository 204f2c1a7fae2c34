//! Pages: whole, without scripts, and safe with whatever the data says.

use enact::values;
use enact_eval::compare::Comparison;
use enact_eval::{Score, html};

use crate::reports::{report, trial};

const HOSTILE: &str = "<script>alert('x')</script>\"><img src=x onerror=alert(1)>&\u{1b}\u{202e}";

/// Fails unless every tag is closed in its order; gives the names of all elements.
fn elements(page: &str) -> Vec<String> {
    let mut open: Vec<String> = Vec::new();
    let mut all = Vec::new();
    for part in page.split('<').skip(1) {
        let (tag, _) = part.split_once('>').expect("a tag that ends");
        if tag.starts_with('!') {
            continue;
        }
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(name), "closed in another order");
            continue;
        }
        let name = tag.split([' ', '/']).next().unwrap().to_owned();
        assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
        if !tag.ends_with('/') {
            open.push(name.clone());
        }
        all.push(name);
    }
    assert_eq!(open, Vec::<String>::new());
    all
}

fn check(page: &str) -> Vec<String> {
    let elements = elements(page);
    assert!(page.starts_with("<!DOCTYPE html>"));
    for name in ["script", "img", "iframe", "link", "object"] {
        assert!(!elements.iter().any(|one| one == name), "<{name}>");
    }
    assert!(!page.contains("http://") && !page.contains("https://"));
    assert!(!page.contains(HOSTILE) && !page.contains("<script"));
    assert!(!page.contains(['\u{1b}', '\u{202e}']));
    elements
}

fn hostile() -> enact_eval::Report {
    let mut bad = trial(HOSTILE, Some(Score::whole(false, Some(HOSTILE.to_owned()))));
    bad.inputs = values! { question: HOSTILE };
    bad.outputs = values! { answer: HOSTILE };
    bad.run_id = HOSTILE.to_owned();
    let mut unscored = trial("c", None);
    unscored.fault.as_mut().unwrap().message = HOSTILE.to_owned();
    let mut report = report(vec![
        trial("a", Some(Score::whole(true, None))),
        bad,
        unscored,
    ]);
    report.settings = values! { model: HOSTILE };
    report.dataset = HOSTILE.to_owned();
    report
}

#[test]
fn a_report_is_a_page() {
    let page = html::report(&report(vec![
        trial("first", Some(Score::whole(true, None))),
        trial("second", Some(Score::whole(false, None))),
    ]));
    let elements = check(&page);
    let plots = elements.iter().filter(|name| *name == "svg").count();
    assert_eq!(plots, 3);
    for text in [
        "m on d.jsonl",
        "reasoning coherence",
        "trace completeness",
        "50.0 %",
        "first: passed",
        "second: not passed",
        "1.50 s",
        "unknown",
    ] {
        assert!(page.contains(text), "{text}");
    }
}

#[test]
fn data_stays_data() {
    let page = html::report(&hostile());
    check(&page);
    assert!(page.contains("&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;"));
    let second = report(vec![trial(HOSTILE, Some(Score::whole(true, None)))]);
    let comparison = Comparison::of(&hostile(), &second);
    let page = html::comparison(&comparison, (HOSTILE, &hostile()), ("b", &second));
    check(&page);
}

#[test]
fn an_empty_report_is_a_page_too() {
    let page = html::report(&report(Vec::new()));
    check(&page);
    assert!(page.contains("Nothing to show."));
}

#[test]
fn a_comparison_is_a_page() {
    let first = report(vec![trial("a", Some(Score::whole(false, None)))]);
    let second = report(vec![trial("a", Some(Score::whole(true, None)))]);
    let comparison = Comparison::of(&first, &second);
    let page = html::comparison(&comparison, ("old", &first), ("new", &second));
    check(&page);
    assert!(page.contains("+100.0 %") && page.contains("Passed only in the second: 1"));
}
