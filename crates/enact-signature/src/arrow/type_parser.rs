//! Parses types, in Python and Rust syntax.

use serde_json::Value;

use super::MAX_DEPTH;
use super::lexer::Token;
use super::parser::{Parser, syntax};
use crate::names::is_name;
use crate::{Moment, SignatureError, SignatureErrorKind, Type, did_you_mean};

const ALLOWED: &str = "str, int, float, bool, date, datetime, time, image, any, list[T], \
                       dict[str, T], {name: T}, Literal[\"a\", \"b\"], Optional[T], A | B";

/// The maximum number of types in a named type: one that uses another twice, which uses a third one
/// twice, grows fast.
const LARGEST: usize = 1000;

/// The meaning of a type name, before its arguments are parsed.
enum Head {
    Plain(Type),
    List,
    Dict,
    Literal,
    Optional,
    Union,
    Null,
}

/// The names of types, the preferred spelling of each first.
static SPELLINGS: [(Head, &[&str]); 15] = [
    (Head::Plain(Type::Str), &["str", "String", "string"]),
    (
        Head::Plain(Type::Int),
        &[
            "int", "integer", "i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16", "u32",
            "u64", "u128", "usize",
        ],
    ),
    (
        Head::Plain(Type::Float),
        &["float", "number", "double", "f32", "f64"],
    ),
    (Head::Plain(Type::Bool), &["bool", "boolean"]),
    (Head::Plain(Type::Moment(Moment::Date)), &["date", "Date"]),
    (
        Head::Plain(Type::Moment(Moment::DateTime)),
        &["datetime", "DateTime"],
    ),
    (Head::Plain(Type::Moment(Moment::Time)), &["time", "Time"]),
    (Head::Plain(Type::Image), &["image", "Image"]),
    (Head::Plain(Type::Any), &["any", "Any", "Value"]),
    (Head::List, &["list", "List", "array", "Vec"]),
    (
        Head::Dict,
        &["dict", "Dict", "object", "map", "HashMap", "BTreeMap"],
    ),
    (Head::Literal, &["Literal", "literal"]),
    (Head::Optional, &["Optional", "Option", "optional"]),
    (Head::Union, &["Union"]),
    (Head::Null, &["None", "null"]),
];

fn head(name: &str) -> Option<&'static Head> {
    let mut known = SPELLINGS.iter();
    let (head, _) = known.find(|(_, spellings)| spellings.contains(&name))?;
    Some(head)
}

/// A member of a union.
enum Member {
    Type(Type),
    /// A literal value: all of them together form one literal type.
    Value(Value),
    /// Not a type of its own.
    Null,
}

fn join(members: Vec<Member>, column: usize) -> Result<Type, SignatureError> {
    let (mut types, mut nullable) = (Vec::new(), false);
    let (mut values, mut place) = (Vec::new(), None);
    for member in members {
        match member {
            Member::Type(ty) => types.push(ty),
            Member::Value(value) => {
                place.get_or_insert(types.len());
                values.push(value);
            }
            Member::Null => nullable = true,
        }
    }
    if let Some(place) = place {
        types.insert(place, Type::literal(values));
    }
    if types.is_empty() {
        return Err(syntax(
            "`None` alone is not a type; write `Optional[T]` or `T | None`",
            column,
        ));
    }
    Ok(Type::union(types).or_null(nullable))
}

impl Parser {
    pub(super) fn ty(&mut self, depth: usize) -> Result<Type, SignatureError> {
        let column = self.column();
        let members = self.members(depth)?;
        join(members, column)
    }

    fn members(&mut self, depth: usize) -> Result<Vec<Member>, SignatureError> {
        if depth > MAX_DEPTH {
            let message = format!("the type nests deeper than {MAX_DEPTH} levels");
            return Err(syntax(message, self.column()));
        }
        let mut members = vec![self.single(depth)?];
        while self.take('|') {
            members.push(self.single(depth)?);
        }
        Ok(members)
    }

    fn single(&mut self, depth: usize) -> Result<Member, SignatureError> {
        match self.peek() {
            Token::Text(_) | Token::Number(_) => return self.value(0).map(Member::Value),
            _ => {}
        }
        match self.unlimited(depth)? {
            Some(ty) => self.ranged(ty).map(Member::Type),
            None => Ok(Member::Null),
        }
    }

    /// A type without its range; none for null.
    fn unlimited(&mut self, depth: usize) -> Result<Option<Type>, SignatureError> {
        if self.take('{') {
            return self.object(depth).map(Some);
        }
        let borrowed = self.take('&');
        let mut column = self.column();
        let mut name = match self.advance() {
            Token::Word(word) => word,
            other => {
                let message = format!(
                    "expected a type, found {}; types are {ALLOWED}",
                    other.shown()
                );
                return Err(syntax(message, column));
            }
        };
        // The last part of `serde_json::Value` is sufficient.
        while self.path_separator() {
            column = self.column();
            let Token::Word(word) = self.advance() else {
                return Err(syntax("expected a name after `::`", column));
            };
            name = word;
        }
        let Some(head) = head(&name) else {
            let named = self.named(&name, depth, column)?;
            return match self.at_opening() {
                true => Err(no_brackets(&name, self.column())),
                false => Ok(Some(named)),
            };
        };
        if borrowed && !matches!(head, Head::Plain(Type::Str)) {
            return Err(syntax(
                format!("of references only `&str` is a type; write `{name}`"),
                column,
            ));
        }
        match head {
            Head::Plain(_) | Head::Null if self.at_opening() => {
                Err(no_brackets(&name, self.column()))
            }
            Head::Plain(ty) => Ok(Some(ty.clone())),
            Head::Null => Ok(None),
            Head::List if !self.at_opening() => Ok(Some(Type::list(Type::Any))),
            Head::Dict if !self.at_opening() => Ok(Some(Type::dict(Type::Any))),
            _ if !self.at_opening() => Err(syntax(
                format!("`{name}` needs brackets: {}", example(head)),
                self.column(),
            )),
            Head::Literal => self.literal().map(Some),
            Head::List => self
                .one_argument(&name, depth)
                .map(|item| Some(Type::list(item))),
            Head::Optional => {
                let close = self.opening();
                let column = self.column();
                let mut members = self.members(depth + 1)?;
                self.close(close, &name, 1)?;
                members.push(Member::Null);
                join(members, column).map(Some)
            }
            Head::Dict => self.dict(&name, depth).map(Some),
            Head::Union => {
                let close = self.opening();
                let column = self.column();
                let mut members = self.members(depth + 1)?;
                while self.take(',') {
                    members.extend(self.members(depth + 1)?);
                }
                self.close(close, &name, members.len())?;
                join(members, column).map(Some)
            }
        }
    }

    /// The type with a user-defined name.
    fn named(&self, name: &str, depth: usize, column: usize) -> Result<Type, SignatureError> {
        let Some(ty) = self.types.get(name) else {
            let names = self.types.keys().map(String::as_str);
            return Err(unknown(name, names, column));
        };
        let (nested, size) = ty.measure();
        if depth + nested > MAX_DEPTH || size > LARGEST {
            let message = format!(
                "the type `{name}` is too large here; types nest up to {MAX_DEPTH} levels, and a \
                 named type is made of at most {LARGEST} types"
            );
            return Err(syntax(message, column));
        }
        Ok(ty.clone())
    }

    fn one_argument(&mut self, name: &str, depth: usize) -> Result<Type, SignatureError> {
        let close = self.opening();
        let item = self.ty(depth + 1)?;
        self.close(close, name, 1)?;
        Ok(item)
    }

    fn dict(&mut self, name: &str, depth: usize) -> Result<Type, SignatureError> {
        let close = self.opening();
        let column = self.column();
        let key = self.ty(depth + 1)?;
        if !key.is_str() {
            let message = format!("the keys of a dict are `str`; write `{name}[str, T]`");
            return Err(syntax(message, column));
        }
        self.expect(
            ',',
            &format!("`,` and the type of the values, as in `{name}[str, int]`"),
        )?;
        let value = self.ty(depth + 1)?;
        self.close(close, name, 2)?;
        Ok(Type::dict(value))
    }

    fn literal(&mut self) -> Result<Type, SignatureError> {
        let close = self.opening();
        let start = self.column();
        let (mut values, mut nullable) = (Vec::new(), false);
        loop {
            let column = self.column();
            match self.value(0)? {
                Value::Null => nullable = true,
                Value::Array(_) | Value::Object(_) => {
                    let message = "the members of `Literal` are texts, numbers and booleans";
                    return Err(syntax(message, column));
                }
                value => values.push(value),
            }
            if !self.take(',') {
                break;
            }
        }
        self.close(close, "Literal", values.len())?;
        let mut members: Vec<Member> = values.into_iter().map(Member::Value).collect();
        members.extend(nullable.then_some(Member::Null));
        join(members, start)
    }

    fn at_opening(&self) -> bool {
        matches!(self.peek(), Token::Mark('[' | '<'))
    }

    /// Enters brackets, and returns the closing one.
    fn opening(&mut self) -> char {
        if self.advance() == Token::Mark('<') {
            '>'
        } else {
            ']'
        }
    }

    fn close(&mut self, close: char, name: &str, arguments: usize) -> Result<(), SignatureError> {
        if arguments < 2 && matches!(self.peek(), Token::Mark(',')) && name != "Literal" {
            return Err(syntax(format!("`{name}` takes one type"), self.column()));
        }
        self.expect(close, &format!("`{close}` to close `{name}`"))
    }
}

fn example(head: &Head) -> &'static str {
    match head {
        Head::Literal => "write `Literal[\"a\", \"b\"]`",
        Head::Union => "write `Union[int, str]`, or `int | str`",
        _ => "write `Optional[T]`",
    }
}

fn no_brackets(name: &str, column: usize) -> SignatureError {
    syntax(format!("`{name}` takes no types in brackets"), column)
}

/// Rejects names that types can't have.
pub(crate) fn check_type_name(name: &str) -> Result<(), SignatureError> {
    let problem = if head(name).is_some() || name == "type" {
        "is taken by the grammar; choose another name, such as `Person`"
    } else if is_name(name) {
        return Ok(());
    } else {
        "is not the name of a type; use letters, digits and `_` (64 at most), and do not start with a \
         digit"
    };
    let message = format!("`{name}` {problem}");
    Err(SignatureError::new(
        SignatureErrorKind::InvalidName,
        message,
    ))
}

fn unknown<'a>(name: &str, named: impl Iterator<Item = &'a str>, column: usize) -> SignatureError {
    let spellings = SPELLINGS.iter().flat_map(|(_, spellings)| *spellings);
    let near = match did_you_mean(name, spellings.copied().chain(named))[..] {
        [nearest, ..] => format!(", did you mean `{nearest}`?"),
        [] => ";".to_owned(),
    };
    let message = format!("unknown type `{name}`{near} types are {ALLOWED}");
    SignatureError::new(SignatureErrorKind::UnknownType, message).at(column)
}
