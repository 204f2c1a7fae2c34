//! Plots: bars on a scale of powers of ten, written by hand.

use std::fmt::Write as _;

use crate::report::Report;
use crate::section::{Measured, Row};
use crate::table::number;

const LABELS: f64 = 140.0;
const BARS: f64 = 460.0;
const VALUES: f64 = 100.0;
const LINE: f64 = 22.0;
const TOP: f64 = 46.0;

/// Which column of a section is drawn, and in which file.
const PLOTS: [(&str, &str, &str); 7] = [
    ("A run of 10 steps", "cpu_ms", "run-cpu.svg"),
    ("200 runs at a time, no", "runs_per_second", "rate.svg"),
    ("200 runs at a time, 50", "runs_per_second", "rate-50ms.svg"),
    ("Growth", "late_us", "late-step.svg"),
    ("What is sent", "bytes_10", "bytes.svg"),
    ("Cold start", "cold_ms", "cold-start.svg"),
    ("Instructions", "instructions_200", "instructions-200.svg"),
];

/// The file of a section's plot, if it has one.
pub(crate) fn name_of(section: &Measured) -> Option<&'static str> {
    let plots = PLOTS.iter();
    let found = plots.clone().find(|plot| section.title.starts_with(plot.0));
    found.map(|(_, _, name)| *name)
}

/// All plots, with the names of their files.
pub(crate) fn all(report: &Report) -> Vec<(String, String)> {
    PLOTS
        .iter()
        .filter_map(|(title, key, name)| {
            let section = report.section(title)?;
            Some(((*name).to_owned(), bars(section, key)?))
        })
        .collect()
}

fn bars(section: &Measured, key: &str) -> Option<String> {
    let index = section.columns.iter().position(|known| known.key == key)?;
    let column = &section.columns[index];
    let value = |row: &Row| row.medians.get(index).copied().filter(|value| *value > 0.0);
    let rows: Vec<(&Row, f64)> = section
        .rows
        .iter()
        .filter_map(|row| Some((row, value(row)?)))
        .collect();
    let exponents = rows.iter().map(|(_, value)| value.log10());
    let low = exponents.clone().min_by(f64::total_cmp)?.floor();
    let high = exponents.max_by(f64::total_cmp)?.ceil().max(low + 1.0);
    let x = |exponent: f64| LABELS + (exponent - low) / (high - low) * BARS;
    let height = TOP + LINE * rows.len() as f64 + 8.0;
    let width = LABELS + BARS + VALUES;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         width=\"{width}\" height=\"{height}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n\
         <text x=\"8\" y=\"16\" font-weight=\"bold\">{}: {}</text>\n",
        section.title, column.title
    );
    let mut exponent = low;
    while exponent <= high {
        // Writing into a string cannot fail.
        let _ = writeln!(
            out,
            "<line x1=\"{0:.1}\" x2=\"{0:.1}\" y1=\"40\" y2=\"{height}\" stroke=\"#dddddd\"/>\
             <text x=\"{0:.1}\" y=\"34\" text-anchor=\"middle\" fill=\"#666666\">{1}</text>",
            x(exponent),
            tick(exponent)
        );
        exponent += 1.0;
    }
    for (line, (row, value)) in rows.iter().enumerate() {
        let y = TOP + LINE * line as f64;
        let length = (x(value.log10()) - LABELS).max(2.0);
        let _ = writeln!(
            out,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>\
             <rect x=\"{LABELS}\" y=\"{y:.1}\" width=\"{length:.1}\" height=\"15\" fill=\"{}\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            LABELS - 8.0,
            y + 12.0,
            row.contender,
            colour(&row.contender),
            LABELS + length + 6.0,
            y + 12.0,
            number(*value, column.digits)
        );
    }
    out.push_str("</svg>\n");
    Some(out)
}

fn tick(exponent: f64) -> String {
    let digits = if exponent < 0.0 {
        -exponent as usize
    } else {
        0
    };
    number(10_f64.powf(exponent), digits)
}

fn colour(contender: &str) -> &'static str {
    match contender {
        name if name.starts_with("enact") => "#c2410c",
        name if name.starts_with("floor") => "#9ca3af",
        _ => "#2563eb",
    }
}
