//! Objects, ranges and named types.

use serde_json::Number;

use super::lexer::Token;
use super::parser::{Parser, syntax};
use super::type_parser::check_type_name;
use crate::property::twice;
use crate::{Property, SignatureError, SignatureErrorKind, Type};

impl Parser {
    /// `type Person = {name: str};`, any number of times.
    pub(super) fn definitions(&mut self) -> Result<(), SignatureError> {
        while let (Token::Word(word), Token::Word(name)) = (self.peek(), self.second())
            && word == "type"
        {
            let name = name.clone();
            self.advance();
            let column = self.column();
            self.advance();
            check_type_name(&name).map_err(|error| error.at(column))?;
            if self.types.contains_key(&name) {
                let message = format!("two types are called `{name}`; give one another name");
                let error = SignatureError::new(SignatureErrorKind::DuplicateField, message);
                return Err(error.at(column));
            }
            let example = format!("as in `type {name} = {{name: str}};`");
            self.expect('=', &format!("`=` and a type, {example}"))?;
            let ty = self.ty(0)?;
            self.expect(';', &format!("`;` after the type, {example}"))?;
            self.types.insert(name, ty);
        }
        Ok(())
    }

    /// Parses what follows `{`.
    pub(super) fn object(&mut self, depth: usize) -> Result<Type, SignatureError> {
        let start = self.column();
        let mut properties: Vec<Property> = Vec::new();
        while !self.take('}') {
            let column = self.column();
            let property = self.property(depth)?;
            if properties.iter().any(|other| other.name == property.name) {
                return Err(twice(&property.name).at(column));
            }
            properties.push(property);
            if !self.take(',') {
                self.expect('}', "`,` or `}` after a property")?;
                break;
            }
        }
        Type::object(properties).map_err(|error| error.at(start))
    }

    fn property(&mut self, depth: usize) -> Result<Property, SignatureError> {
        let column = self.column();
        let name = match self.advance() {
            Token::Word(name) | Token::Text(name) => name,
            other => {
                let message = format!(
                    "expected the name of a property, found {}; an object reads like `{{name: str, \
                     age?: int}}`",
                    other.shown()
                );
                return Err(syntax(message, column));
            }
        };
        let is_optional = self.take('?');
        let ty = match self.take(':') {
            true => self.ty(depth + 1)?,
            false => Type::Str,
        };
        Ok(Property::new(name, ty.or_null(is_optional)))
    }

    /// Parses a type with an optional range in parentheses.
    pub(super) fn ranged(&mut self, ty: Type) -> Result<Type, SignatureError> {
        if *self.peek() != Token::Mark('(') {
            return Ok(ty);
        }
        self.advance();
        let column = self.column();
        let least = self.limit();
        let wanted = format!("`..` in the range, as in `{ty}(1..5)`, `{ty}(1..)` or `{ty}(..5)`");
        self.expect('.', &wanted)?;
        self.expect('.', &wanted)?;
        // Rust's syntax for an inclusive range.
        self.take('=');
        let most = self.limit();
        self.expect(')', "`)` after the range")?;
        ty.within(least, most).map_err(|error| error.at(column))
    }

    fn limit(&mut self) -> Option<Number> {
        let Token::Number(number) = self.peek() else {
            return None;
        };
        let number = number.clone();
        self.advance();
        Some(number)
    }
}
