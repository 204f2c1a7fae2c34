//! The tunable parts of a signature.

use serde::{Deserialize, Serialize};

use crate::inputs::listed;
use crate::{Field, Signature, SignatureError, SignatureErrorKind};

/// The wording of a signature, which can be tuned, saved, and loaded for the same fields.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SignatureState {
    /// The instructions, unless they are the default ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// The wording of each field, inputs first.
    pub fields: Vec<FieldState>,
}

/// The wording of a field.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FieldState {
    /// The name of the field.
    pub name: String,
    /// Its description.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

impl Signature {
    /// The wording, for saving.
    pub fn state(&self) -> SignatureState {
        let fields = self.fields().map(|field| FieldState {
            name: field.name.clone(),
            description: field.description.clone(),
        });
        SignatureState {
            instructions: self.explicit_instructions().map(str::to_owned),
            fields: fields.collect(),
        }
    }

    /// Applies saved wording, which must belong to the same field names.
    pub fn load_state(&self, state: &SignatureState) -> Result<Signature, SignatureError> {
        let saved = |name: &str| state.fields.iter().find(|field| field.name == name);
        let names = state.fields.iter().map(|field| &field.name);
        let surplus: Vec<&String> = names.filter(|name| self.field(name).is_none()).collect();
        let names = self.fields().map(|field| &field.name);
        let lacking: Vec<&String> = names.filter(|name| saved(name).is_none()).collect();
        if !surplus.is_empty() || !lacking.is_empty() {
            return Err(mismatch(self, &surplus, &lacking));
        }
        let worded = |fields: &[Field]| -> Vec<Field> {
            let mut fields = fields.to_vec();
            for field in &mut fields {
                field.description = saved(&field.name).and_then(|saved| saved.description.clone());
            }
            fields
        };
        Ok(self.rebuilt(
            state.instructions.clone(),
            worded(self.inputs()),
            worded(self.outputs()),
        ))
    }
}

fn mismatch(signature: &Signature, surplus: &[&String], lacking: &[&String]) -> SignatureError {
    let mut differences = Vec::new();
    if !surplus.is_empty() {
        let surplus = listed(surplus);
        differences.push(format!("it has {surplus}, which the signature has not"));
    }
    if !lacking.is_empty() {
        differences.push(format!("it lacks {}", listed(lacking)));
    }
    let message = format!(
        "the saved state is of other fields than `{signature}`: {}; load it onto the signature it \
         was saved from",
        differences.join(", and ")
    );
    SignatureError::new(SignatureErrorKind::StateMismatch, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_saved_wording_comes_back() {
        let plain = Signature::parse("question -> answer").unwrap();
        let tuned = plain
            .with_instructions("Be brief.")
            .update("answer", |field| field.describe("One sentence."))
            .unwrap();
        let saved = serde_json::to_string(&tuned.state()).unwrap();
        assert_eq!(
            saved,
            r#"{"instructions":"Be brief.","fields":[{"name":"question"},{"name":"answer","description":"One sentence."}]}"#
        );
        assert_eq!(
            plain
                .load_state(&serde_json::from_str(&saved).unwrap())
                .unwrap(),
            tuned
        );
        assert_eq!(tuned.load_state(&plain.state()).unwrap(), plain);
        assert!(
            tuned
                .load_state(&plain.state())
                .unwrap()
                .has_default_instructions()
        );
    }

    #[test]
    fn a_state_of_other_fields_is_refused_by_name() {
        let saved = Signature::parse("question, context -> answer")
            .unwrap()
            .state();
        let error = Signature::parse("question -> answer, score")
            .unwrap()
            .load_state(&saved)
            .unwrap_err();
        assert_eq!(error.kind(), SignatureErrorKind::StateMismatch);
        assert!(
            error
                .message()
                .contains("it has `context`, which the signature has not, and it lacks `score`"),
            "{error}"
        );
    }
}
