//! The arrow grammar: `question: str, k: int = 3 -> answer: str`.
//!
//! ```text
//! signature = fields "->" fields
//! fields    = field { "," field }
//! field     = name [ ":" type ] [ "=" value ]
//! type      = single { "|" single }
//! single    = name [ "[" type { "," type } "]" ]      (or "<" … ">"; for Literal, values)
//! value     = number | text | true | false | null | "[" values "]" | "{" text ":" value … "}"
//! ```

mod lexer;
mod parser;
mod type_parser;
mod value_parser;

pub(crate) use parser::parse;

use crate::{SignatureError, Type};
use parser::Parser;

/// How deep types and values may nest, so that a hostile text cannot exhaust the stack.
pub(crate) const MAX_DEPTH: usize = 64;

/// A type and nothing else.
pub(crate) fn parse_type(text: &str) -> Result<Type, SignatureError> {
    let parse = || {
        let mut parser = Parser::new(text)?;
        let ty = parser.ty(0)?;
        parser.expect_end("after the type")?;
        Ok(ty)
    };
    parse().map_err(|error: SignatureError| error.in_source(text))
}

#[cfg(test)]
mod tests;
