//! No answer is lost, none is wrong without a word, and every loop ends.

mod bounds;
mod edited;
mod ending;
mod forms;
mod refusal;
mod stall;
mod talk;
mod views;
