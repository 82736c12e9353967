//! Tests the engine against RFC 5545, another implementation, a model and its own laws.
#![expect(clippy::unwrap_used, reason = "tests fail by panicking, in their helpers too")]

mod differential;
mod full;
mod laws;
mod model;
mod steps;
mod tables;
mod texts;
mod zones;
