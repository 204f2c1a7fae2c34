//! `#[derive(Signature)]`.

// A struct that only declares a signature must not be reported as dead code, whatever it is for.
#![deny(warnings)]

use std::collections::BTreeMap;

use enact::{Signature, TypedSignature};
use enact_signature::Type;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// Answer the question with the tools at hand.
///
/// Be brief.
#[derive(Signature)]
struct Weather {
    #[input]
    question: String,
    /// How many sources to read.
    #[input(default = 3)]
    k: i64,
    #[output]
    answer: String,
    /// Degrees Celsius.
    #[output]
    celsius: f64,
}

#[test]
fn docs_become_instructions_and_descriptions() {
    let signature = Weather::signature();
    assert_eq!(signature.name(), Some("Weather"));
    assert_eq!(
        signature.instructions(),
        "Answer the question with the tools at hand.\n\nBe brief."
    );
    assert_eq!(
        signature.arrow(),
        "question: str, k: int = 3 -> answer: str, celsius: float"
    );
    let described = |name: &str| signature.field(name).unwrap().description.clone();
    assert_eq!(described("k").as_deref(), Some("How many sources to read."));
    assert_eq!(described("celsius").as_deref(), Some("Degrees Celsius."));
    assert_eq!(described("question"), None);
}

#[test]
fn the_sides_are_structs_that_go_through_json() {
    let input = WeatherInput {
        question: "Paris?".into(),
        k: 1,
    };
    assert_eq!(
        serde_json::to_value(input.clone()).unwrap(),
        json!({"question": "Paris?", "k": 1})
    );
    let output: WeatherOutput =
        serde_json::from_value(json!({"answer": "Mild.", "celsius": 18.5})).unwrap();
    assert_eq!(output.answer, "Mild.");
    assert!(format!("{input:?} {output:?}").contains("celsius: 18.5"));
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Report {
    city: String,
    unit: Unit,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) enum Unit {
    Celsius,
    Fahrenheit,
}

#[derive(Signature)]
pub(crate) struct Typed {
    #[input(default = "Paris")]
    city: String,
    #[input(default = -2)]
    offset: Option<i64>,
    #[input(default = Unit::Fahrenheit)]
    unit: Unit,
    #[input(default = vec![1, 2])]
    list: Vec<i64>,
    #[input(default = 0)]
    small: u8,
    #[input]
    r#type: Option<bool>,
    #[output]
    report: Report,
    #[output]
    others: Option<Vec<Report>>,
    #[output]
    counts: BTreeMap<String, i64>,
    #[output]
    anything: serde_json::Value,
}

#[test]
fn rust_types_become_field_types() {
    let signature = Typed::signature();
    assert!(signature.has_default_instructions());
    let ty = |name: &str| signature.field(name).unwrap().ty.clone();
    assert_eq!(ty("offset"), Type::optional(Type::Int));
    assert_eq!(ty("unit"), Type::literal(["Celsius", "Fahrenheit"]));
    assert_eq!(ty("list"), Type::list(Type::Int));
    assert_eq!(ty("type"), Type::optional(Type::Bool));
    assert_eq!(ty("counts"), Type::dict(Type::Int));
    assert_eq!(ty("anything"), Type::Any);
    assert_eq!(ty("others").to_string(), "Optional[list[Report]]");
    assert_eq!(ty("report").to_string(), "Report");
    assert_eq!(ty("small"), Type::Int);
    let schema = signature.output_schema();
    assert_eq!(
        schema["properties"]["report"]["properties"]["unit"],
        json!({"$ref": "#/$defs/Unit"})
    );
    assert_eq!(
        schema["$defs"]["Unit"]["enum"],
        json!(["Celsius", "Fahrenheit"])
    );
    assert_eq!(schema["required"], json!(["report", "counts", "anything"]));
}

#[test]
fn defaults_are_of_the_type_of_the_field() {
    let filled = Typed::signature()
        .check_inputs(enact_signature::Values::new())
        .unwrap();
    assert_eq!(
        serde_json::Value::from(filled),
        json!({
            "city": "Paris", "offset": -2, "unit": "Fahrenheit", "list": [1, 2], "small": 0, "type": null,
        })
    );
}

#[test]
fn a_value_is_a_demonstration() {
    let demonstration = Weather {
        question: "Paris?".into(),
        k: 1,
        answer: "Mild.".into(),
        celsius: 18.5,
    };
    let (input, output) = demonstration.split();
    assert_eq!((input.k, output.celsius), (1, 18.5));
    assert_eq!(
        (input.question, output.answer),
        ("Paris?".into(), "Mild.".into())
    );
}

/// Declared, named once, never built: as most signatures are.
#[derive(Signature)]
struct OnlyNamed {
    #[input]
    a: String,
    #[output]
    b: String,
}

fn arrow_of<S: TypedSignature>() -> String {
    S::signature().arrow()
}

#[test]
fn a_signature_that_is_only_named_causes_no_warning() {
    assert_eq!(arrow_of::<OnlyNamed>(), "a: str -> b: str");
}

mod elsewhere {
    /// Visible from outside, with its sides and their fields.
    #[derive(enact::Signature)]
    pub(super) struct Shared {
        #[input]
        pub(super) a: String,
        #[output]
        pub(super) b: String,
    }
}

#[test]
fn the_sides_are_as_visible_as_the_struct() {
    let given = elsewhere::SharedInput { a: "x".into() };
    let shared = elsewhere::Shared {
        a: given.a,
        b: "y".into(),
    };
    let (input, output): (elsewhere::SharedInput, elsewhere::SharedOutput) = shared.split();
    assert_eq!((input.a, output.b), ("x".into(), "y".into()));
}
