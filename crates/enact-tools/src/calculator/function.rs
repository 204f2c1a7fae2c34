//! Functions and constants.

use super::number::{Number, Outcome, apply, finite};

/// The functions, for the message about any other name.
const FUNCTIONS: &str = "sqrt abs min max round floor ceil ln log exp sin cos tan";

/// The value of a constant.
pub(super) fn constant(name: &str) -> Outcome {
    match name.to_lowercase().as_str() {
        "pi" | "π" => Ok(Number::Real(std::f64::consts::PI)),
        "e" => Ok(Number::Real(std::f64::consts::E)),
        _ => Err(unknown(name)),
    }
}

/// The value of a function.
pub(super) fn call(written: &str, args: &[Number]) -> Outcome {
    let name = written.to_lowercase();
    let name = name.as_str();
    let takes = |what: &str| Err(format!("`{name}` takes {what}"));
    let reals: Vec<f64> = args.iter().map(|number| number.real()).collect();
    match (name, &reals[..], args) {
        ("sqrt", &[x], _) if x < 0.0 => takes("no negative number"),
        ("sqrt", &[x], _) => finite(x.sqrt()),
        ("abs", &[x], &[number]) if x < 0.0 => apply('-', Number::Integer(0), number),
        ("abs", _, &[number]) => Ok(number),
        ("min", _, &[first, ref rest @ ..]) => Ok(extreme(first, rest, f64::lt)),
        ("max", _, &[first, ref rest @ ..]) => Ok(extreme(first, rest, f64::gt)),
        ("min" | "max", ..) => takes("at least one number"),
        ("round", _, &[number]) => Ok(number.rounded(f64::round)),
        ("round", _, &[number, digits]) => round_to(number, digits),
        ("round", ..) => takes("one number, or a number and how many digits to keep"),
        ("floor", _, &[number]) => Ok(number.rounded(f64::floor)),
        ("ceil", _, &[number]) => Ok(number.rounded(f64::ceil)),
        ("ln" | "log", &[x], _) if x <= 0.0 => takes("numbers above 0"),
        ("ln", &[x], _) => finite(x.ln()),
        ("log", &[x], _) => finite(x.log10()),
        ("log", &[x, base], _) if x <= 0.0 || base <= 0.0 || base == 1.0 => {
            takes("a number above 0 and a base above 0 other than 1")
        }
        ("log", &[x, base], _) => finite(x.ln() / base.ln()),
        ("exp", &[x], _) => finite(x.exp()),
        ("sin", &[x], _) => finite(x.sin()),
        ("cos", &[x], _) => finite(x.cos()),
        ("tan", &[x], _) => finite(x.tan()),
        _ if FUNCTIONS.split(' ').any(|known| known == name) => takes("one number"),
        _ => Err(unknown(written)),
    }
}

fn unknown(name: &str) -> String {
    format!("unknown name `{name}`; there are pi, e and the functions {FUNCTIONS}")
}

fn extreme(first: Number, rest: &[Number], is_better: fn(&f64, &f64) -> bool) -> Number {
    let better = |best: Number, next: &Number| match is_better(&next.real(), &best.real()) {
        true => *next,
        false => best,
    };
    rest.iter().fold(first, better)
}

fn round_to(number: Number, digits: Number) -> Outcome {
    let Number::Integer(digits @ 0..=15) = digits else {
        return Err("`round` keeps 0 to 15 digits".to_owned());
    };
    let Number::Real(x) = number else {
        return Ok(number);
    };
    let scale = 10_f64.powi(i32::try_from(digits).unwrap_or_default());
    let scaled = (x * scale).round() / scale;
    // A number too large to be scaled has no digits to round.
    Ok(Number::Real(if scaled.is_finite() { scaled } else { x }))
}
