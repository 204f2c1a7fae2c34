//! Choosing an adapter.

use enact::adapter::{Adapter, AdapterChoice, Chat, Misread, Read, StepReply, Tagged, Tags, Task};
use enact::model::{Capabilities, Message, Reply};
use enact::run::Entry;
use enact::signature::Values;

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

/// An adapter of a user's: that of another, with a word of its own.
#[derive(Debug)]
struct Curt(Chat);

impl Adapter for Curt {
    fn name(&self) -> &str {
        "curt"
    }

    fn system(&self, task: &Task) -> String {
        format!("{}\nBe brief.", self.0.system(task))
    }

    fn render(&self, task: &Task, entry: &Entry) -> Vec<Message> {
        self.0.render(task, entry)
    }

    fn parse_outputs(&self, task: &Task, reply: &Reply) -> Result<Read<Values>, Misread> {
        self.0.parse_outputs(task, reply)
    }

    fn parse_step(&self, task: &Task, reply: &Reply) -> Result<Read<StepReply>, Misread> {
        self.0.parse_step(task, reply)
    }
}

#[test]
fn a_user_can_bring_one() {
    let choice = AdapterChoice::from(Curt(Chat));
    assert_eq!(choice.name(), "curt");
    assert_eq!(choice.resolve(Capabilities::FULL).name(), "curt");
}
