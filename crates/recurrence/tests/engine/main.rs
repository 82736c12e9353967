//! Tests the engine against RFC 5545, another implementation, a model and its own laws.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking, in their helpers too")]

mod any_rule;
mod differential;
mod drawn;
mod full;
mod laws;
mod model;
mod rfc_model;
mod steps;
mod tables;
mod texts;
mod zones;
