//! Reservations: times that a pending proposal, or a write that waits for approval, keeps.
//!
//! They have no event. They block time for everything but their owner, and no list shows them. The reservations of one
//! proposal may overlap, because only one of its slots is confirmed in the end.

use crate::{Block, BlockKind};
use kalends_kernel::{ApprovalId, ProposalId, uuid::Uuid};
use kalends_time::{Span, Timestamp};

use crate::HeldTime;

/// What keeps a time: a proposal or an approval. Their identifiers never coincide.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ReservationOwner(Uuid);

impl ReservationOwner {
    /// The owner with that identifier, from a store.
    pub const fn from_uuid(id: Uuid) -> Self {
        Self(id)
    }

    /// The identifier, for a store.
    pub const fn uuid(self) -> Uuid {
        self.0
    }
}

impl From<ProposalId> for ReservationOwner {
    fn from(id: ProposalId) -> Self {
        Self(id.uuid())
    }
}

impl From<ApprovalId> for ReservationOwner {
    fn from(id: ApprovalId) -> Self {
        Self(id.uuid())
    }
}

/// A time of a calendar that a proposal or an approval keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Reservation {
    /// What keeps it. The reservation does not block the writes of its own owner.
    pub owner: ReservationOwner,
    /// The time.
    pub span: Span,
    /// From this instant on, it blocks no time.
    pub expires_at: Timestamp,
}

impl Reservation {
    /// Whether it blocks its time at `now`.
    pub fn blocks_at(&self, now: Timestamp) -> bool {
        now < self.expires_at
    }

    /// The reservation as a block.
    pub const fn block(&self) -> Block {
        Block { kind: BlockKind::Reservation, span: self.span }
    }

    /// The time that it blocks, and until when.
    pub const fn held_time(&self) -> HeldTime {
        HeldTime { span: self.span, expires_at: self.expires_at }
    }
}

#[cfg(test)]
mod tests {
    use kalends_time::SignedDuration;

    use super::*;

    #[test]
    fn a_reservation_blocks_until_it_expires() {
        let now = Timestamp::from_micros(1_772_323_200_000_000);
        let span = Span::new(now + SignedDuration::hours(5), now + SignedDuration::hours(6)).unwrap();
        let owner = "spr_00000000000000000000000001".parse::<ProposalId>().unwrap().into();
        let reservation = Reservation { owner, span, expires_at: now + SignedDuration::hours(1) };
        assert!(
            reservation.blocks_at(now)
                && reservation.blocks_at(now + SignedDuration::hours(1) - SignedDuration::micros(1))
        );
        assert!(!reservation.blocks_at(now + SignedDuration::hours(1)));
        assert_eq!(reservation.block(), Block { kind: BlockKind::Reservation, span });
        assert_eq!(reservation.held_time(), HeldTime { span, expires_at: reservation.expires_at });
    }
}
