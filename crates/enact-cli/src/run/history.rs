//! Earlier conversations, in any of the accepted formats.

use std::path::Path;

use enact::model::Part;
use enact::run::Entry;
use enact::{History, Values};
use serde_json::Value;

use crate::exit::Failure;

const FORMS: &str = "expected the output of `--json`, its `history`, a list of chat messages, or \
                     a flat trajectory";

/// Reads a conversation from a file.
pub(super) fn read(path: &Path) -> Result<History, Failure> {
    let place = path.display();
    let text = std::fs::read_to_string(path)
        .map_err(|error| wrong(format!("the history `{place}` cannot be read: {error}")))?;
    let value: Value = serde_json::from_str(&text)
        .map_err(|error| wrong(format!("the history `{place}` is not JSON: {error}")))?;
    understand(value).map_err(|problem| wrong(format!("the history `{place}` is wrong: {problem}")))
}

fn wrong(message: String) -> Failure {
    Failure::usage("history", message)
}

fn understand(value: Value) -> Result<History, String> {
    match value {
        Value::Array(items) if items.iter().any(|item| item.get("role").is_some()) => {
            History::from_chat_messages(&items).map_err(|error| error.to_string())
        }
        Value::Array(items) => entries(items),
        Value::Object(mut object) => {
            for key in ["history", "messages"] {
                if let Some(inner @ Value::Array(_)) = object.shift_remove(key) {
                    return understand(inner);
                }
            }
            trajectory(object)
        }
        _ => Err(FORMS.to_owned()),
    }
}

fn entries(items: Vec<Value>) -> Result<History, String> {
    let entries = items.into_iter().enumerate().map(|(index, item)| {
        serde_json::from_value::<Entry>(item)
            .map_err(|error| format!("element {index} cannot be read ({error}): {FORMS}"))
    });
    Ok(History::from(entries.collect::<Result<Vec<_>, _>>()?))
}

/// A flat trajectory, alone or as `trajectory` in an object; any other keys of a lone one are
/// the inputs of its run.
fn trajectory(mut object: Values) -> Result<History, String> {
    let (map, inputs) = match object.shift_remove("trajectory") {
        Some(Value::Object(map)) => {
            let inputs = match object.shift_remove("inputs") {
                Some(Value::Object(inputs)) => inputs,
                _ => Values::new(),
            };
            (map, inputs)
        }
        _ => object.into_iter().partition(|(key, _)| is_flat_key(key)),
    };
    if !map.keys().any(|key| is_flat_key(key)) {
        return Err(FORMS.to_owned());
    }
    let is_without_inputs = inputs.is_empty();
    let history = History::from_flat_trajectory(inputs, &map).map_err(|error| error.to_string())?;
    if !is_without_inputs {
        return Ok(history);
    }
    // The trajectory alone doesn't include the task, and a conversation has to start with something.
    let mut entries = history.entries().to_vec();
    if let Some(first) = entries.first_mut() {
        let text = "(An earlier task; what was asked is not recorded.)".to_owned();
        *first = Entry::User {
            parts: vec![Part::Text(text)],
        };
    }
    Ok(History::from(entries))
}

fn is_flat_key(key: &str) -> bool {
    let Some((name, number)) = key.rsplit_once('_') else {
        return false;
    };
    matches!(
        name,
        "thought" | "reasoning" | "tool_name" | "tool_args" | "observation"
    ) && number.bytes().all(|byte| byte.is_ascii_digit())
        && !number.is_empty()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_form_is_understood() {
        let own = json!([
            {"type": "inputs", "values": {"question": "q"}},
            {"type": "outputs", "values": {"answer": "a"}},
        ]);
        let expected = understand(own.clone()).unwrap();
        assert_eq!(expected.entries().len(), 2);
        assert_eq!(
            understand(json!({"run_id": "x", "history": own})).unwrap(),
            expected
        );
        assert!(understand(json!([])).unwrap().is_empty());

        let chat = json!([
            {"role": "user", "content": "q"},
            {"role": "assistant", "content": "a"},
        ]);
        let history = understand(chat.clone()).unwrap();
        assert_eq!(history.entries().len(), 2);
        assert_eq!(understand(json!({"messages": chat})).unwrap(), history);
    }

    #[test]
    fn flat_trajectories_are_understood_with_and_without_inputs() {
        let map = json!({
            "thought_0": "t", "tool_name_0": "add", "tool_args_0": {"a": 1}, "observation_0": 2,
        });
        let alone = understand(map.clone()).unwrap();
        assert!(matches!(
            alone.entries(),
            [
                Entry::User { .. },
                Entry::Assistant { .. },
                Entry::Results { .. }
            ]
        ));
        let mut with_question = map.clone();
        with_question["question"] = json!("q");
        let together = understand(with_question).unwrap();
        assert!(
            matches!(&together.entries()[0], Entry::Inputs { values } if values["question"] == "q")
        );
        let beside = understand(json!({"inputs": {"question": "q"}, "trajectory": map})).unwrap();
        assert_eq!(beside, together);
    }

    #[test]
    fn anything_else_is_refused_with_the_forms_that_are_not() {
        for bad in [json!(3), json!({"a": 1}), json!({}), json!("x")] {
            assert_eq!(understand(bad).unwrap_err(), FORMS);
        }
        let error = understand(json!([{"type": "inputs", "values": {}}, {"type": "nonsense"}]));
        assert!(error.unwrap_err().starts_with("element 1 cannot be read"));
        let error = understand(json!([{"role": "tool", "content": "x"}]));
        assert!(error.unwrap_err().starts_with("message 0: "));
    }
}
