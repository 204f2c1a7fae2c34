//! Signatures: the inputs and outputs of an enact agent.
//!
//! A [`Signature`] is a list of named, typed input fields, a list of named, typed output fields,
//! and the instructions that connect them. Write one as an arrow string, build it field by field, or
//! derive it from a Rust struct with the macros of the `enact` crate.
//!
//! ```
//! use enact_signature::{Signature, Type};
//!
//! let signature = Signature::parse("question: str, k: int = 3 -> answer: str, sources: list[str]")?;
//! assert_eq!(signature.inputs()[1].ty, Type::Int);
//! assert_eq!(signature.instructions(), "Given `question` and `k`, produce `answer` and `sources`.");
//! # Ok::<(), enact_signature::SignatureError>(())
//! ```
//!
//! The crate depends on little more than `serde` and `serde_json`, so that the macros can check arrow
//! strings at compile time with the parser that programs use.

mod arrow;
mod builder;
mod error;
mod field;
mod fit;
mod inputs;
mod moment;
mod names;
mod property;
mod ranged;
mod schema;
mod signature;
mod state;
mod stored;
mod suggest;
mod types;

pub use builder::SignatureBuilder;
pub use error::{SignatureError, SignatureErrorKind};
pub use field::Field;
pub use inputs::InputError;
pub use moment::Moment;
pub use names::{RESERVED_INPUTS, RESERVED_OUTPUTS, is_tool_name};
pub use property::Property;
pub use ranged::Ranged;
pub use schema::trim_schema;
pub use signature::Signature;
pub use state::{FieldState, SignatureState};
pub use suggest::{did_you_mean, instead};
pub use types::{SchemaType, Type, Types};

/// Field name to value, in order.
pub type Values = serde_json::Map<String, serde_json::Value>;
