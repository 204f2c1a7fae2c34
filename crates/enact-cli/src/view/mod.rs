//! Shows runs to a person.

mod cell;
mod diff;
pub(crate) mod exact;
mod markdown;
mod narrator;
mod question;
mod screen;
pub(crate) mod text;
mod values;

pub(crate) use diff::plain_diff;
pub(crate) use narrator::{Narrator, spoken_reason, tokens};
pub(crate) use question::{Way, show_deed, show_question, show_thought, show_waiting};
pub(crate) use screen::{Ink, Screen, Stream};
pub(crate) use values::{Form, Outputs, call_line};
