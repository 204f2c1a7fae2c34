//! Models accessed through genai: those of providers with a protocol of their own.

pub(crate) mod client;
pub(crate) mod failure;
mod reply;
mod request;
