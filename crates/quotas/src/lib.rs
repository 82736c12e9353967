//! Limits on how much and how fast: exact monthly limits over several processes without a write for each unit, and
//! rates.
//!
//! Everything is pure. The current time is an argument, and the caller keeps the state: a [`Lease`] or a [`RateState`]
//! for each caller that is limited, and one counter for each monthly limit.
//!
//! - [`Lease`] counts units of a [`Period`], which is a UTC month. A process debits a block of units from a counter that
//!   all processes share, and spends them from memory. The limit is never exceeded, and counting costs about one write
//!   for each block.
//! - [`Rate`] admits a number of requests in a window of seconds. Its state is one number for each caller.
//! - [`IpKey`] is the key under which the requests of one IP address are counted.
//!
//! Values that stand for counted units ([`Unit`], [`Debit`], [`Refund`]) and leases cannot be copied, so that no unit is
//! spent or given back twice.
//!
//! ```
//! use kalends_quotas::{Lease, Rate, RateDecision, RateState, Take};
//! use kalends_time::Timestamp;
//!
//! let now: Timestamp = "2027-03-15T12:00:00Z".parse()?;
//! let limit = Some(100);
//!
//! // The counter of the month. It is a row of a table if several processes share it.
//! let mut counter = 0;
//! let mut lease = Lease::new();
//! let mut served = 0;
//! loop {
//!     match lease.take(now, limit) {
//!         Take::Spent(_) => served += 1,
//!         Take::Exhausted => break,
//!         Take::Need { debit, .. } if debit.fits(counter) => {
//!             counter += debit.amount();
//!             assert_eq!(lease.granted(debit, counter), None);
//!         }
//!         Take::Need { debit, .. } => lease.refused(debit, counter, now),
//!     }
//! }
//! assert_eq!((served, counter), (100, 100));
//!
//! let (rate, mut state) = (Rate::per_second(5), RateState::FRESH);
//! let mut passed = 0;
//! while let RateDecision::Admitted { state: next, .. } = rate.decide(state, now) {
//!     state = next;
//!     passed += 1;
//! }
//! assert_eq!(passed, 5);
//! # Ok::<(), kalends_time::ParseTimestampError>(())
//! ```
//!
//! The feature `testing` adds the module `testing`, with strategies for property-based tests and a plain model.

mod address;
pub mod lease;
mod period;
mod rate;
#[cfg(feature = "testing")]
pub mod testing;

pub use address::IpKey;
pub use lease::{AmountError, Debit, Lease, Refund, Take, Unit};
pub use period::Period;
pub use rate::{Rate, RateDecision, RateState, retry_after_seconds};
