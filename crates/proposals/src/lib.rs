#![doc = include_str!("../README.md")]
//!
//! ## The parts
//!
//! A [`Proposal`] is pending until it is confirmed, cancelled or expired. After that it does not change. Each participant
//! responds once. The responses are combined into the [`Ranking`] of the slots, best first. The score of a slot is its
//! weight plus the points of each response that selects it.
//!
//! No value can be made that the rules do not allow: the fields are private, every transition checks the rules, and
//! [`Proposal::from_stored`] refuses what no transition returns.

mod bounds;
mod change;
mod document;
mod error;
#[cfg(test)]
mod laws;
mod named;
mod new;
mod placement;
mod places;
pub mod ports;
mod proposal;
mod response;
mod score;
mod slot;
mod state;
mod stored;
#[cfg(feature = "testing")]
pub mod testing;

/// What the interface takes and returns of other crates. Stores implement [`ports::Proposals`] with `async_trait`.
pub use async_trait::async_trait;
pub use kalends_kernel::{
    AgentId, CalendarId, Entropy, EventId, FieldError, FieldErrors, IdError, Listed, Metadata, OrgId, Page, ProposalId,
    ResponseId, SlotId, StoreError, Version,
};
pub use kalends_time::{ParseTimestampError, SignedDuration, Span, SpanError, Timestamp};
pub use serde_json;

pub use change::{Change, NotNext};
pub use document::{Confidential, DocumentError, Remark, read_slots, write_slots};
pub use error::{ProposalError, StoredError};
pub use new::{DESCRIPTION_MAX, NewProposal, PARTICIPANTS_MAX, TITLE_MAX};
pub use placement::{CreatedEvent, PLACES_MAX, Place, Placement};
pub use proposal::{Proposal, TakenSpans};
pub use response::{COUNTER_SLOTS_MAX, MESSAGE_MAX, NewResponse, Response, ResponseKind};
pub use score::{Ranking, Score, Verdict};
pub use slot::{NewSlot, SLOTS_MAX, Slot, Weight, WeightError};
pub use state::{CancelReason, State, Status};
pub use stored::StoredProposal;
