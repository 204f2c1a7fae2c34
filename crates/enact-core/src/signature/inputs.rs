//! What is wrong with inputs, beside those that are missing or unknown.

use enact_signature::{Signature, Values};
use serde_json::Value;

use super::{Problems, Validator};

/// What is wrong with the types of the values that were given for inputs of the signature. Names that
/// are missing or unknown are not looked at: [`Signature::check_inputs`] finds them.
///
/// ```
/// use enact::signature::{Signature, wrong_inputs};
///
/// let signature = Signature::parse("question, k: int -> answer")?;
/// let problems = wrong_inputs(&signature, enact::values! { k: "many" });
/// assert_eq!(problems.unwrap().to_string(), "`k`: expected an integer, got \"many\"");
/// # Ok::<(), enact::signature::SignatureError>(())
/// ```
pub fn wrong_inputs(signature: &Signature, mut given: Values) -> Option<Problems> {
    let mut schema = signature.input_schema();
    if let Value::Object(schema) = &mut schema {
        schema.shift_remove("required");
    }
    given.retain(|name, _| signature.inputs().iter().any(|field| field.name == *name));
    // A schema that cannot be used is refused when an agent is made of it.
    let validator = Validator::new(schema).ok()?;
    validator.check(Value::Object(given)).err()
}
