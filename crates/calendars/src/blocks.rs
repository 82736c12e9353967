//! Events as blocks, which are the reasons why a time is not offered.

use kalends_availability::{Block, BlockKind};

use crate::{Event, EventSource, EventStatus};

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
