//! Reservations: times that a pending proposal keeps.
//!
//! They have no event. They block time for everything but their proposal, and no list shows them. The reservations of
//! one proposal may overlap, because only one of its slots is confirmed in the end.

use crate::{Block, BlockKind};
use kalends_kernel::ProposalId;
use kalends_time::{Span, Timestamp};

use crate::HeldTime;

/// A time of a calendar that a proposal keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Reservation {
    /// The proposal. The reservation does not block the proposal's own resolution.
    pub owner: ProposalId,
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
        let owner = "spr_00000000000000000000000001".parse().unwrap();
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
