//! Values as text: readable, in a canonical form, and as a digest.

use enact_signature::Values;
use serde::{Serialize, Serializer};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// The number of bytes of a digest to show.
const DIGEST_LENGTH: usize = 12;

/// A value as JSON with sorted object keys: equal values give equal texts.
pub fn canonical_json(value: &Value) -> String {
    // A JSON value always serialises.
    serde_json::to_string(&Canonical(value)).unwrap_or_default()
}

/// The same for arguments.
pub(crate) fn canonical_args(args: &Values) -> String {
    serde_json::to_string(&Sorted(args)).unwrap_or_default()
}

struct Canonical<'a>(&'a Value);

impl Serialize for Canonical<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Object(fields) => Sorted(fields).serialize(to),
            Value::Array(items) => to.collect_seq(items.iter().map(Canonical)),
            plain => plain.serialize(to),
        }
    }
}

struct Sorted<'a>(&'a Values);

impl Serialize for Sorted<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut fields: Vec<(&String, &Value)> = self.0.iter().collect();
        fields.sort_unstable_by_key(|(name, _)| *name);
        to.collect_map(
            fields
                .into_iter()
                .map(|(name, value)| (name, Canonical(value))),
        )
    }
}

/// A value as text: a string as it is, anything else as compact JSON.
pub(crate) fn plain_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// A digest of these parts, in hexadecimal.
pub(crate) fn digest(parts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        // The length separates neighbouring parts.
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part.as_bytes());
    }
    hexadecimal(&hash.finalize()[..DIGEST_LENGTH])
}

/// Bytes in hexadecimal.
pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
