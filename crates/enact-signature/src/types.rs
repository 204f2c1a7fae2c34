//! The types of fields.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::Value;

use crate::{Moment, Property, Ranged, SignatureError, arrow};

/// Named types, for arrow strings that use them.
pub type Types = BTreeMap<String, Type>;

/// The type of a field.
///
/// In arrow syntax: `str`, `list[int]`, `Optional[dict[str, float]]`,
/// `Literal["yes", "no"]`, `{name: str, age: int(0..150)}`. The displayed text parses back to an equal
/// type, as long as it was created by parsing or by the constructors (such as [`Type::optional`]
/// and [`Type::union`], which simplify nested and repeated types), and contains no [`Type::Schema`] and
/// no property descriptions.
#[derive(Debug, Clone, PartialEq)]
pub enum Type {
    /// Text.
    Str,
    /// A whole number.
    Int,
    /// A number.
    Float,
    /// True or false.
    Bool,
    /// A date, a time or both, as text.
    Moment(Moment),
    /// An image.
    Image,
    /// Any JSON value.
    Any,
    /// A list of values of one type.
    List(Box<Type>),
    /// A map from text to values of one type.
    Dict(Box<Type>),
    /// An object with these properties and no others. Created by [`Type::object`].
    Object(Vec<Property>),
    /// A text, a number or a list within limits.
    Ranged(Box<Ranged>),
    /// One of the given values: texts, numbers or booleans.
    Literal(Vec<Value>),
    /// A value, or null.
    Optional(Box<Type>),
    /// A value of one of the types.
    Union(Vec<Type>),
    /// A type that only its JSON Schema describes.
    Schema(Box<SchemaType>),
}

/// A Rust type, described by its JSON Schema.
#[derive(Debug, Clone, PartialEq)]
pub struct SchemaType {
    /// The name of the type in a displayed signature.
    pub name: String,
    /// The complete schema: everything that it refers to is in its `$defs`.
    pub schema: Value,
}

impl SchemaType {
    /// Creates a named schema.
    pub fn new(name: impl Into<String>, schema: Value) -> Self {
        Self {
            name: name.into(),
            schema,
        }
    }
}

impl Type {
    /// `list[item]`.
    pub fn list(item: Type) -> Type {
        Type::List(Box::new(item))
    }

    /// `dict[str, value]`.
    pub fn dict(value: Type) -> Type {
        Type::Dict(Box::new(value))
    }

    /// `Literal[values]`.
    pub fn literal<V: Into<Value>>(values: impl IntoIterator<Item = V>) -> Type {
        let mut distinct: Vec<Value> = Vec::new();
        for value in values {
            let value = value.into();
            if !distinct.contains(&value) {
                distinct.push(value);
            }
        }
        Type::Literal(distinct)
    }

    /// `Optional[inner]`, which is `inner` if that is already optional.
    pub fn optional(inner: Type) -> Type {
        match inner {
            Type::Optional(_) => inner,
            other => Type::Optional(Box::new(other)),
        }
    }

    /// `a | b | …` in its simplest form: nested unions are flattened, repeated members dropped,
    /// an optional member makes the whole optional, and a single member is returned as it is.
    /// A union without members is [`Type::Any`].
    pub fn union(members: impl IntoIterator<Item = Type>) -> Type {
        fn collect(member: Type, distinct: &mut Vec<Type>, nullable: &mut bool) {
            match member {
                Type::Optional(inner) => {
                    *nullable = true;
                    collect(*inner, distinct, nullable);
                }
                Type::Union(inner) => {
                    for member in inner {
                        collect(member, distinct, nullable);
                    }
                }
                other if distinct.contains(&other) => {}
                other => distinct.push(other),
            }
        }
        let (mut distinct, mut nullable) = (Vec::new(), false);
        for member in members {
            collect(member, &mut distinct, &mut nullable);
        }
        let joined = match distinct.len() {
            0 => Type::Any,
            1 => distinct.swap_remove(0),
            _ => Type::Union(distinct),
        };
        joined.or_null(nullable)
    }

    /// Makes the type optional if it also allows null.
    pub(crate) fn or_null(self, is_null_allowed: bool) -> Type {
        match is_null_allowed {
            true => Type::optional(self),
            false => self,
        }
    }

    /// A type described only by its JSON Schema.
    pub fn schema(name: impl Into<String>, schema: Value) -> Type {
        Type::Schema(Box::new(SchemaType::new(name, schema)))
    }

    /// Parses a type in arrow syntax.
    pub fn parse(text: &str) -> Result<Type, SignatureError> {
        arrow::parse_type(text, &Types::new())
    }

    /// Parses a type that can use these named types.
    ///
    /// ```
    /// use enact_signature::{Type, Types};
    ///
    /// let types = Types::from([("Person".to_owned(), Type::parse("{name: str, age: int}")?)]);
    /// let people = Type::parse_with("list[Person]", &types)?;
    /// assert_eq!(people.to_string(), "list[{name: str, age: int}]");
    /// # Ok::<(), enact_signature::SignatureError>(())
    /// ```
    pub fn parse_with(text: &str, types: &Types) -> Result<Type, SignatureError> {
        arrow::parse_type(text, types)
    }

    /// Rejects names that types can't have, such as `str`.
    pub fn check_name(name: &str) -> Result<(), SignatureError> {
        arrow::check_type_name(name)
    }

    /// Whether it is `Optional[…]`: the value can be null or omitted.
    pub fn is_optional(&self) -> bool {
        matches!(self, Type::Optional(_))
    }

    /// Whether it is `str`.
    pub fn is_str(&self) -> bool {
        matches!(self, Type::Str)
    }

    /// The type without its limits: `int` for `int(0..10)`.
    pub fn base(&self) -> &Type {
        match self {
            Type::Ranged(ranged) => ranged.ty(),
            other => other,
        }
    }

    /// The nesting of the type, and the number of types in it.
    pub(crate) fn measure(&self) -> (usize, usize) {
        let several = |types: &mut dyn Iterator<Item = &Type>| {
            types.fold((0, 1), |(depth, size): (usize, usize), ty| {
                let (own_depth, own_size) = ty.measure();
                (depth.max(own_depth), size.saturating_add(own_size))
            })
        };
        let (below, size) = match self {
            Type::List(inner) | Type::Dict(inner) | Type::Optional(inner) => inner.measure(),
            Type::Object(properties) => several(&mut properties.iter().map(|one| &one.ty)),
            Type::Union(members) => return several(&mut members.iter()),
            Type::Ranged(ranged) => return ranged.ty().measure(),
            _ => return (0, 1),
        };
        (below + 1, size.saturating_add(1))
    }

    /// Calls `visit` on every schema in the type, at any depth.
    pub fn visit_schemas(&mut self, visit: &mut impl FnMut(&mut SchemaType)) {
        match self {
            Type::Schema(known) => visit(known),
            Type::List(inner) | Type::Dict(inner) | Type::Optional(inner) => {
                inner.visit_schemas(visit);
            }
            Type::Union(members) => {
                members
                    .iter_mut()
                    .for_each(|member| member.visit_schemas(visit));
            }
            Type::Object(properties) => {
                let types = properties.iter_mut().map(|property| &mut property.ty);
                types.for_each(|ty| ty.visit_schemas(visit));
            }
            Type::Ranged(ranged) => ranged.ty_mut().visit_schemas(visit),
            Type::Str
            | Type::Int
            | Type::Float
            | Type::Bool
            | Type::Any
            | Type::Moment(_)
            | Type::Image
            | Type::Literal(_) => {}
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Str => f.write_str("str"),
            Type::Int => f.write_str("int"),
            Type::Float => f.write_str("float"),
            Type::Bool => f.write_str("bool"),
            Type::Any => f.write_str("any"),
            Type::Moment(moment) => f.write_str(moment.name()),
            Type::Image => f.write_str("image"),
            Type::Object(properties) => {
                f.write_str("{")?;
                separated(f, properties, ", ")?;
                f.write_str("}")
            }
            Type::Ranged(ranged) => write!(f, "{ranged}"),
            Type::List(item) => write!(f, "list[{item}]"),
            Type::Dict(value) => write!(f, "dict[str, {value}]"),
            Type::Literal(values) => {
                f.write_str("Literal[")?;
                separated(f, values, ", ")?;
                f.write_str("]")
            }
            Type::Optional(inner) => write!(f, "Optional[{inner}]"),
            Type::Union(members) => separated(f, members, " | "),
            Type::Schema(known) => f.write_str(&known.name),
        }
    }
}

fn separated<T: fmt::Display>(
    f: &mut fmt::Formatter<'_>,
    items: &[T],
    separator: &str,
) -> fmt::Result {
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            f.write_str(separator)?;
        }
        write!(f, "{item}")?;
    }
    Ok(())
}

impl Type {
    /// The JSON Schema of the values of this type.
    pub fn json_schema(&self) -> Value {
        if let Type::Schema(known) = self {
            return known.schema.clone();
        }
        let mut definitions = crate::schema::Definitions::default();
        match definitions.schema_of(self) {
            Value::Object(root) => Value::Object(definitions.attach(root)),
            other => other,
        }
    }

    /// The type that a JSON Schema describes.
    ///
    /// Simple schemas become plain types; the width of an integer and the format of a number are not
    /// kept, as in arrow strings, where `i64` and `u8` are both `int`. Anything else (an object that
    /// allows other properties, a pattern, a format other than dates and times) becomes a
    /// [`Type::Schema`] with the definitions it refers to.
    pub fn from_json_schema(schema: &Value) -> Type {
        crate::schema::read(schema)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_constructors_give_the_simplest_form() {
        assert_eq!(
            Type::optional(Type::optional(Type::Int)),
            Type::optional(Type::Int)
        );
        assert_eq!(
            Type::union([
                Type::Int,
                Type::union([Type::Str, Type::optional(Type::Int)])
            ]),
            Type::optional(Type::Union(vec![Type::Int, Type::Str])),
        );
        assert_eq!(Type::union([Type::Bool, Type::Bool]), Type::Bool);
        assert_eq!(Type::union([]), Type::Any);
    }

    #[test]
    fn the_arrow_spelling() {
        let shown = |ty: Type| ty.to_string();
        assert_eq!(
            shown(Type::dict(Type::list(Type::Int))),
            "dict[str, list[int]]"
        );
        assert_eq!(shown(Type::literal(["a", "b\""])), r#"Literal["a", "b\""]"#);
        assert_eq!(shown(Type::optional(Type::Any)), "Optional[any]");
        assert_eq!(shown(Type::union([Type::Int, Type::Str])), "int | str");
        assert_eq!(shown(Type::schema("Report", json!({}))), "Report");
    }

    #[test]
    fn stored_as_the_arrow_spelling_or_down_to_the_schema() {
        let plain = Type::optional(Type::list(Type::Str));
        assert_eq!(
            serde_json::to_value(&plain).unwrap(),
            json!("Optional[list[str]]")
        );

        let report = Type::schema("Report", json!({"type": "object", "properties": {}}));
        for ty in [
            plain,
            report.clone(),
            Type::list(report.clone()),
            Type::optional(Type::dict(report.clone())),
            Type::union([Type::Int, report]),
        ] {
            let stored = serde_json::to_string(&ty).unwrap();
            assert_eq!(
                serde_json::from_str::<Type>(&stored).unwrap(),
                ty,
                "{stored}"
            );
        }
    }

    #[test]
    fn a_stored_form_that_is_no_type_is_refused_with_the_forms_that_are() {
        let error = serde_json::from_value::<Type>(json!({"set": "int"})).unwrap_err();
        assert!(error.to_string().contains("`name` and `schema`"), "{error}");
        let error = serde_json::from_value::<Type>(json!("lisst[int]")).unwrap_err();
        assert!(error.to_string().contains("did you mean `list`"), "{error}");
    }
}
