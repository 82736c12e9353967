//! The writes of change-sets, one module for each kind.
//!
//! Events, messages, entries of change feeds, charges, audit entries and answers are written for a whole group, with
//! one statement per table. Everything else is written row by row, since a change-set with anything else is alone in
//! its group. A statement for many rows says `or fail`: if it fails, its group is rolled back anyway, so SQLite need
//! not be able to undo the statement alone.

pub(crate) mod accounts;
pub(crate) mod allowances;
pub(crate) mod answers;
pub(crate) mod approvals;
pub(crate) mod audit;
pub(crate) mod bookings;
pub(crate) mod bridge;
pub(crate) mod busy_days;
pub(crate) mod calendars;
pub(crate) mod change_feed;
mod claims;
mod connections;
mod connectors;
mod event_metadata;
pub(crate) mod letters;
mod members;
mod moves;
pub(crate) mod outbox;
mod people;
pub(crate) mod placed;
pub(crate) mod proposals;
mod publishing;
mod reservations;
mod rules;
pub(crate) mod runs;
mod second_factors;
pub(crate) mod subscriptions;
pub(crate) mod timers;
pub(crate) mod webhooks;
