//! What the tests of every other crate stand on. A dev-dependency only.
//!
//! - [`ManualClock`], [`SeededEntropy`], [`Mailbox`], [`TestCipher`], [`TestCalendarProviders`], [`TestHumans`], [`TestPasswords`] and
//!   [`TestTokens`] stand in for the outgoing ports.
//! - [`MemoryStore`] is the reference: what a store must do, written as plainly as possible.
//! - [`conformance_suite!`] runs the [`conformance`] suite, which says the same as tests, on any store.
//! - [`histories`] replays random histories of bookings and holds on any store, against a plain model.
//! - [`fixtures`] makes the resources that tests begin with.
//! - [`statements_of`] and [`EveryStatement`] show which SQL statements something causes, [`RoundTrips`] how often it
//!   waits for Postgres.
//!
//! A crate on which this one depends uses it in tests of its own `tests` directory: inside such a
//! crate's unit tests its types and the ones seen from here would be two different ones.

mod calendar_providers;
mod cipher;
mod clock;
pub mod conformance;
mod credentials;
mod entropy;
pub mod fixtures;
pub mod histories;
mod human;
mod inspect;
mod mailbox;
mod memory;
mod round_trips;
mod statements;

pub use calendar_providers::{Failing, TestCalendarProviders};
pub use cipher::TestCipher;
pub use clock::ManualClock;
pub use credentials::{TestPasswords, TestTokens};
pub use entropy::SeededEntropy;
pub use human::TestHumans;
pub use inspect::Inspect;
pub use mailbox::Mailbox;
pub use memory::MemoryStore;
pub use round_trips::RoundTrips;
pub use statements::{EveryStatement, statements_of};
