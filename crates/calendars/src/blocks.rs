//! Events as blocks, which are the reasons why a time is not offered.

use std::fmt;

use crate::{Event, EventSource, EventStatus};

/// The kind of a [`Block`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum BlockKind {
    /// A confirmed or tentative event, or an occurrence of a series.
    Event,
    /// A hold that has not expired.
    Hold,
    /// An imported event.
    ExternalEvent,
    /// The busy time of a connected human calendar, or time for which its busy times are unknown or too old.
    HumanBusy,
    /// A time that a pending proposal keeps.
    Reservation,
}

impl BlockKind {
    /// The name that responses show.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Event => "event",
            Self::Hold => "hold",
            Self::ExternalEvent => "external_event",
            Self::HumanBusy => "human_busy",
            Self::Reservation => "reservation",
        }
    }
}

impl fmt::Display for BlockKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One busy time, without buffers.
pub type Block = kalends_availability::Block<BlockKind>;

/// Why a time is not offered.
pub type ReasonKind = kalends_availability::ReasonKind<BlockKind>;

/// One reason why a time is not offered.
pub type Reason = kalends_availability::Reason<kalends_kernel::CalendarId, BlockKind>;

/// The block kind of an event with that status and source.
pub const fn block_kind(status: EventStatus, source: EventSource) -> BlockKind {
    match (source, status) {
        (EventSource::ExternalIcal, _) => BlockKind::ExternalEvent,
        (EventSource::Internal, EventStatus::Hold) => BlockKind::Hold,
        (EventSource::Internal, EventStatus::Confirmed | EventStatus::Tentative | EventStatus::Cancelled) => {
            BlockKind::Event
        }
    }
}

impl Event {
    /// The event as a block. [`blocks`](Self::blocks) decides whether the event takes time at all.
    pub const fn block(&self) -> Block {
        Block { kind: block_kind(self.status, self.source), span: self.times.span }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case(EventStatus::Confirmed, EventSource::Internal, BlockKind::Event)]
    #[case(EventStatus::Tentative, EventSource::Internal, BlockKind::Event)]
    #[case(EventStatus::Hold, EventSource::Internal, BlockKind::Hold)]
    #[case(EventStatus::Confirmed, EventSource::ExternalIcal, BlockKind::ExternalEvent)]
    #[case(EventStatus::Tentative, EventSource::ExternalIcal, BlockKind::ExternalEvent)]
    fn kinds(#[case] status: EventStatus, #[case] source: EventSource, #[case] kind: BlockKind) {
        assert_eq!(block_kind(status, source), kind);
    }
}
