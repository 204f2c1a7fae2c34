//! What holds for every signature and every text.

#![expect(clippy::unwrap_used, reason = "tests may")]

use enact_signature::{Field, Moment, Property, Signature, Type};
use proptest::prelude::*;
use serde_json::{Value, json};

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        any::<String>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        prop::num::f64::NORMAL.prop_map(Value::from),
        any::<bool>().prop_map(Value::from),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![Just(Value::Null), scalar()].prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(any::<String>(), inner, 0..4)
                .prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    })
}

fn ranged() -> impl Strategy<Value = Type> {
    let lengths = || (0..9u64, 0..9u64).prop_map(|(least, more)| (least, least + more));
    let limits = prop::sample::select(vec![(true, true), (true, false), (false, true)]);
    let cut = |ty: Type, (has_least, has_most): (bool, bool), least: Value, most: Value| {
        let number = |limit: Value| limit.as_number().cloned();
        let least = has_least.then(|| number(least)).flatten();
        let most = has_most.then(|| number(most)).flatten();
        ty.within(least, most).unwrap()
    };
    let of_length = prop::sample::select(vec![Type::Str, Type::list(Type::Int)]);
    prop_oneof![
        (of_length, limits.clone(), lengths()).prop_map(move |(ty, limits, (least, most))| {
            cut(ty, limits, least.into(), most.into())
        }),
        (limits.clone(), any::<i32>(), 0..1000i64).prop_map(move |(limits, least, more)| {
            cut(
                Type::Int,
                limits,
                least.into(),
                (i64::from(least) + more).into(),
            )
        }),
        (limits, prop::num::f64::NORMAL).prop_map(move |(limits, least)| {
            let most = least + least.abs();
            let most = if most.is_finite() { most } else { f64::MAX };
            cut(Type::Float, limits, least.into(), most.into())
        }),
    ]
}

fn properties(ty: impl Strategy<Value = Type>) -> impl Strategy<Value = Type> {
    let name = prop_oneof![3 => "[a-z_]{1,6}", 1 => any::<String>()];
    prop::collection::btree_map(name, ty, 1..4).prop_map(|named| {
        let properties = named.into_iter().map(|(name, ty)| Property::new(name, ty));
        Type::object(properties).unwrap()
    })
}

fn ty() -> impl Strategy<Value = Type> {
    let leaf = prop_oneof![
        prop::sample::select(Moment::ALL.map(Type::Moment).to_vec()),
        Just(Type::Image),
        ranged(),
        Just(Type::Str),
        Just(Type::Int),
        Just(Type::Float),
        Just(Type::Bool),
        Just(Type::Any),
        prop::collection::vec(scalar(), 1..4).prop_map(Type::literal),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            inner.clone().prop_map(Type::list),
            inner.clone().prop_map(Type::dict),
            properties(inner.clone()),
            inner.clone().prop_map(Type::optional),
            prop::collection::vec(inner, 2..4).prop_map(Type::union),
        ]
    })
}

/// A default that fits, for those types where one is easily found.
fn default_of(ty: Type) -> BoxedStrategy<Option<Value>> {
    let some = match &ty {
        Type::Str => any::<String>().prop_map(Value::from).boxed(),
        Type::Int => any::<i64>().prop_map(Value::from).boxed(),
        Type::Float => prop::num::f64::NORMAL.prop_map(Value::from).boxed(),
        Type::Bool => any::<bool>().prop_map(Value::from).boxed(),
        Type::Any => value().boxed(),
        Type::List(_) => Just(json!([])).boxed(),
        Type::Dict(_) => Just(json!({})).boxed(),
        Type::Literal(values) => prop::sample::select(values.clone()).boxed(),
        Type::Optional(_) => Just(Value::Null).boxed(),
        _ => return Just(None).boxed(),
    };
    prop::option::of(some).boxed()
}

fn field() -> impl Strategy<Value = Field> {
    let typed = ty().prop_flat_map(|ty| (default_of(ty.clone()), Just(ty)));
    ("[a-z_][a-z0-9_]{0,8}", typed).prop_map(|(name, (default, ty))| {
        let field = Field::new(name, ty);
        match default {
            Some(default) => field.default_value(default),
            None => field,
        }
    })
}

fn signature() -> impl Strategy<Value = Signature> {
    let side = || prop::collection::vec(field(), 1..4);
    (side(), side()).prop_filter_map("reserved or repeated names", |(inputs, outputs)| {
        Signature::builder()
            .inputs(inputs)
            .outputs(outputs)
            .build()
            .ok()
    })
}

/// Pieces of the grammar, so that random texts get past the lexer.
fn soup() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "a",
        "b",
        "str",
        "int",
        "list",
        "dict",
        "Literal",
        "Optional",
        "Union",
        "None",
        "->",
        "-",
        ">",
        "<",
        "[",
        "]",
        "{",
        "}",
        ":",
        ",",
        "=",
        "|",
        "&",
        "\"",
        "'",
        "\\",
        "3",
        "-1",
        "1.5",
        "1e",
        " ",
        "(",
        ")",
        "..",
        "?",
        ";",
        "type ",
        "date",
        "image",
        "{a: int}",
        "int(0..9)",
        "\n",
        "é",
        ".",
        "\"x\"",
        "true",
        "history",
    ]);
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn a_type_is_what_it_shows(ty in ty()) {
        prop_assert_eq!(Type::parse(&ty.to_string()).unwrap(), ty);
    }

    #[test]
    fn a_type_with_descriptions_is_what_it_is_stored_as(ty in properties(ty()), wrap in 0..4) {
        let Type::Object(mut properties) = ty else { panic!() };
        properties[0].description = Some("What it means.".to_owned());
        let described = Type::object(properties).unwrap();
        let ty = match wrap {
            0 => described,
            1 => Type::optional(Type::list(described)),
            2 => Type::list(described).within(Some(1.into()), None).unwrap(),
            _ => Type::object([Property::new("inner", described)]).unwrap(),
        };
        let stored = serde_json::to_string(&ty).unwrap();
        prop_assert_eq!(serde_json::from_str::<Type>(&stored).unwrap(), ty.clone());
        prop_assert_eq!(Type::from_json_schema(&ty.json_schema()), ty);
    }

    #[test]
    fn a_type_is_what_it_is_stored_as(ty in ty()) {
        let stored = serde_json::to_string(&ty).unwrap();
        prop_assert_eq!(serde_json::from_str::<Type>(&stored).unwrap(), ty);
    }

    #[test]
    fn a_type_is_what_its_schema_says(ty in ty()) {
        prop_assert_eq!(Type::from_json_schema(&ty.json_schema()), ty);
    }

    #[test]
    fn a_signature_is_what_it_shows(signature in signature()) {
        prop_assert_eq!(Signature::parse(&signature.arrow()).unwrap(), signature);
    }

    #[test]
    fn a_signature_is_what_it_is_stored_as(signature in signature()) {
        let stored = serde_json::to_value(&signature).unwrap();
        prop_assert_eq!(serde_json::from_value::<Signature>(stored).unwrap(), signature);
    }

    #[test]
    fn any_text_is_parsed_or_refused_with_a_place(text in any::<String>()) {
        check(&text)?;
    }

    #[test]
    fn any_pieces_are_parsed_or_refused_with_a_place(text in soup()) {
        check(&text)?;
    }

    #[test]
    fn a_damaged_signature_is_parsed_or_refused_with_a_place(
        signature in signature(),
        at in any::<prop::sample::Index>(),
        removed in 0..4usize,
        inserted in soup(),
    ) {
        let mut chars: Vec<char> = signature.arrow().chars().collect();
        let at = at.index(chars.len());
        let end = (at + removed).min(chars.len());
        chars.splice(at..end, inserted.chars());
        check(&chars.into_iter().collect::<String>())?;
    }
}

fn check(text: &str) -> Result<(), TestCaseError> {
    match Signature::parse(text) {
        Ok(signature) => prop_assert_eq!(Signature::parse(&signature.arrow()), Ok(signature)),
        Err(error) => {
            let column = error.column().unwrap_or_default();
            prop_assert!((1..=text.chars().count() + 1).contains(&column), "{error}");
            prop_assert!(error.pointer().is_some());
        }
    }
    Ok(())
}
