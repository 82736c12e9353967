//! The REST API, end to end: the real binary over HTTP, on both databases. Every test states what the
//! specification says; modules are named after resources and rules.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails this way, its helpers included")]

mod account_end;
mod accounts;
mod agents;
mod audit_log;
mod availability;
mod availability_rules;
mod calendars;
mod changes;
mod claims;
mod concurrency;
mod console;
mod console_account;
mod context;
mod entity_tags;
mod envelope;
mod event_times;
mod events;
mod fields;
mod fixtures;
mod hold_races;
mod holds;
mod idempotency;
mod if_as_of;
mod keys;
mod lifecycle;
mod lists;
mod local_times;
mod metering;
mod operators;
mod reach;
mod secrecy;
mod series;
mod service;
mod waitlist;
