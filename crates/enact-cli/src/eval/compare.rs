//! `enact eval compare`.

use std::path::Path;

use enact_eval::compare::Comparison;
use enact_eval::{Report, html};

use super::files;
use crate::args::CompareArgs;
use crate::exit::{Exit, Failure};
use crate::view::{Ink, Screen, Stream, text};

/// A larger p-value means that a difference may be chance.
const CHANCE: f64 = 0.05;

/// Compares two reports.
pub(super) fn compare(args: &CompareArgs) -> Result<Exit, Failure> {
    let first = read(&args.first)?;
    let second = read(&args.second)?;
    if let Some(path) = &args.html {
        files::check_writable(path, &[&args.first, &args.second])?;
    }
    let comparison = Comparison::of(&first, &second);
    let screen = Screen::new(Stream::Stdout);
    let names = (name(&args.first), name(&args.second));
    show(&screen, &comparison, (&names.0, &names.1));
    if let Some(path) = &args.html {
        let page = html::comparison(&comparison, (&names.0, &first), (&names.1, &second));
        files::write(path, &page)?;
    }
    Ok(Exit::Success)
}

fn read(path: &Path) -> Result<Report, Failure> {
    let text = files::read(path, "the report")?;
    Report::read(&text).map_err(|problem| {
        let path = path.display();
        let message = format!(
            "`{path}` is not a report: {problem}; `enact eval DATASET --json FILE` writes one"
        );
        Failure::usage("report", message)
    })
}

fn name(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or(path.as_os_str());
    text::one_line(&stem.to_string_lossy())
}

fn show(screen: &Screen, comparison: &Comparison, (first, second): (&str, &str)) {
    let clipped = |name: &str| text::clipped(name, 12).into_owned();
    let (first, second) = (clipped(first), clipped(second));
    let head = format!("{:<28} {first:>12} {second:>12} {:>12}", "", "difference");
    screen.line(&screen.paint(Ink::Strong, &head));
    for row in &comparison.rows {
        let [first, second] = [row.first, row.second].map(|value| row.unit.shown(value, ""));
        let difference = row.unit.shown(row.difference(), "+");
        // A report may come from another source.
        let name = text::one_line(&row.name);
        screen.line(&format!(
            "{name:<28} {first:>12} {second:>12} {difference:>12}"
        ));
    }
    screen.line("");
    let list = |ids: &[String]| {
        let line = text::one_line(&ids.join(", "));
        text::clipped(&line, 400).into_owned()
    };
    for (ids, what) in [
        (&comparison.fixed, "passed only in the second"),
        (&comparison.broken, "passed only in the first"),
        (&comparison.different, "not comparable"),
    ] {
        if !ids.is_empty() {
            screen.line(&format!("{} {what}: {}", ids.len(), list(ids)));
        }
    }
    let p_value = comparison.p_value;
    let meaning = if p_value < CHANCE {
        "unlikely to be chance"
    } else {
        "could be chance"
    };
    let common = comparison.common;
    screen.line(&format!(
        "{common} examples in common · p = {p_value:.4}: {meaning}"
    ));
}
