//! The arrow grammar: `question: str, k: int = 3 -> answer: str`.
//!
//! ```text
//! signature = { "type" name "=" type ";" } fields "->" fields
//! fields    = field { "," field }
//! field     = name [ "?" ] [ ":" type ] [ "=" value ]
//! type      = single { "|" single }
//! single    = ( name [ "[" type { "," type } "]" ] | object ) [ range ] | number | text
//!                                                     (or "<" … ">"; for Literal, values)
//! object    = "{" property { "," property } "}"
//! property  = ( name | text ) [ "?" ] [ ":" type ]
//! range     = "(" [ number ] ".." [ number ] ")"
//! value     = number | text | true | false | null | "[" values "]" | "{" text ":" value … "}"
//! ```

mod lexer;
mod parser;
mod shape_parser;
mod type_parser;
mod value_parser;

pub(crate) use parser::parse;
pub(crate) use type_parser::check_type_name;

use crate::{SignatureError, Type, Types};
use parser::Parser;

/// The maximum nesting of types and values, so that a hostile text can't exhaust the stack.
pub(crate) const MAX_DEPTH: usize = 64;

/// Parses a type.
pub(crate) fn parse_type(text: &str, types: &Types) -> Result<Type, SignatureError> {
    let parse = || {
        let mut parser = Parser::new(text, types)?;
        let ty = parser.ty(0)?;
        parser.expect_end("after the type")?;
        Ok(ty)
    };
    parse().map_err(|error: SignatureError| error.in_source(text))
}

#[cfg(test)]
mod tests;
