//! The JSON Schema of an agent file, for editors and for the check itself.

use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform as _};
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value, json};

use super::file::AgentFile;
use super::shape::FORMATS;

/// The schema of a file. TOML editors support draft 7.
pub(super) fn schema<T: JsonSchema>() -> Value {
    let mut settings = SchemaSettings::draft07().for_deserialize();
    settings.inline_subschemas = true;
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    RecursiveTransform(fit_to_toml).transform(&mut schema);
    let mut ordered = Map::new();
    if let Value::Object(schema) = schema.to_value() {
        // The description comes before the contents.
        let (first, rest): (Map<_, _>, Map<_, _>) = schema
            .into_iter()
            .partition(|(key, _)| matches!(key.as_str(), "$schema" | "title" | "description"));
        ordered.extend(first);
        ordered.extend(rest);
    }
    Value::Object(ordered)
}

/// TOML has no null, and numbers must fit their types.
fn fit_to_toml(schema: &mut Schema) {
    let Some(object) = schema.as_object_mut() else {
        return;
    };
    if let Some(Value::Array(types)) = object.get_mut("type") {
        types.retain(|one| one != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            object.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(options)) = object.get_mut("enum") {
        options.retain(|one| !one.is_null());
    }
    if let Some(Value::Array(forms)) = object.get_mut("anyOf") {
        forms.retain(|form| form.get("type") != Some(&json!("null")));
        if let [Value::Object(only)] = forms.as_slice() {
            let only = only.clone();
            object.remove("anyOf");
            for (key, value) in only {
                object.entry(key).or_insert(value);
            }
        }
    }
    if let Some(format) = object.remove("format") {
        if format == "uint32" {
            object.insert("maximum".to_owned(), u32::MAX.into());
        }
        if FORMATS.iter().any(|(name, _)| format == *name) {
            object.insert("format".to_owned(), format);
        }
    }
    // The schema is only used for reading.
    object.remove("writeOnly");
    // An optional value has no default; editors would offer to insert it.
    object.remove("default");
}

/// The schema as it is stored with the documentation.
pub(crate) fn schema_text() -> String {
    let mut schema = Schema::try_from(schema::<AgentFile>()).unwrap_or_default();
    let without_formats = |schema: &mut Schema| drop(schema.remove("format"));
    RecursiveTransform(without_formats).transform(&mut schema);
    format!("{:#}\n", schema.to_value())
}
