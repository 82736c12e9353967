#![doc = include_str!("../README.md")]
//!
//! ## The parts
//!
//! - [`Lease`] counts units of a [`Period`], which is a UTC month. Counting costs about one write for each block.
//! - [`Rate`] admits a number of requests in a window of seconds. Its state is one number for each caller.
//! - [`IpKey`] is the key under which the requests of one IP address are counted.
//!
//! Values that stand for counted units ([`Unit`], [`Debit`], [`Refund`]) and leases cannot be copied, so that no unit is
//! spent or given back twice.

mod address;
pub mod lease;
mod period;
mod rate;
#[cfg(feature = "testing")]
pub mod testing;

/// What the interface takes and returns of other crates.
pub use kalends_time::{ParseTimestampError, SignedDuration, Timestamp};

pub use address::IpKey;
pub use lease::{AmountError, Debit, Lease, Refund, Take, Unit};
pub use period::Period;
pub use rate::{Rate, RateDecision, RateState, retry_after_seconds};
