//! No answer is lost, none is wrong without a word, and every loop ends.

mod announcing;
mod answering;
mod bounds;
mod calls;
mod edited;
mod ending;
mod forms;
mod numbers;
mod refusal;
mod replies;
mod stall;
pub(crate) mod submitting;
mod talk;
mod views;
