//! The parts of change-sets as rows, one module each, over one change-set or many: a single one is
//! the batch of one, so that the two ways of committing cannot drift apart.
//!
//! Nothing is sent for a part that is empty.

pub(crate) mod accounts;
pub(crate) mod answers;
pub(crate) mod audit;
pub(crate) mod bookings;
pub(crate) mod bridge;
mod busy_days;
pub(crate) mod calendars;
mod claims;
mod grants;
pub(crate) mod letters;
pub(crate) mod outbox;
mod people;
pub(crate) mod proposals;
mod reservations;
mod rules;
pub(crate) mod subscriptions;
pub(crate) mod timers;
pub(crate) mod usage;
pub(crate) mod webhooks;
