//! Datasets: what an agent is asked, and what should come of it. JSON lines.

use std::collections::HashMap;

use enact_core::signature::{Checked, Field, Validator};
use enact_core::{Signature, TerminationReason, Values};
use serde_json::Value;

use crate::metric::Metric;

/// What a line may hold.
const KEYS: [&str; 5] = ["id", "inputs", "expected", "termination", "metric"];

/// One line of a dataset.
#[derive(Debug, Clone, PartialEq)]
pub struct Example {
    /// What it is called; the number of its line unless it says so.
    pub id: String,
    /// What goes in.
    pub inputs: Values,
    /// What should come out, and how that is found out.
    pub expected: Option<(Values, Metric)>,
    /// How the run should end.
    pub termination: Option<TerminationReason>,
}

/// Examples with distinct ids, checked against a signature.
#[derive(Debug, Clone, PartialEq)]
pub struct Dataset {
    examples: Vec<Example>,
}

/// How the lines of a dataset are read.
#[derive(Debug, Clone)]
pub struct Reading<'a> {
    /// What goes in and what comes out.
    pub signature: &'a Signature,
    /// The metric of lines that name none.
    pub metric: &'a Metric,
    /// Whether a model is there to judge.
    pub has_judge: bool,
}

/// What is wrong with a line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct Problem {
    /// The number of the line, counted from 1.
    pub line: usize,
    /// What is wrong, and what to do.
    pub message: String,
}

impl Dataset {
    /// Reads JSON lines. Everything that is wrong is told at once.
    pub fn read(text: &str, reading: &Reading<'_>) -> Result<Self, Vec<Problem>> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut examples: Vec<Example> = Vec::new();
        let mut problems = Vec::new();
        let mut seen: HashMap<String, usize> = HashMap::new();
        for (line, content) in (1..).zip(text.lines()) {
            if content.trim().is_empty() {
                continue;
            }
            let mut wrong = |message: String| problems.push(Problem { line, message });
            let (example, found) = reading.example(content, line);
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
            examples.push(example);
        }
        if examples.is_empty() && problems.is_empty() {
            problems.push(Problem {
                line: 1,
                message: "there is no example: write one JSON object a line, such as \
                          {\"inputs\": {…}, \"expected\": {…}}"
                    .to_owned(),
            });
        }
        if problems.is_empty() {
            Ok(Self { examples })
        } else {
            Err(problems)
        }
    }

    /// The examples in order.
    pub fn examples(&self) -> &[Example] {
        &self.examples
    }
}

impl Reading<'_> {
    /// The example of a line, as far as it can be read, and all that is wrong with it.
    fn example(&self, content: &str, line: usize) -> (Option<Example>, Vec<String>) {
        let mut fields = match serde_json::from_str::<Value>(content) {
            Ok(Value::Object(fields)) => fields,
            Ok(_) => return (None, vec!["not a JSON object".to_owned()]),
            Err(error) => return (None, vec![format!("not JSON: {error}")]),
        };
        let mut problems = Vec::new();
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
                "nothing is expected: give `expected` outputs, a `termination`, or both".to_owned(),
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

    /// The inputs, in the order and of the types that the signature asks for.
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

    /// A metric as a line names it. A dataset is data: it cannot name a program to run.
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

/// What was read; a problem is added to the others.
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

/// Brings an expected value into the declared type.
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
mod tests {
    use enact_core::values;

    use super::*;

    fn read_with(text: &str, metric: &Metric) -> Result<Dataset, Vec<String>> {
        let signature = Signature::parse("question, k: int = 3 -> answer: int, note").unwrap();
        let reading = Reading {
            signature: &signature,
            metric,
            has_judge: false,
        };
        Dataset::read(text, &reading)
            .map_err(|problems| problems.iter().map(ToString::to_string).collect())
    }

    fn read(text: &str) -> Result<Dataset, Vec<String>> {
        read_with(text, &Metric::Exact)
    }

    #[test]
    fn lines_are_examples() {
        let dataset = read(
            "\u{feff}{\"inputs\": {\"question\": \"6 * 7?\"}, \"expected\": {\"answer\": \"42\"}}\n\
             \n\
             {\"id\": \"b\", \"inputs\": {\"question\": \"?\", \"k\": \"5\"}, \"termination\": \"max_iterations\"}\r\n\
             {\"id\": 7, \"inputs\": {\"question\": \"?\"}, \"expected\": {\"note\": \"x\"}, \"metric\": \"contains\"}",
        )
        .unwrap();
        let [first, second, third] = dataset.examples() else {
            panic!("{dataset:?}");
        };
        assert_eq!(first.id, "1");
        assert_eq!(first.inputs, values! { question: "6 * 7?", k: 3 });
        assert_eq!(
            first.expected,
            Some((values! { answer: 42 }, Metric::Exact))
        );
        assert_eq!((second.id.as_str(), &second.inputs["k"]), ("b", &5.into()));
        assert_eq!(second.termination, Some(TerminationReason::MaxIterations));
        assert_eq!(third.id, "7");
        assert_eq!(third.expected.as_ref().unwrap().1, Metric::Contains);
    }

    #[test]
    fn all_that_is_wrong_is_told_with_its_line() {
        let problems = read(
            "nonsense\n\
             [1]\n\
             {\"expected\": {\"answer\": 1}}\n\
             {\"inputs\": {\"qestion\": \"?\"}, \"expected\": {\"answer\": \"many\", \"sum\": 1}}\n\
             {\"id\": \"a\", \"inputs\": {\"question\": \"?\"}, \"expected\": {\"answer\": 1}}\n\
             {\"id\": \"a\", \"inputs\": {\"question\": \"?\"}, \"expect\": {\"answer\": 1}}\n\
             {\"inputs\": {\"question\": \"?\"}, \"termination\": \"sucess\"}\n\
             {\"inputs\": {\"question\": \"?\"}, \"metric\": \"exact\"}\n\
             {\"inputs\": {\"question\": \"?\"}}\n\
             {\"inputs\": {\"question\": \"?\"}, \"expected\": {\"answer\": 1}, \"metric\": \"judge\"}\n\
             {\"inputs\": {\"question\": \"?\", \"k\": \"x\"}, \"expected\": []}",
        )
        .unwrap_err();
        let told = [
            ("line 1: not JSON", ""),
            ("line 2: not a JSON object", ""),
            ("line 3: `inputs` are missing", ""),
            (
                "line 4: missing input `question`",
                "did you mean `question`?",
            ),
            ("line 4: wrong `expected`: `answer`", "an integer"),
            ("line 4: `expected` names `sum`", "answer, note"),
            ("line 6: `expect` is not known", "expected"),
            ("line 6: the id `a` is that of line 5", ""),
            ("line 7: `termination`", "max_iterations"),
            ("line 8: there is a `metric`", ""),
            ("line 9: nothing is expected", ""),
            ("line 10: the metric `judge` needs a model", "--judge"),
            ("line 11: wrong inputs: `k`", "an integer"),
            ("line 11: `expected` is not an object", ""),
        ];
        assert_eq!(problems.len(), told.len(), "{problems:#?}");
        for (problem, (begin, holds)) in problems.iter().zip(told) {
            assert!(problem.starts_with(begin), "{problem}");
            assert!(problem.contains(holds), "{problem}");
        }
    }

    #[test]
    fn nothing_is_no_dataset() {
        assert!(read("\n\n").unwrap_err()[0].contains("no example"));
    }

    #[test]
    fn a_dataset_names_no_program() {
        let line = |metric: &str| {
            format!(
                "{{\"inputs\": {{\"question\": \"?\"}}, \"expected\": {{\"answer\": 1}}, \
                 \"metric\": {metric}}}"
            )
        };
        let program = r#"{"command": {"program": "rm"}}"#;
        let command: Metric = program.parse().unwrap();
        for metric in [&Metric::Exact, &command] {
            let problems = read_with(&line(program), metric).unwrap_err();
            assert!(problems[0].contains("names no program"), "{problems:?}");
        }
        assert!(read(&line("\"command\"")).is_err());
        let dataset = read_with(&line("\"command\""), &command).unwrap();
        assert_eq!(dataset.examples()[0].expected.as_ref().unwrap().1, command);
    }
}
