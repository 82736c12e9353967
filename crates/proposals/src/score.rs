//! The scores of slots, their ranking, and the verdict on a proposal.

use std::cmp::Reverse;

use kalends_kernel::SlotId;
use kalends_time::Timestamp;

use crate::{Proposal, ProposalError, Response, ResponseKind, Slot, Weight};

/// The score of a slot, in millionths: its weight, plus 1.0 for each acceptance and 0.3 for each counter-proposal that
/// selects it. It is an integer, so that the order of addition makes no difference. [`Proposal::score`] has an example.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Score(u64);

impl Score {
    const ACCEPT: u64 = 1_000_000;
    const COUNTER: u64 = 300_000;

    /// The points that a response adds to the slot that it selects.
    const fn of(kind: ResponseKind) -> u64 {
        match kind {
            ResponseKind::Accept => Self::ACCEPT,
            ResponseKind::Counter => Self::COUNTER,
            ResponseKind::Decline => 0,
        }
    }

    /// The score of a slot with that weight, which responses of these kinds select.
    ///
    /// ```
    /// use kalends_proposals::{ResponseKind, Score, Weight};
    ///
    /// let selecting = [ResponseKind::Accept, ResponseKind::Counter];
    /// assert_eq!(Score::new(Weight::ONE, selecting.into_iter()).millionths(), 2_300_000);
    /// ```
    pub fn new(weight: Weight, selecting: impl Iterator<Item = ResponseKind>) -> Self {
        Self(u64::from(weight.millionths()) + selecting.map(Self::of).sum::<u64>())
    }

    /// The score in millionths.
    pub const fn millionths(self) -> u64 {
        self.0
    }

    /// The score as a number.
    #[expect(clippy::cast_precision_loss, reason = "scores stay far below 2^53: a weight of 10 and 50 acceptances")]
    pub fn as_f64(self) -> f64 {
        self.0 as f64 / f64::from(Weight::SCALE)
    }
}

/// The slots of a proposal that can be confirmed, best first: by score, then by start, then by end, then in the order in
/// which they were offered. [`Proposal::verdict`] has an example.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ranking {
    best: Slot,
    others: Vec<Slot>,
}

impl Ranking {
    /// The best slot.
    pub const fn best(&self) -> &Slot {
        &self.best
    }

    /// All slots, best first, at least one. A caller that skips taken slots confirms the first one that is free.
    pub fn slots(&self) -> impl Iterator<Item = &Slot> {
        std::iter::once(&self.best).chain(&self.others)
    }
}

/// The result of resolving a proposal. [`Proposal::verdict`] has an example.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// One of these slots is to be confirmed.
    Ranked(Ranking),
    /// Every participant that responded declined.
    AllDeclined,
}

impl Proposal {
    /// The score of a slot.
    ///
    /// ```
    #[doc = include_str!("offered.txt")]
    /// use kalends_proposals::NewResponse;
    ///
    /// let [at_ten, at_noon] = proposal.slots() else { unreachable!() };
    /// let answered = proposal.respond(ben, NewResponse::accept(at_noon.id()), now, &entropy)?;
    /// assert_eq!(answered.score(at_ten).millionths(), 1_000_000);
    /// assert_eq!(answered.score(at_noon).as_f64(), 2.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn score(&self, slot: &Slot) -> Score {
        let selecting = self.responses().iter().filter(|response| response.selected() == Some(slot.id));
        Score::new(slot.weight, selecting.map(Response::kind))
    }

    /// The result of resolving the proposal at `now`. Only slots that start after `now`, and that at least
    /// [`Self::min_accepts`] responses accept, are ranked.
    ///
    /// # Errors
    /// [`ProposalError::NotPending`] and [`ProposalError::NoResponses`]. If not all responses decline,
    /// [`ProposalError::NoSlotLeft`] if every slot has begun, and [`ProposalError::TooFewAccepts`] if none of the others
    /// has enough acceptances.
    ///
    /// ```
    #[doc = include_str!("offered.txt")]
    /// use kalends_proposals::{NewResponse, ProposalError, Verdict};
    ///
    /// assert_eq!(proposal.verdict(now), Err(ProposalError::NoResponses));
    /// let at_noon = proposal.slots()[1];
    /// let answered = proposal.respond(ben, NewResponse::counter(at_noon.id().into()), now, &entropy)?;
    /// let Verdict::Ranked(ranking) = answered.verdict(now)? else { return Err("Ben does not decline".into()) };
    /// assert_eq!(ranking.best(), &at_noon);
    /// assert_eq!(ranking.slots().count(), 2);
    /// let declined = proposal.respond(ben, NewResponse::decline(), now, &entropy)?;
    /// assert_eq!(declined.verdict(now), Ok(Verdict::AllDeclined));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn verdict(&self, now: Timestamp) -> Result<Verdict, ProposalError> {
        self.pending(now)?;
        self.answered()?;
        if self.all_declined() {
            return Ok(Verdict::AllDeclined);
        }
        let ahead: Vec<Slot> = self.slots().iter().filter(|slot| slot.span.start() > now).copied().collect();
        if ahead.is_empty() {
            return Err(ProposalError::NoSlotLeft);
        }
        let accepted = ahead.into_iter().filter(|slot| self.has_enough_accepts(slot.id));
        self.ranking(accepted).map(Verdict::Ranked).ok_or(ProposalError::TooFewAccepts(self.min_accepts()))
    }

    /// Whether at least [`Self::min_accepts`] responses accept the slot.
    pub(crate) fn has_enough_accepts(&self, slot: SlotId) -> bool {
        let accepts = self.responses().iter().filter(|response| response.accepts(slot)).count();
        // A minimum that does not fit is more than there are participants.
        usize::try_from(self.min_accepts()).is_ok_and(|least| accepts >= least)
    }

    /// The ranking of these slots; `None` if there are none.
    fn ranking(&self, slots: impl Iterator<Item = Slot>) -> Option<Ranking> {
        let mut ranked: Vec<(Reverse<Score>, Slot)> = slots.map(|slot| (Reverse(self.score(&slot)), slot)).collect();
        // The sort is stable, so equal slots stay in the order in which they were offered.
        ranked.sort_by_key(|(score, slot)| (*score, slot.span.start(), slot.span.end()));
        let mut slots = ranked.into_iter().map(|(_, slot)| slot);
        let best = slots.next()?;
        Some(Ranking { best, others: slots.collect() })
    }
}
