//! Support for the tests of every other crate. A dev-dependency only.
//!
//! - [`ManualClock`], [`SeededEntropy`], [`Mailbox`], [`TestCipher`], [`TestCalendarProviders`], [`TestHumans`],
//!   [`TestPasswords`] and [`TestTokens`] implement the outgoing ports. [`NoCalendarProviders`], [`NoFetcher`],
//!   [`NoProviders`] and [`NoSender`] implement those that a test does not use.
//! - [`MemoryStore`] is the reference store, written as plainly as possible.
//! - [`conformance_suite!`] runs the [`conformance`] suite on any store, and [`port_suite!`] the cases of one port on a
//!   store that implements only that port.
//! - [`histories`] replays random histories of bookings and holds on any store, against a plain model.
//! - [`fixtures`] makes the resources that tests start with.
//! - [`statements_of`] and [`EveryStatement`] show which SQL statements something causes, and [`RoundTrips`] how
//!   often it waits for Postgres.
//!
//! A crate that this one depends on can use it only from its own `tests` directory. In the unit tests of such a crate,
//! the crate's own types would be different types from those that this crate uses.

mod absent;
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

pub use absent::{NoCalendarProviders, NoFetcher, NoProviders, NoSender};
pub use calendar_providers::{Failing, PublishFault, TestCalendarProviders, TestCopy};
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
