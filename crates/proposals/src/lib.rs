//! Proposals: an agent offers slots to others, they respond, and one slot becomes an event.
//!
//! A [`Proposal`] is pending until it is confirmed, cancelled or expired. After that it does not change. Each
//! participant responds once. The responses are combined into the [`Ranking`] of the slots, best first. The score of a
//! slot is its weight plus the points of each response that selects it.
//!
//! No value can be made that the rules do not allow: the fields are private, every transition checks the rules, and
//! [`Proposal::from_stored`] refuses what no transition returns.
//!
//! Everything is pure: the current time and the source of identifiers are arguments. The crate knows events and
//! calendars only by their identifiers. The caller makes the event of the best slot, in the transaction that
//! confirms the proposal.
//!
//! ```
//! use kalends_kernel::Entropy;
//! use kalends_time::{SignedDuration, Timestamp, Span};
//! use kalends_proposals::{NewProposal, NewResponse, NewSlot, Proposal, State, Verdict};
//!
//! struct Counting(std::sync::atomic::AtomicU8);
//! impl Entropy for Counting {
//!     fn fill(&self, bytes: &mut [u8]) {
//!         bytes.fill(self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed));
//!     }
//! }
//! let entropy = Counting(0.into());
//! let now: Timestamp = "2026-03-02T08:00:00Z".parse()?;
//! let slot = |hour| -> Result<NewSlot, Box<dyn std::error::Error>> {
//!     let start = now + SignedDuration::hours(hour);
//!     Ok(NewSlot::new(Span::new(start, start + SignedDuration::hours(1))?))
//! };
//! let ada = "agt_00000000000000000000000001".parse()?;
//! let ben = "agt_00000000000000000000000002".parse()?;
//! let desk = "cal_00000000000000000000000001".parse()?;
//! let new = NewProposal::new("Kick-off", ada, vec![ben], desk, vec![slot(2)?, slot(4)?]);
//! let org = "org_00000000000000000000000001".parse()?;
//! let proposal = Proposal::create(org, new, now, &entropy)?;
//!
//! let later = proposal.slots()[1].id();
//! let responded = proposal.respond(ben, NewResponse::accept(later), now, &entropy)?;
//! assert_eq!(responded.state_at(now), State::Pending);
//! assert!(responded.is_answered());
//! let Verdict::Ranked(ranking) = responded.verdict(now)? else { panic!("nobody declined") };
//! assert_eq!(ranking.best().id(), later);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The feature `testing` adds the module `testing`, with strategies for property-based tests and a plain model.

mod bounds;
mod change;
mod document;
mod error;
#[cfg(test)]
mod laws;
mod new;
pub mod ports;
mod proposal;
mod response;
mod score;
mod slot;
mod state;
mod stored;
#[cfg(feature = "testing")]
pub mod testing;

pub use change::{Change, NotNext};
pub use document::{Confidential, DocumentError, Remark, read_slots, write_slots};
pub use error::{ProposalError, StoredError};
pub use new::{DESCRIPTION_MAX, NewProposal, PARTICIPANTS_MAX, TITLE_MAX};
pub use proposal::{Proposal, TakenSpans};
pub use response::{COUNTER_SLOTS_MAX, MESSAGE_MAX, NewResponse, Response, ResponseKind};
pub use score::{Ranking, Score, Verdict};
pub use slot::{NewSlot, SLOTS_MAX, Slot, Weight, WeightError};
pub use state::{CancelReason, State, Status};
pub use stored::StoredProposal;
