//! Values as text: for people, in one canonical form, and as a digest.

use enact_signature::Values;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// How many bytes of a digest are told.
const DIGEST_LENGTH: usize = 12;

/// A value as JSON text with object keys in order: equal values give equal texts.
pub fn canonical_json(value: &Value) -> String {
    let mut ordered = value.clone();
    ordered.sort_all_objects();
    ordered.to_string()
}

/// The same for arguments.
pub(crate) fn canonical_args(args: &Values) -> String {
    let mut ordered = Value::Object(args.clone());
    ordered.sort_all_objects();
    ordered.to_string()
}

/// A value as text: a string as it is, anything else as compact JSON.
pub(crate) fn plain_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// A digest of these parts, in hexadecimal digits.
pub(crate) fn digest(parts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        // The length keeps neighbouring parts apart.
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part.as_bytes());
    }
    hexadecimal(&hash.finalize()[..DIGEST_LENGTH])
}

/// Bytes in hexadecimal digits.
pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
