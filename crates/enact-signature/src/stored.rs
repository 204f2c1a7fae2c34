//! The stored form of types.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Value, json};

use crate::{Property, Type};

impl Type {
    /// The stored form: the arrow syntax if it is complete, and otherwise one object per level down to what
    /// the syntax can't express: schemas, which it shows by name only, and
    /// descriptions.
    fn to_stored(&self) -> Value {
        let (key, inner) = match self {
            Type::Schema(known) => return json!({"name": known.name, "schema": known.schema}),
            Type::List(inner) => ("list", inner.to_stored()),
            Type::Dict(inner) => ("dict", inner.to_stored()),
            Type::Optional(inner) => ("optional", inner.to_stored()),
            Type::Ranged(ranged) => {
                let mut limits = ranged.limits();
                let inner = ranged.ty().to_stored();
                match inner.is_string() {
                    true => ("", inner),
                    // Only a list can contain a type without a spelling.
                    false => {
                        let mut stored = json!({"ranged": inner});
                        limits.by_ref().for_each(|(keyword, limit)| {
                            stored[keyword] = Value::Number(limit.clone());
                        });
                        return stored;
                    }
                }
            }
            Type::Union(members) => {
                let members: Vec<_> = members.iter().map(Type::to_stored).collect();
                match members.iter().all(Value::is_string) {
                    true => return Value::String(self.to_string()),
                    false => ("union", Value::Array(members)),
                }
            }
            Type::Object(properties) => {
                let types: Vec<_> = properties.iter().map(|one| one.ty.to_stored()).collect();
                let described = properties.iter().any(|one| one.description.is_some());
                if !described && types.iter().all(Value::is_string) {
                    return Value::String(self.to_string());
                }
                let stored = properties.iter().zip(types).map(|(property, ty)| {
                    let mut stored = json!({"name": property.name, "type": ty});
                    if let Some(description) = &property.description {
                        stored["description"] = json!(description);
                    }
                    stored
                });
                return json!({"object": stored.collect::<Vec<_>>()});
            }
            plain => return Value::String(plain.to_string()),
        };
        match inner {
            Value::String(_) => Value::String(self.to_string()),
            inner => json!({ key: inner }),
        }
    }

    fn from_stored(stored: Value) -> Result<Type, String> {
        let mut object = match stored {
            Value::String(text) => return Type::parse(&text).map_err(|e| e.to_string()),
            Value::Object(object) => object,
            other => return Err(unknown_form(&other)),
        };
        if let (Some(Value::String(name)), Some(schema)) =
            (object.get("name"), object.get("schema"))
        {
            return Ok(Type::schema(name.clone(), schema.clone()));
        }
        type Wrap = fn(Type) -> Type;
        let wrappers: [(&str, Wrap); 3] = [
            ("list", Type::list),
            ("dict", Type::dict),
            ("optional", Type::optional),
        ];
        for (key, wrap) in wrappers {
            if let Some(inner) = object.remove(key) {
                return Type::from_stored(inner).map(wrap);
            }
        }
        if let Some(inner) = object.remove("ranged") {
            let ty = Type::from_stored(inner)?;
            let mut limit = |keyword: &str| match object.remove(keyword) {
                Some(Value::Number(limit)) => Some(limit),
                _ => None,
            };
            let (least, most) = (limit("minItems"), limit("maxItems"));
            return ty.within(least, most).map_err(|error| error.to_string());
        }
        if let Some(Value::Array(members)) = object.remove("union") {
            let members: Result<Vec<_>, _> = members.into_iter().map(Type::from_stored).collect();
            return members.map(Type::union);
        }
        if let Some(Value::Array(stored)) = object.remove("object") {
            let properties: Result<Vec<_>, _> = stored.into_iter().map(property).collect();
            return Type::object(properties?).map_err(|error| error.to_string());
        }
        Err(unknown_form(&Value::Object(object)))
    }
}

fn property(stored: Value) -> Result<Property, String> {
    let Value::Object(mut object) = stored else {
        return Err(unknown_form(&stored));
    };
    let (Some(Value::String(name)), Some(ty)) = (object.remove("name"), object.remove("type"))
    else {
        return Err(unknown_form(&Value::Object(object)));
    };
    let mut property = Property::new(name, Type::from_stored(ty)?);
    if let Some(Value::String(description)) = object.remove("description") {
        property = property.describe(description);
    }
    Ok(property)
}

fn unknown_form(value: &Value) -> String {
    format!(
        "not a type: {value}; write an arrow type such as \"list[str]\", or an object with \
         `name` and `schema`"
    )
}

impl Serialize for Type {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_stored().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Type {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Type::from_stored(Value::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}
