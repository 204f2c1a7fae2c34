//! Parses fields, sides and the whole signature.

use super::lexer::{Placed, Token, lex};
use crate::names::{self, Problem};
use crate::{Field, Signature, SignatureError, SignatureErrorKind, Type, Types, fit};

const EXAMPLE: &str = "write `inputs -> outputs`, such as `question: str -> answer: str`";

pub(super) fn syntax(message: impl Into<String>, column: usize) -> SignatureError {
    SignatureError::new(SignatureErrorKind::Syntax, message).at(column)
}

/// Parses an arrow string to a builder that passes all checks.
pub(crate) fn parse(source: &str, types: &Types) -> Result<Signature, SignatureError> {
    let parse = || {
        let mut parser = Parser::new(source, types)?;
        parser.definitions()?;
        parser.signature()
    };
    parse().map_err(|error: SignatureError| error.in_source(source))
}

pub(super) struct Parser {
    tokens: Vec<Placed>,
    next: usize,
    /// The named types.
    pub(super) types: Types,
}

/// A field and the column of its name.
type PlacedField = (Field, usize);

impl Parser {
    pub(super) fn new(source: &str, types: &Types) -> Result<Self, SignatureError> {
        Ok(Self {
            tokens: lex(source)?,
            next: 0,
            types: types.clone(),
        })
    }

    fn signature(&mut self) -> Result<Signature, SignatureError> {
        if *self.peek() == Token::End {
            return Err(syntax(format!("the signature is empty; {EXAMPLE}"), 1));
        }
        if *self.peek() == Token::Arrow {
            let message = format!("there is no input before `->`; {EXAMPLE}");
            return Err(
                SignatureError::new(SignatureErrorKind::EmptyInputs, message).at(self.column()),
            );
        }
        let inputs = self.fields()?;
        let arrow = self.column();
        match self.advance() {
            Token::Arrow => {}
            Token::End => {
                let message = format!("there is no `->` between inputs and outputs; {EXAMPLE}");
                return Err(syntax(message, arrow));
            }
            other => return Err(self.after_a_field(&other, arrow)),
        }
        if *self.peek() == Token::End {
            let message = format!("there is no output after `->`; {EXAMPLE}");
            return Err(SignatureError::new(SignatureErrorKind::EmptyOutputs, message).at(arrow));
        }
        let outputs = self.fields()?;
        let column = self.column();
        match self.advance() {
            Token::End => {}
            Token::Arrow => {
                let message =
                    "there is a second `->`; inputs stand before the only one, outputs after it";
                return Err(syntax(message, column));
            }
            other => return Err(self.after_a_field(&other, column)),
        }
        assemble(inputs, outputs)
    }

    fn after_a_field(&self, found: &Token, column: usize) -> SignatureError {
        let hint = match found {
            Token::Mark(']' | '>' | '}' | ')') => "; this bracket was never opened",
            Token::Word(_) => "; fields are separated by commas",
            _ => "",
        };
        syntax(
            format!(
                "expected `,` or `->` after a field, found {}{hint}",
                found.shown()
            ),
            column,
        )
    }

    fn fields(&mut self) -> Result<Vec<PlacedField>, SignatureError> {
        let mut fields = vec![self.field()?];
        while self.take(',') {
            if matches!(self.peek(), Token::Arrow | Token::End) {
                let message = "there is no field after this comma; remove the comma or add a field";
                return Err(syntax(message, self.last_column()));
            }
            fields.push(self.field()?);
        }
        Ok(fields)
    }

    fn field(&mut self) -> Result<PlacedField, SignatureError> {
        let column = self.column();
        let name = self.name()?;
        let is_optional = self.take('?');
        let typed = self.take(':');
        let ty = if typed { self.ty(0)? } else { Type::Str };
        let ty = ty.or_null(is_optional);
        let mut field = Field::new(name, ty);
        if self.take('=') {
            let at = self.column();
            let value = self.value(0)?;
            if !fit::fits(&value, &field.ty) {
                let hint = match fit::type_of(&value) {
                    Some(ty) if !typed => format!("; write `{}: {ty} = {value}`", field.name),
                    _ => String::new(),
                };
                let message = fit::misfit(&field.name, &value, &field.ty) + &hint;
                return Err(SignatureError::new(SignatureErrorKind::BadDefault, message).at(at));
            }
            field.default = Some(value);
        }
        Ok((field, column))
    }

    fn name(&mut self) -> Result<String, SignatureError> {
        let column = self.column();
        let name = match self.advance() {
            Token::Word(word) => word,
            Token::Number(number) => {
                return Err(names::invalid(&number.to_string()).at(column));
            }
            Token::Text(text) => return Err(names::invalid(&text).at(column)),
            other => {
                let message = format!("expected a field name, found {}; {EXAMPLE}", other.shown());
                return Err(syntax(message, column));
            }
        };
        // `my-field` and `a.b` would otherwise be reported as a missing comma.
        let rest = match self.peek() {
            Token::Mark(mark @ ('-' | '.')) => Some(mark.to_string()),
            Token::Number(number) => {
                Some(number.to_string()).filter(|number| number.starts_with('-'))
            }
            _ => None,
        };
        match rest {
            Some(rest) => Err(names::invalid(&(name + &rest)).at(column)),
            None => Ok(name),
        }
    }

    pub(super) fn peek(&self) -> &Token {
        self.tokens
            .get(self.next)
            .map_or(&Token::End, |placed| &placed.token)
    }

    /// The next token; the end token repeats.
    pub(super) fn advance(&mut self) -> Token {
        let token = self.peek().clone();
        self.next += 1;
        token
    }

    /// The token after the next one.
    pub(super) fn second(&self) -> &Token {
        let placed = self.tokens.get(self.next + 1);
        placed.map_or(&Token::End, |placed| &placed.token)
    }

    pub(super) fn take(&mut self, mark: char) -> bool {
        let there = *self.peek() == Token::Mark(mark);
        if there {
            self.next += 1;
        }
        there
    }

    pub(super) fn expect(&mut self, mark: char, wanted: &str) -> Result<(), SignatureError> {
        if self.take(mark) {
            return Ok(());
        }
        Err(syntax(
            format!("expected {wanted}, found {}", self.peek().shown()),
            self.column(),
        ))
    }

    pub(super) fn expect_end(&self, place: &str) -> Result<(), SignatureError> {
        match self.peek() {
            Token::End => Ok(()),
            other => Err(syntax(
                format!("unexpected {} {place}", other.shown()),
                self.column(),
            )),
        }
    }

    /// Parses `::`.
    pub(super) fn path_separator(&mut self) -> bool {
        let is_colon = |at: usize| {
            self.tokens
                .get(at)
                .is_some_and(|placed| placed.token == Token::Mark(':'))
        };
        let there = is_colon(self.next) && is_colon(self.next + 1);
        if there {
            self.next += 2;
        }
        there
    }

    pub(super) fn column(&self) -> usize {
        self.tokens
            .get(self.next)
            .or(self.tokens.last())
            .map_or(1, |placed| placed.column)
    }

    fn last_column(&self) -> usize {
        self.tokens
            .get(self.next.saturating_sub(1))
            .map_or(1, |placed| placed.column)
    }
}

fn assemble(
    inputs: Vec<PlacedField>,
    outputs: Vec<PlacedField>,
) -> Result<Signature, SignatureError> {
    let columns = inputs.iter().chain(&outputs).map(|(_, column)| *column);
    let columns: Vec<usize> = columns.collect();
    let fields = |side: Vec<PlacedField>| -> Vec<Field> {
        side.into_iter().map(|(field, _)| field).collect()
    };
    let (inputs, outputs) = (fields(inputs), fields(outputs));
    let place = |Problem { place, error }| match columns.get(place) {
        Some(column) => error.at(*column),
        None => error,
    };
    names::check(&inputs, &outputs).map_err(place)?;
    names::check_reserved(&inputs, &outputs).map_err(place)?;
    Ok(Signature::assemble(None, None, inputs, outputs))
}
