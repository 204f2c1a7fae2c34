//! What a person sees of a run.

mod narrator;
mod screen;
pub(crate) mod text;
mod values;

pub(crate) use narrator::{Narrator, grouped, spoken_reason};
pub(crate) use screen::{Ink, Screen, Stream};
pub(crate) use values::{call_line, output_lines, show_outputs};
