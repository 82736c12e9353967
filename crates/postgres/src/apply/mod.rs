//! Writes the parts of change-sets as rows, with one module per part, for one or many change-sets. A single
//! change-set is a batch of one, so the two ways of committing cannot drift apart.
//!
//! An empty part sends no statement.

pub(crate) mod accounts;
pub(crate) mod allowances;
pub(crate) mod answers;
pub(crate) mod approvals;
pub(crate) mod audit;
pub(crate) mod bookings;
pub(crate) mod bridge;
mod busy_days;
pub(crate) mod calendars;
pub(crate) mod change_feed;
mod claims;
mod connectors;
mod event_metadata;
mod grants;
pub(crate) mod letters;
mod members;
mod moves;
pub(crate) mod outbox;
mod people;
pub(crate) mod placed;
pub(crate) mod proposals;
mod publications;
mod reservations;
mod rules;
pub(crate) mod runs;
mod second_factors;
pub(crate) mod subscriptions;
pub(crate) mod timers;
pub(crate) mod usage;
pub(crate) mod webhooks;
