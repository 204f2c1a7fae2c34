//! Choosing an adapter.

use enact::adapter::{AdapterChoice, Tagged, Tags};
use enact::model::Capabilities;

#[test]
fn auto_takes_what_the_model_can_do() {
    let resolved = |capabilities| AdapterChoice::Auto.resolve(capabilities).name().to_owned();
    assert_eq!(resolved(Capabilities::FULL), "native");
    assert_eq!(resolved(Capabilities::FULL.with_tools(false)), "json");
    assert_eq!(resolved(Capabilities::TEXT.with_tools(true)), "native");
    assert_eq!(resolved(Capabilities::TEXT), "chat");
}

#[test]
fn a_fixed_one_stays() {
    for name in ["chat", "json", "xml", "tagged", "native"] {
        let choice: AdapterChoice = name.parse().unwrap();
        assert_eq!(choice.name(), name);
        assert_eq!(choice.resolve(Capabilities::FULL).name(), name);
    }
    let choice: AdapterChoice = "Auto".parse().unwrap();
    assert_eq!(choice.name(), "auto");
    let tags = Tags {
        thought: "Idea".into(),
        ..Tags::default()
    };
    assert_eq!(AdapterChoice::from(Tagged::new(tags)).to_string(), "tagged");
}

#[test]
fn an_unknown_name_is_told_the_known_ones() {
    let error = "yaml".parse::<AdapterChoice>().unwrap_err();
    assert_eq!(
        error.to_string(),
        "unknown adapter `yaml`: use one of auto, native, json, chat, xml, tagged"
    );
}
