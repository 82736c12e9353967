//! Use cases over the in-memory store, with a manual clock.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails this way, its helpers included")]

mod account;
mod approvals;
mod attention;
mod availability;
mod bridge;
mod caldav;
mod change_feed;
mod common;
mod connectors;
mod console;
mod feeds;
mod histories;
mod human_copies;
mod letters;
mod metadata;
mod metering;
mod publishing;
mod series_scopes;
mod standin;
mod subscriptions;
mod takeovers;
mod timers;
