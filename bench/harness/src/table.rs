//! The report as a page of tables.

use std::fmt::Write as _;

use crate::plot;
use crate::report::Report;
use crate::section::{Measured, Row};

/// The whole page, in Markdown.
pub(crate) fn page(report: &Report) -> String {
    let mut page = String::from("# Results\n\n");
    let command = if report.quick {
        "bench/run --quick"
    } else {
        "bench/run"
    };
    // Writing into a string cannot fail.
    let _ = writeln!(
        page,
        "`{command}` on {}; medians of the rounds.",
        report.machine
    );
    if let Some(note) = &report.note {
        let _ = writeln!(page, "{note}");
    }
    if !report.targets.is_empty() {
        page.push_str("\n## Targets\n\n| target | bound | measured | met |\n");
        page.push_str("| --- | ---: | ---: | --- |\n");
        for judged in &report.targets {
            let met = if judged.is_met { "yes" } else { "**no**" };
            let _ = writeln!(
                page,
                "| {} | {} | {:.3} | {met} |",
                judged.target, judged.bound, judged.measured
            );
        }
    }
    for section in &report.sections {
        write_section(&mut page, section);
    }
    page
}

fn write_section(page: &mut String, section: &Measured) {
    let _ = write!(
        page,
        "\n## {}\n\n{} Measured on {}, rounds: {}.\n\n",
        section.title,
        section.about,
        section.date,
        section.rows.first().map_or(0, |row| row.rounds.len())
    );
    if let Some(name) = plot::name_of(section) {
        let _ = write!(page, "![{}]({name})\n\n", section.title);
    }
    page.push_str("| contender |");
    for column in &section.columns {
        let _ = write!(page, " {} |", column.title);
    }
    page.push_str("\n| --- |");
    page.push_str(&" ---: |".repeat(section.columns.len()));
    page.push('\n');
    for row in &section.rows {
        write_row(page, section, row);
    }
}

fn write_row(page: &mut String, section: &Measured, row: &Row) {
    let _ = write!(page, "| {} |", row.contender);
    for (index, column) in section.columns.iter().enumerate() {
        match row.medians.get(index).filter(|value| value.is_finite()) {
            Some(value) => {
                let _ = write!(page, " {} |", number(*value, column.digits));
            }
            None => page.push_str(if row.failure.is_some() {
                " failed |"
            } else {
                " – |"
            }),
        }
    }
    page.push('\n');
}

/// A number with commas between thousands.
pub(crate) fn number(value: f64, digits: usize) -> String {
    let plain = format!("{value:.digits$}");
    let (whole, rest) = match plain.split_once('.') {
        Some((whole, rest)) => (whole, format!(".{rest}")),
        None => (plain.as_str(), String::new()),
    };
    let mut grouped = String::new();
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped + &rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_grouped() {
        assert_eq!(number(1_234_567.0, 0), "1,234,567");
        assert_eq!(number(999.5, 1), "999.5");
        assert_eq!(number(12_000.25, 2), "12,000.25");
    }
}
