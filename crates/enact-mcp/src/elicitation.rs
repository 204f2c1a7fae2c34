//! Converts a form of a server to a question in text form.

use std::fmt::Write as _;

use enact_core::ToolContext;
use enact_core::signature::Validator;
use rmcp::model::ElicitRequestParams;
use serde_json::{Map, Value, json};

/// The word that declines a form.
const DECLINE: &str = "decline";

/// A form: the server's message, and the fields.
#[derive(Debug)]
pub(crate) struct Form {
    question: String,
    fields: Vec<String>,
    /// The only field, or the only required field.
    main: Option<String>,
    validator: Validator,
}

/// A person's response to a form.
#[derive(Debug, PartialEq)]
pub(crate) enum Heard {
    /// The fields by name.
    Content(Value),
    /// They declined.
    Declined,
}

impl Form {
    /// The form in a request, if it contains one.
    pub(crate) fn of(request: &ElicitRequestParams) -> Option<Result<Self, String>> {
        let ElicitRequestParams::FormElicitationParams {
            message,
            requested_schema,
            ..
        } = request
        else {
            return None;
        };
        let order = requested_schema.property_order.clone();
        let schema = serde_json::to_value(requested_schema).map_err(|error| error.to_string());
        Some(schema.and_then(|schema| Self::new(message, schema, order)))
    }

    fn new(message: &str, schema: Value, order: Option<Vec<String>>) -> Result<Self, String> {
        let properties = schema["properties"]
            .as_object()
            .cloned()
            .unwrap_or_default();
        let fields = order.unwrap_or_else(|| properties.keys().cloned().collect());
        let required: Vec<&str> = match schema["required"].as_array() {
            Some(names) => names.iter().filter_map(Value::as_str).collect(),
            None => Vec::new(),
        };
        let mut question = message.trim().to_owned();
        for name in &fields {
            let is_required = required.contains(&name.as_str());
            let line = described(name, &properties[name], is_required);
            let _ = write!(question, "\n- {line}");
        }
        let main = match (&fields[..], &required[..]) {
            ([only], _) => Some(only.clone()),
            (_, [only]) => Some((*only).to_owned()),
            _ => None,
        };
        question.push_str(&match (&fields[..], &main) {
            ([], _) => "\nAnswer `yes`, or `decline`.".to_owned(),
            ([_], _) => "\nAnswer with the value, or `decline`.".to_owned(),
            (_, Some(main)) => format!(
                "\nAnswer with the value of `{main}`, with a JSON object of these fields, or `decline`."
            ),
            _ => "\nAnswer with a JSON object of these fields, or `decline`.".to_owned(),
        });
        let validator = Validator::new(schema).map_err(|error| error.to_string())?;
        Ok(Self {
            question,
            fields,
            main,
            validator,
        })
    }

    /// The person's response, or the next question to them. After an invalid answer, the question is
    /// repeated with the reason.
    pub(crate) fn ask(&self, context: &ToolContext) -> Result<Heard, String> {
        let mut question = self.question.clone();
        loop {
            let answer = match context.ask(&question) {
                Ok(answer) => answer,
                Err(_) => return Err(question),
            };
            match self.read(&answer) {
                Ok(heard) => return Ok(heard),
                // Longer each time, so that no two questions have the same text.
                Err(problem) => {
                    question = format!("{question}\n(`{}` does not fit: {problem})", answer.trim());
                }
            }
        }
    }

    fn read(&self, answer: &str) -> Result<Heard, String> {
        let answer = answer.trim();
        if answer.eq_ignore_ascii_case(DECLINE) {
            return Ok(Heard::Declined);
        }
        let object = match (serde_json::from_str(answer), &self.main) {
            (Ok(Value::Object(object)), _) => object,
            (_, None) if self.fields.is_empty() => match answer.to_ascii_lowercase().as_str() {
                "y" | "yes" => Map::new(),
                "n" | "no" => return Ok(Heard::Declined),
                _ => return Err("say `yes` or `decline`".to_owned()),
            },
            (_, Some(main)) => Map::from_iter([(main.clone(), json!(answer))]),
            _ => return Err("it is no JSON object".to_owned()),
        };
        match self.validator.check(Value::Object(object)) {
            Ok(checked) => Ok(Heard::Content(checked.value)),
            Err(problems) => Err(problems.to_string()),
        }
    }
}

/// The description of a field: name, type, constraints, meaning.
fn described(name: &str, field: &Value, is_required: bool) -> String {
    let mut notes = Vec::new();
    match choices(field) {
        Some(choices) => notes.push(format!("one of {}", choices.join(", "))),
        None => match field["type"].as_str() {
            Some("integer") => notes.push("a whole number".to_owned()),
            Some("number") => notes.push("a number".to_owned()),
            Some("boolean") => notes.push("true or false".to_owned()),
            Some("array") => notes.push("a list".to_owned()),
            _ => notes.extend(field["format"].as_str().map(str::to_owned)),
        },
    }
    for (key, word) in [("minimum", "at least"), ("maximum", "at most")] {
        if let Some(bound) = field.get(key) {
            notes.push(format!("{word} {bound}"));
        }
    }
    if let Some(default) = field.get("default") {
        notes.push(format!("default: {default}"));
    }
    if !is_required {
        notes.push("may be left out".to_owned());
    }
    let mut line = format!("`{name}`");
    if !notes.is_empty() {
        let _ = write!(line, " ({})", notes.join("; "));
    }
    let said = field["description"].as_str().or(field["title"].as_str());
    if let Some(said) = said {
        let _ = write!(line, ": {said}");
    }
    line
}

/// The allowed values of a field, if they are listed.
fn choices(field: &Value) -> Option<Vec<String>> {
    let from = |list: &Value| -> Option<Vec<String>> {
        let list = list.as_array()?;
        Some(list.iter().map(Value::to_string).collect())
    };
    let titled = |list: &Value| -> Option<Vec<String>> {
        let list = list.as_array()?;
        Some(list.iter().map(|one| one["const"].to_string()).collect())
    };
    from(&field["enum"])
        .or_else(|| titled(&field["oneOf"]))
        .or_else(|| from(&field["items"]["enum"]))
        .or_else(|| titled(&field["items"]["anyOf"]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(schema: Value) -> Form {
        Form::new("Who are you?", schema, None).unwrap()
    }

    #[test]
    fn a_form_is_asked_in_words() {
        let form = form(json!({
            "type": "object",
            "properties": {
                "name": {"type": "string", "description": "Your name."},
                "age": {"type": "integer", "minimum": 0},
                "mood": {"type": "string", "enum": ["good", "bad"], "default": "good"},
            },
            "required": ["name"],
        }));
        assert_eq!(
            form.question,
            "Who are you?\n\
             - `name`: Your name.\n\
             - `age` (a whole number; at least 0; may be left out)\n\
             - `mood` (one of \"good\", \"bad\"; default: \"good\"; may be left out)\n\
             Answer with the value of `name`, with a JSON object of these fields, or `decline`."
        );
        assert_eq!(
            form.read(r#"{"name": "Ada", "age": "36"}"#),
            Ok(Heard::Content(json!({"name": "Ada", "age": 36})))
        );
        assert_eq!(form.read(" Decline\n"), Ok(Heard::Declined));
        assert_eq!(form.read("Ada"), Ok(Heard::Content(json!({"name": "Ada"}))));
        assert!(form.read(r#"{"age": 3}"#).is_err());
        assert!(form.read(r#"{"name": "Ada", "mood": "fine"}"#).is_err());
    }

    #[test]
    fn one_field_is_answered_with_its_value() {
        let form = form(json!({
            "type": "object",
            "properties": {"age": {"type": "integer"}},
            "required": ["age"],
        }));
        let context = ToolContext::detached("c");
        let question = form.ask(&context).unwrap_err();
        let context = context.with_answer(&question, "old");
        let again = form.ask(&context).unwrap_err();
        assert_eq!(
            again,
            format!("{question}\n(`old` does not fit: `age`: expected an integer, got \"old\")")
        );
        let context = context.with_answer(&again, "36");
        assert_eq!(form.ask(&context), Ok(Heard::Content(json!({"age": 36}))));
    }

    #[test]
    fn a_form_without_fields_wants_a_yes() {
        let form = form(json!({"type": "object", "properties": {}}));
        assert_eq!(form.read("Yes"), Ok(Heard::Content(json!({}))));
        assert_eq!(form.read("no"), Ok(Heard::Declined));
        assert!(form.read("perhaps").is_err());
    }
}
