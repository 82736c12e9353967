//! Approvals: writes that wait until a person allows them.
//!
//! A key may require approval for its writes. Such a request changes nothing. It is stored as an [`Approval`] together with
//! what it would take, and the times that it would take on calendars are reserved until the decision. Callers that may
//! decide approve or deny it, the caller that asked may cancel it, and it expires by itself. An approved request is made in
//! the name of the key that asked, in the same change-set that records the decision.

mod approval;
mod change;
#[cfg(test)]
mod laws;
pub mod ports;
mod request;

pub use approval::{
    APPROVAL_LASTS, APPROVAL_LASTS_MOST, APPROVALS_KEPT, Approval, Decided, Outcome, PENDING_MAX, Reserved, State,
    Status,
};
pub use change::Change;
pub use request::{BODY_MAX, RESERVED_MAX, Seen, WaitingRequest};
