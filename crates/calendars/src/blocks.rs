//! What an event is to somebody who is told why a time is taken.

use kalends_availability::{Block, BlockKind};

use crate::{Event, EventSource, EventStatus};

/// What an event of that status and source takes time as.
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
    /// The event as something that takes time; whether it does is told by [`blocks`](Self::blocks).
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
