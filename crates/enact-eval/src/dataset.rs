//! Datasets: inputs and expectations, as JSON lines or CSV.

use std::collections::HashMap;

use enact_core::signature::{Checked, Field, Validator};
use enact_core::{Signature, TerminationReason, Values};
use serde_json::Value;

pub use crate::columns::{Column, Columns};
use crate::csv;
use crate::metric::Metric;

/// The keys of a line.
const KEYS: [&str; 5] = ["id", "inputs", "expected", "termination", "metric"];

/// An example of a dataset.
#[derive(Debug, Clone, PartialEq)]
pub struct Example {
    /// The id. Default: the line number.
    pub id: String,
    /// The inputs.
    pub inputs: Values,
    /// The expected outputs, and the metric.
    pub expected: Option<(Values, Metric)>,
    /// The expected termination reason.
    pub termination: Option<TerminationReason>,
}

/// Examples with distinct ids, validated against a signature.
#[derive(Debug, Clone, PartialEq)]
pub struct Dataset {
    examples: Vec<Example>,
}

/// How the lines of a dataset are parsed.
#[derive(Debug, Clone)]
pub struct Reading<'a> {
    /// The signature.
    pub signature: &'a Signature,
    /// The default metric.
    pub metric: &'a Metric,
    /// Whether there is a judge.
    pub has_judge: bool,
    /// The columns of flat examples.
    pub columns: &'a Columns,
}

/// A problem with a line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct Problem {
    /// The line number, from 1.
    pub line: usize,
    /// The problem, and what to do.
    pub message: String,
}

impl Dataset {
    /// Parses JSON lines, each with `inputs` and `expected`, or flat. All problems are reported
    /// at once.
    pub fn read(text: &str, reading: &Reading<'_>) -> Result<Self, Vec<Problem>> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let lines = (1..).zip(text.lines());
        let lines = lines.filter(|(_, content)| !content.trim().is_empty());
        let empty = "there is no example: write one JSON object a line, such as {\"inputs\": {…}, \
                     \"expected\": {…}}";
        Self::gather(
            lines.map(|(line, content)| (line, reading.line(content, line))),
            empty,
        )
    }

    /// Parses CSV: a header, and one flat example per row.
    ///
    /// ```
    /// use enact_eval::Metric;
    /// use enact_eval::dataset::{Columns, Dataset, Reading};
    ///
    /// let signature = enact::Signature::parse("question -> answer: int")?;
    /// let columns = Columns::default();
    /// let reading =
    ///     Reading { signature: &signature, metric: &Metric::Exact, has_judge: false, columns: &columns };
    /// let dataset = Dataset::read_csv("question,answer\n6 * 7?,42\n", &reading).unwrap();
    /// assert_eq!(dataset.examples()[0].inputs, enact::values! { question: "6 * 7?" });
    /// # Ok::<(), enact::signature::SignatureError>(())
    /// ```
    pub fn read_csv(text: &str, reading: &Reading<'_>) -> Result<Self, Vec<Problem>> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let problem = |(line, message)| vec![Problem { line, message }];
        let mut rows = csv::rows(text).map_err(problem)?.into_iter();
        let header = rows.next();
        let header = header.map_or(Vec::new(), |row| row.cells);
        let names: Vec<String> = header.iter().map(|cell| cell.trim().to_owned()).collect();
        for (index, name) in names.iter().enumerate() {
            if names[..index].contains(name) {
                let message = format!("two columns are called `{name}`: give one another name");
                return Err(problem((1, message)));
            }
        }
        let examples = rows.map(|row| (row.line, reading.row(&names, row)));
        let empty = "there is no example: write a header, such as `question,answer`, and one \
                     example a row";
        Self::gather(examples, empty)
    }

    fn gather(
        examples: impl Iterator<Item = (usize, (Option<Example>, Vec<String>))>,
        empty: &str,
    ) -> Result<Self, Vec<Problem>> {
        let mut read: Vec<Example> = Vec::new();
        let mut problems = Vec::new();
        let mut seen: HashMap<String, usize> = HashMap::new();
        for (line, (example, found)) in examples {
            let mut wrong = |message: String| problems.push(Problem { line, message });
            for message in found {
                wrong(message);
            }
            let Some(example) = example else { continue };
            if let Some(first) = seen.insert(example.id.clone(), line) {
                let id = &example.id;
                wrong(format!(
                    "the id `{id}` is that of line {first}: give it another"
                ));
            }
            read.push(example);
        }
        if read.is_empty() && problems.is_empty() {
            problems.push(Problem {
                line: 1,
                message: empty.to_owned(),
            });
        }
        match problems.is_empty() {
            true => Ok(Self { examples: read }),
            false => Err(problems),
        }
    }

    /// The examples in order.
    pub fn examples(&self) -> &[Example] {
        &self.examples
    }
}

impl Reading<'_> {
    /// The example in a line, as far as it is valid, and all of its problems.
    fn line(&self, content: &str, line: usize) -> (Option<Example>, Vec<String>) {
        match serde_json::from_str::<Value>(content) {
            // A field of the signature may have the name of a key.
            Ok(Value::Object(fields))
                if !self.columns.are_named()
                    && ["inputs", "expected"].iter().any(|key| {
                        fields.contains_key(*key) && self.signature.field(key).is_none()
                    }) =>
            {
                self.example(fields, line, Vec::new())
            }
            Ok(Value::Object(fields)) => {
                let names: Vec<String> = fields.keys().cloned().collect();
                self.flat(fields, &names, line)
            }
            Ok(_) => (None, vec!["not a JSON object".to_owned()]),
            Err(error) => (None, vec![format!("not JSON: {error}")]),
        }
    }

    fn row(&self, names: &[String], row: csv::Row) -> (Option<Example>, Vec<String>) {
        if row.cells.len() != names.len() {
            let (cells, columns) = (row.cells.len(), names.len());
            let message = format!(
                "the row has {cells} cells, and the header {columns}: put cells that contain \
                 commas in quotes"
            );
            return (None, vec![message]);
        }
        let cells = names.iter().cloned().zip(row.cells);
        let record = self.columns.of_texts(self.signature, cells);
        self.flat(record, names, row.line)
    }

    /// A flat example with these columns, some of which may be empty.
    fn flat(
        &self,
        record: Values,
        columns: &[String],
        line: usize,
    ) -> (Option<Example>, Vec<String>) {
        let mut problems = self.columns.missing(columns);
        if !problems.is_empty() {
            return (None, problems);
        }
        let fields = self.columns.nested(self.signature, record, &mut problems);
        self.example(fields, line, problems)
    }

    fn example(
        &self,
        mut fields: Values,
        line: usize,
        mut problems: Vec<String>,
    ) -> (Option<Example>, Vec<String>) {
        for name in fields.keys() {
            if !KEYS.contains(&name.as_str()) {
                let known = KEYS.join(", ");
                problems.push(format!("`{name}` is not known here: use {known}"));
            }
        }
        let id = match fields.remove("id") {
            None | Some(Value::Null) => line.to_string(),
            Some(Value::String(id)) if !id.trim().is_empty() => id,
            Some(Value::Number(id)) => id.to_string(),
            Some(_) => {
                problems.push("`id` is a text that is not empty, or a number".to_owned());
                line.to_string()
            }
        };
        let inputs = object(&mut fields, "inputs").and_then(|inputs| match inputs {
            Some(inputs) => self.inputs(inputs),
            None => Err("`inputs` are missing".to_owned()),
        });
        let inputs = fine(inputs, &mut problems).unwrap_or_default();
        let termination = self.termination(fields.remove("termination"), &mut problems);
        let expected = self.expected(&mut fields, &mut problems);
        if expected.is_none() && termination.is_none() && problems.is_empty() {
            problems.push(
                "nothing is expected: give expected outputs, a `termination`, or both".to_owned(),
            );
        }
        let example = Example {
            id,
            inputs,
            expected,
            termination,
        };
        (Some(example), problems)
    }

    /// The inputs, in the order and of the types of the signature.
    fn inputs(&self, inputs: Values) -> Result<Values, String> {
        let checked = self.signature.check_inputs(inputs);
        let inputs = checked.map_err(|error| error.to_string())?;
        let validator = Validator::new(self.signature.input_schema());
        let validator = validator.map_err(|error| error.to_string())?;
        match validator.check(Value::Object(inputs)) {
            Ok(Checked {
                value: Value::Object(inputs),
                ..
            }) => Ok(inputs),
            Ok(_) => Err("`inputs` is not an object".to_owned()),
            Err(problems) => Err(format!("wrong inputs: {problems}")),
        }
    }

    fn termination(
        &self,
        value: Option<Value>,
        problems: &mut Vec<String>,
    ) -> Option<TerminationReason> {
        let value = value.filter(|value| !value.is_null())?;
        let reason = serde_json::from_value(value);
        let reason =
            reason.map_err(|error| format!("`termination` is a reason for ending: {error}"));
        fine(reason, problems)
    }

    fn expected(
        &self,
        fields: &mut Values,
        problems: &mut Vec<String>,
    ) -> Option<(Values, Metric)> {
        let metric = fields.remove("metric").filter(|value| !value.is_null());
        let metric = metric.and_then(|value| fine(self.metric(&value), problems));
        let expected = fine(object(fields, "expected"), problems)?;
        let Some(mut expected) = expected else {
            if metric.is_some() {
                problems.push("there is a `metric`, but nothing is `expected`".to_owned());
            }
            return None;
        };
        let metric = metric.unwrap_or_else(|| self.metric.clone());
        if metric == Metric::Judge && !self.has_judge {
            problems.push("the metric `judge` needs a model: name one with `--judge`".to_owned());
        }
        if expected.is_empty() {
            problems.push("`expected` is empty: name outputs, or leave it out".to_owned());
        }
        for (name, value) in &mut expected {
            let outputs = self.signature.outputs();
            match outputs.iter().find(|field| field.name == *name) {
                Some(field) if metric.wants_typed() => {
                    if let Err(problem) = typed(field, value) {
                        problems.push(format!("wrong `expected`: {problem}"));
                    }
                }
                Some(_) => {}
                None => {
                    let names: Vec<&str> = outputs.iter().map(|one| one.name.as_str()).collect();
                    problems.push(format!(
                        "`expected` names `{name}`, which is no output: the outputs are {}",
                        names.join(", ")
                    ));
                }
            }
        }
        Some((expected, metric))
    }

    /// A metric in a line. A dataset is data: it cannot name a program to run.
    fn metric(&self, value: &Value) -> Result<Metric, String> {
        let names_command = value == "command" || value.get("command").is_some();
        match (names_command, value, self.metric) {
            (true, Value::String(_), command @ Metric::Command(_)) => Ok(command.clone()),
            (true, _, _) => Err(
                "a dataset names no program: say `\"metric\": \"command\"` here, \
                                 and which program it is with `--metric`"
                    .to_owned(),
            ),
            (false, ..) => Metric::read(value),
        }
    }
}

/// The value, adding any problem to the others.
fn fine<T>(read: Result<T, String>, problems: &mut Vec<String>) -> Option<T> {
    read.map_err(|problem| problems.push(problem)).ok()
}

fn object(fields: &mut Values, name: &str) -> Result<Option<Values>, String> {
    match fields.remove(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Object(object)) => Ok(Some(object)),
        Some(_) => Err(format!("`{name}` is not an object of names and values")),
    }
}

/// Converts an expected value to the declared type.
fn typed(field: &Field, value: &mut Value) -> Result<(), String> {
    let validator = Validator::new(field.ty.json_schema()).map_err(|error| error.to_string())?;
    let name = &field.name;
    let checked = validator.check(value.take());
    *value = checked
        .map_err(|problems| format!("`{name}`: {problems}"))?
        .value;
    Ok(())
}

#[cfg(test)]
#[path = "dataset_tests.rs"]
mod tests;
