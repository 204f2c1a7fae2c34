//! Adapters: what they say, what they read, and what data cannot make them believe.

#![expect(clippy::unwrap_used, clippy::panic, reason = "tests may")]

#[path = "adapters/choice.rs"]
mod choice;
#[path = "adapters/conversions.rs"]
mod conversions;
#[path = "adapters/fever.rs"]
mod fever;
#[path = "adapters/hostile.rs"]
mod hostile;
#[path = "adapters/messy_steps.rs"]
mod messy_steps;
#[path = "adapters/prompts.rs"]
mod prompts;
#[path = "adapters/replies.rs"]
mod replies;
#[path = "adapters/round_trip.rs"]
mod round_trip;
#[path = "adapters/shapes.rs"]
mod shapes;
#[path = "adapters/steps.rs"]
mod steps;
#[path = "adapters/strategies.rs"]
mod strategies;
#[path = "adapters/tasks.rs"]
mod tasks;
#[path = "adapters/validator.rs"]
mod validator;
