//! What the responses come to.

use std::cmp::Reverse;

use kalends_kernel::Timestamp;

use crate::{Proposal, ResponseKind, Slot, Weight};

/// What a slot comes to, in millionths: its weight, 1.0 for each acceptance of it and 0.3 for each counter-proposal that
/// would put up with it. Whole numbers, so that no order of adding makes a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Score(pub u64);

impl Score {
    const ACCEPT: u64 = 1_000_000;
    const COUNTER: u64 = 300_000;

    /// What a response adds to the slot that it selects.
    const fn of(kind: ResponseKind) -> u64 {
        match kind {
            ResponseKind::Accept => Self::ACCEPT,
            ResponseKind::Counter => Self::COUNTER,
            ResponseKind::Decline => 0,
        }
    }

    /// The number.
    #[expect(clippy::cast_precision_loss, reason = "scores stay far below 2^53: a weight of 10 and 50 acceptances")]
    pub fn as_f64(self) -> f64 {
        self.0 as f64 / f64::from(Weight::SCALE)
    }
}

/// The slots of a proposal that lie ahead, the best first: by score, then the one that starts first, then the one that ends first, then
/// as they were offered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ranking {
    best: Slot,
    others: Vec<Slot>,
}

impl Ranking {
    /// The one that wins.
    pub const fn best(&self) -> &Slot {
        &self.best
    }

    /// All of them, the best first: whoever passes over those that are taken takes the next.
    pub fn slots(&self) -> impl Iterator<Item = &Slot> {
        std::iter::once(&self.best).chain(&self.others)
    }
}

/// What resolving a proposal comes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// One of the slots is taken.
    Ranked(Ranking),
    /// Whoever has responded has declined.
    AllDeclined,
}

impl Proposal {
    /// What a slot comes to.
    pub fn score(&self, slot: &Slot) -> Score {
        let said = self.responses.iter().filter(|response| response.selected == Some(slot.id));
        Score(u64::from(slot.weight.millionths()) + said.map(|response| Score::of(response.kind)).sum::<u64>())
    }

    /// The slots that start after `now`, by what they come to; `None` if there are none.
    pub(crate) fn ranking(&self, now: Timestamp) -> Option<Ranking> {
        let ahead = self.slots.iter().filter(|slot| slot.span.start() > now);
        let mut ranked: Vec<(Reverse<Score>, Slot)> = ahead.map(|slot| (Reverse(self.score(slot)), *slot)).collect();
        // The sort is stable: what is equal stays as it was offered.
        ranked.sort_by_key(|(score, slot)| (*score, slot.span.start(), slot.span.end()));
        let mut slots = ranked.into_iter().map(|(_, slot)| slot);
        let best = slots.next()?;
        Some(Ranking { best, others: slots.collect() })
    }
}
