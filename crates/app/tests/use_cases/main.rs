//! Use cases over the store in memory, with a clock that is set by hand.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails this way, its helpers included")]

mod account;
mod availability;
mod bridge;
mod console;
mod feeds;
mod histories;
mod letters;
mod metering;
mod subscriptions;
mod timers;
mod webhooks;
