//! The states of a proposal.

use kalends_kernel::{EventId, SlotId};

use crate::named::named;

named! {
    /// The status of a proposal.
    ///
    /// ```
    /// use kalends_proposals::Status;
    ///
    /// assert_eq!(Status::from_name("expired"), Some(Status::Expired));
    /// assert_eq!(Status::Expired.as_str(), "expired");
    /// ```
    Status {
        /// It awaits responses.
        Pending = "pending",
        /// One of its slots became an event.
        Confirmed = "confirmed",
        /// It was not settled before its expiry.
        Expired = "expired",
        /// It was cancelled.
        Cancelled = "cancelled",
    }
}

named! {
    /// Why a proposal was cancelled.
    ///
    /// ```
    /// use kalends_proposals::CancelReason;
    ///
    /// assert_eq!(CancelReason::from_name("all_declined"), Some(CancelReason::AllDeclined));
    /// assert_eq!(CancelReason::AllDeclined.as_str(), "all_declined");
    /// ```
    CancelReason {
        /// Every participant that responded declined.
        AllDeclined = "all_declined",
        /// The organizer cancelled it.
        OrganizerCancelled = "organizer_cancelled",
    }
}

/// The status of a proposal, with its outcome.
///
/// ```
/// use kalends_proposals::{CancelReason, State, Status};
///
/// let state = State::Cancelled(CancelReason::AllDeclined);
/// let (won, reason) = state.details();
/// assert_eq!((state.status(), won, reason), (Status::Cancelled, None, Some(CancelReason::AllDeclined)));
/// assert_eq!(State::of(Status::Cancelled, won, reason), Some(state));
/// assert_eq!(State::of(Status::Cancelled, None, None), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum State {
    /// It awaits responses.
    Pending,
    /// A slot became an event.
    Confirmed {
        /// The slot.
        slot: SlotId,
        /// The event.
        event: EventId,
    },
    /// It was cancelled.
    Cancelled(CancelReason),
    /// It was not settled before its expiry.
    Expired,
}

impl State {
    /// The status.
    pub const fn status(self) -> Status {
        match self {
            Self::Pending => Status::Pending,
            Self::Confirmed { .. } => Status::Confirmed,
            Self::Cancelled(_) => Status::Cancelled,
            Self::Expired => Status::Expired,
        }
    }

    /// The fields that stores keep next to the status: the slot and the event if it is confirmed, and the reason if it
    /// is cancelled. [`State`] has an example.
    pub const fn details(self) -> (Option<(SlotId, EventId)>, Option<CancelReason>) {
        match self {
            Self::Confirmed { slot, event } => (Some((slot, event)), None),
            Self::Cancelled(reason) => (None, Some(reason)),
            Self::Pending | Self::Expired => (None, None),
        }
    }

    /// The state with that status and these [`details`](Self::details); `None` if they do not fit together.
    /// [`State`] has an example.
    pub const fn of(status: Status, won: Option<(SlotId, EventId)>, reason: Option<CancelReason>) -> Option<Self> {
        match (status, won, reason) {
            (Status::Pending, None, None) => Some(Self::Pending),
            (Status::Confirmed, Some((slot, event)), None) => Some(Self::Confirmed { slot, event }),
            (Status::Cancelled, None, Some(reason)) => Some(Self::Cancelled(reason)),
            (Status::Expired, None, None) => Some(Self::Expired),
            _ => None,
        }
    }
}
