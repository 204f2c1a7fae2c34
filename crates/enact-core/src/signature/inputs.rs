//! Problems with inputs, other than missing or unknown ones.

use enact_signature::{Signature, Values};
use serde_json::Value;

use super::{Problems, Validator};

/// Problems with the types of inputs. Missing and unknown names are not checked:
/// [`Signature::check_inputs`] finds them.
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
    // An invalid schema is rejected when an agent is built.
    let validator = Validator::new(schema).ok()?;
    validator.check(Value::Object(given)).err()
}
