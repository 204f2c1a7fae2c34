//! The tools of the tasks. Every contender gets these, by name, description and schema.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use enact::tool::builtin;
use enact::{ToolError, Tools, tool, tools};

/// What `list_files` and `read_file` know.
const FILES: [(&str, &str); 6] = [
    (
        "orders.csv",
        "id,customer,item,quantity\n101,Meyer,lamp,3\n102,Okafor,chair,2\n103,Meyer,table,1\n104,Silva,lamp,5",
    ),
    (
        "notes.txt",
        "Rehearsal moved to Thursday at 18:30.\nThe hall key is with Jonas.\nBring 14 chairs.",
    ),
    (
        "recipe.txt",
        "Bread for two loaves: 900 g flour, 620 ml water, 18 g salt, 7 g yeast. Bake 45 minutes at 230 C.",
    ),
    (
        "server.log",
        "08:01 INFO started\n08:02 WARN slow disk\n08:05 ERROR timeout on node 7\n08:06 INFO recovered\n08:09 ERROR timeout on node 3",
    ),
    ("budget.txt", "rent 1200\nfood 430\ntravel 95\nbooks 60"),
    (
        "config.ini",
        "host = mail.example.org\nport = 2525\nretries = 4",
    ),
];

/// What `lookup` knows: table, key, value.
const TABLES: [(&str, &[(&str, &str)]); 4] = [
    (
        "population",
        &[
            ("Lindau", "25512"),
            ("Bregenz", "29806"),
            ("Konstanz", "85770"),
            ("Friedrichshafen", "61561"),
        ],
    ),
    (
        "price",
        &[
            ("lamp", "39"),
            ("chair", "54"),
            ("table", "210"),
            ("shelf", "88"),
        ],
    ),
    (
        "phone",
        &[
            ("Meyer", "555-0134"),
            ("Okafor", "555-0171"),
            ("Silva", "555-0129"),
        ],
    ),
    (
        "manager",
        &[("Meyer", "Silva"), ("Okafor", "Meyer"), ("Silva", "Tanaka")],
    ),
];

/// Units, by what one of them is in the first of its kind.
const UNITS: [(&str, &str, f64); 12] = [
    ("m", "length", 1.0),
    ("km", "length", 1000.0),
    ("mile", "length", 1609.344),
    ("foot", "length", 0.3048),
    ("inch", "length", 0.0254),
    ("kg", "mass", 1.0),
    ("g", "mass", 0.001),
    ("pound", "mass", 0.453_592_37),
    ("second", "time", 1.0),
    ("minute", "time", 60.0),
    ("hour", "time", 3600.0),
    ("day", "time", 86_400.0),
];

/// Names of the files that can be read.
#[tool(read_only)]
fn list_files() -> String {
    FILES.map(|(name, _)| name).join("\n")
}

/// Contents of a file.
#[tool(read_only)]
fn read_file(
    /// Such as `notes.txt`.
    name: &str,
) -> Result<String, ToolError> {
    let found = FILES.iter().find(|(known, _)| *known == name);
    found.map(|(_, text)| (*text).to_owned()).ok_or_else(|| {
        let known = FILES.map(|(name, _)| name).join(", ");
        ToolError::new(format!("there is no file `{name}`; the files are: {known}"))
    })
}

/// Looks up a value in one of the tables `population` (by town), `price` (by item), `phone` and
/// `manager` (both by surname).
#[tool(read_only)]
fn lookup(
    /// Name of the table.
    table: &str,
    /// What to look for.
    key: &str,
) -> Result<String, ToolError> {
    let (_, rows) = TABLES
        .iter()
        .find(|(name, _)| *name == table)
        .ok_or_else(|| {
            let known = TABLES.map(|(name, _)| name).join(", ");
            ToolError::new(format!(
                "there is no table `{table}`; the tables are: {known}"
            ))
        })?;
    let row = rows
        .iter()
        .find(|(known, _)| known.eq_ignore_ascii_case(key));
    row.map(|(_, value)| (*value).to_owned())
        .ok_or_else(|| ToolError::new(format!("`{key}` is not in the table `{table}`")))
}

/// Converts a value from one unit to another: m, km, mile, foot, inch, kg, g, pound, second,
/// minute, hour, day, celsius, fahrenheit.
#[tool(read_only)]
fn convert(
    /// How many.
    value: f64,
    /// Unit of the value, such as `km`.
    from: &str,
    /// Unit to convert to.
    to: &str,
) -> Result<f64, ToolError> {
    match (from, to) {
        ("celsius", "fahrenheit") => return Ok(value * 1.8 + 32.0),
        ("fahrenheit", "celsius") => return Ok((value - 32.0) / 1.8),
        _ => {}
    }
    let unit = |name: &str| {
        let found = UNITS.iter().find(|(known, ..)| *known == name);
        found.ok_or_else(|| ToolError::new(format!("the unit `{name}` is not known")))
    };
    let ((_, kind, size), (_, other, into)) = (unit(from)?, unit(to)?);
    if kind != other {
        return Err(ToolError::new(format!("`{from}` cannot become `{to}`")));
    }
    Ok(value * size / into)
}

/// What `exchange_rate` knows, for one euro.
fn rate(currency: &str) -> Option<f64> {
    match currency {
        "USD" => Some(1.08),
        "CHF" => Some(0.95),
        "JPY" => Some(160.0),
        _ => None,
    }
}

/// The tools of one run. `exchange_rate` fails the first time it is asked in a run.
pub(crate) fn tools() -> Tools {
    let asked = Arc::new(Mutex::new(HashSet::new()));
    let exchange = enact::FnTool::new(
        "exchange_rate",
        "How many units of a currency (USD, CHF or JPY) one euro is worth today. The service is \
         sometimes busy.",
        move |args: Currency, _context| {
            let is_first = asked
                .lock()
                .unwrap_or_else(std::sync::PoisonError::into_inner)
                .insert(args.currency.clone());
            let answer = match rate(&args.currency) {
                Some(_) if is_first => Err(ToolError::new("the service is busy: try again")),
                Some(rate) => Ok(rate),
                None => Err(ToolError::new(format!(
                    "`{}` is not known: use USD, CHF or JPY",
                    args.currency
                ))),
            };
            std::future::ready(answer)
        },
    )
    .read_only();
    tools![list_files, read_file, lookup, convert]
        .with(builtin::calculator())
        .with(exchange)
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Currency {
    /// Such as `USD`.
    currency: String,
}
