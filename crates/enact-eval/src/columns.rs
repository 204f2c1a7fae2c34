//! Flat examples: a column for each input and each expected output.

use std::convert::Infallible;
use std::str::FromStr;

use enact_core::signature::{Field, Validator, instead};
use enact_core::{Signature, Values};
use serde_json::Value;

/// What a flat example can contain besides its columns.
const OTHERS: [&str; 3] = ["id", "termination", "metric"];

/// The columns of a flat dataset for inputs and expected outputs.
///
/// If a side is empty, its columns have the names of the signature's fields.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Columns {
    /// The columns with inputs.
    pub inputs: Vec<Column>,
    /// The columns with expected outputs.
    pub outputs: Vec<Column>,
}

/// A column and its field. Written `NAME` if both have the same name, and `FIELD=COLUMN`
/// otherwise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Column {
    /// The field of the signature.
    pub field: String,
    /// The column of the dataset.
    pub column: String,
}

impl FromStr for Column {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (field, column) = text.split_once('=').unwrap_or((text, text));
        Ok(Self {
            field: field.trim().to_owned(),
            column: column.trim().to_owned(),
        })
    }
}

impl Columns {
    /// Whether columns are set.
    pub(crate) fn are_named(&self) -> bool {
        !self.inputs.is_empty() || !self.outputs.is_empty()
    }

    /// The set columns that don't exist.
    pub(crate) fn missing(&self, present: &[String]) -> Vec<String> {
        let named = self.inputs.iter().chain(&self.outputs);
        let missing = named.filter(|one| !present.contains(&one.column));
        let told = missing.map(|one| {
            let known = instead(&one.column, present.iter().map(String::as_str));
            format!("there is no `{}` here: {known}", one.column)
        });
        told.collect()
    }

    /// A flat example in the other form, with `inputs` and `expected`.
    pub(crate) fn nested(
        &self,
        signature: &Signature,
        mut record: Values,
        problems: &mut Vec<String>,
    ) -> Values {
        let mut side = |columns: &[Column], fields: &[Field]| {
            let mut values = Values::new();
            if columns.is_empty() {
                for field in fields {
                    if let Some(value) = record.shift_remove(&field.name) {
                        values.insert(field.name.clone(), value);
                    }
                }
            }
            for Column { field, column } in columns {
                if let Some(value) = record.shift_remove(column) {
                    values.insert(field.clone(), value);
                }
            }
            values
        };
        let inputs = side(&self.inputs, signature.inputs());
        let expected = side(&self.outputs, signature.outputs());
        let mut nested = Values::new();
        nested.insert("inputs".to_owned(), inputs.into());
        if !expected.is_empty() {
            nested.insert("expected".to_owned(), expected.into());
        }
        for name in OTHERS {
            if let Some(value) = record.shift_remove(name) {
                nested.insert(name.to_owned(), value);
            }
        }
        // Setting columns excludes all others.
        if !self.are_named() {
            for name in record.keys() {
                let fields = signature.inputs().iter().chain(signature.outputs());
                let fields = fields.map(|field| field.name.as_str()).chain(OTHERS);
                problems.push(format!(
                    "`{name}` is not known here: {}; or name the columns with `--inputs` and \
                     `--outputs`",
                    instead(name, fields)
                ));
            }
        }
        nested
    }

    /// The values of a row of texts: converted to the declared types if possible, without optional
    /// empty cells.
    pub(crate) fn of_texts(
        &self,
        signature: &Signature,
        cells: impl Iterator<Item = (String, String)>,
    ) -> Values {
        let mut values = Values::new();
        for (column, text) in cells {
            let input = field(&self.inputs, signature.inputs(), &column);
            let output = field(&self.outputs, signature.outputs(), &column);
            let is_needed = input.is_some_and(Field::is_required);
            if text.is_empty() && !is_needed {
                continue;
            }
            let text = Value::String(text);
            let typed = input.or(output).and_then(|field| {
                let validator = Validator::new(field.ty.json_schema()).ok()?;
                Some(validator.check(text.clone()).ok()?.value)
            });
            values.insert(column, typed.unwrap_or(text));
        }
        values
    }
}

/// The field that a column holds.
fn field<'f>(columns: &[Column], fields: &'f [Field], column: &str) -> Option<&'f Field> {
    let name = match columns.is_empty() {
        true => column,
        false => &columns.iter().find(|one| one.column == column)?.field,
    };
    fields.iter().find(|field| field.name == name)
}
