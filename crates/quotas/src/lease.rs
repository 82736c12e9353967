//! Counted units on lease: a node debits a block from the shared counter before it spends it, so that
//! the sum over all nodes never passes the limit and counting costs one write a block (ruling 3.4).
//!
//! [`Lease`] is the state of one node for one organization and metric. Whoever holds it asks
//! [`Lease::take`] for each unit; on [`Take::Need`] it tries to add the [`Debit`] to the shared counter
//! (add `amount` where the sum stays at or below `ceiling`, in one statement) and reports with
//! [`Lease::granted`] or [`Lease::refused`], then asks again. Hold the lease exclusively over that
//! exchange: two debits at once stay correct, but cost a write more than needed.
//!
//! So that nobody waits for that exchange, [`Lease::ahead`] says early what to debit next; it is reported alike.
//!
//! What can go wrong only ever charges too much: a crash, or a debit whose outcome is not known, leaves
//! at most [`HELD_MAX`] units charged; a [`Refund`] is handed out once, and lost if its write fails.

use kalends_kernel::{SignedDuration, Timestamp};

use crate::Period;

/// The most units that one debit takes.
pub const BLOCK_MAX: u64 = 1_000;
/// The next block is debited when this fraction of it is left of the last one.
const AHEAD: u64 = 4;
/// The most units that a node holds.
pub const HELD_MAX: u64 = BLOCK_MAX + BLOCK_MAX / AHEAD;
/// So many units before the limit are debited one by one.
pub const SINGLES: u64 = 64;
/// Before that a block is at most this fraction of what is left, so that some nodes do not sit on units
/// that others need.
const SHARE: u64 = 16;
/// How long a node believes that the limit is reached before it asks again: others may have given back.
pub const ASK_AGAIN: SignedDuration = SignedDuration::seconds(1);

/// What a node asks of the shared counter: add `amount` in `period` where the sum stays at or below `ceiling`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Debit {
    /// The month that is charged.
    pub period: Period,
    /// How many units.
    pub amount: u64,
    /// The most that the counter may show afterwards: the limit for a single unit, less for a block, which
    /// must still be small beside what is left. `None` is unlimited.
    pub ceiling: Option<u64>,
    /// The plan's limit under which the debit is made.
    pub limit: Option<u64>,
}

/// Units that were debited and not spent: subtract `amount` in `period`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "units that are not given back stay charged"]
pub struct Refund {
    /// The month in which the units were debited.
    pub period: Period,
    /// How many.
    pub amount: u64,
}

/// What comes of asking for one unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Take {
    /// It is spent; go on.
    Spent,
    /// The lease is empty: debit this, report, and ask again.
    Need {
        /// What to add to the counter.
        debit: Debit,
        /// What to give back besides: units of a month that is over, or of a limit that was lowered.
        refund: Option<Refund>,
    },
    /// The limit is reached. Nothing is to be written.
    Exhausted,
}

/// What one node holds of one organization's metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Lease {
    held: Option<Held>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Held {
    period: Period,
    /// Units that are debited and not spent.
    left: u64,
    /// The limit under which they were debited.
    limit: Option<u64>,
    /// What the shared counter showed when it was last heard of.
    used: u64,
    /// Until when a counter at its limit is believed to be there.
    exhausted_until: Option<Timestamp>,
}

/// The size of the next block where `used` of `limit` are charged: at most [`BLOCK_MAX`], at most a
/// sixteenth of what is left before the last [`SINGLES`], at least one.
pub const fn block_size(limit: Option<u64>, used: u64) -> u64 {
    let Some(limit) = limit else { return BLOCK_MAX };
    let share = limit.saturating_sub(used).saturating_sub(SINGLES) / SHARE;
    if share > BLOCK_MAX {
        BLOCK_MAX
    } else if share == 0 {
        1
    } else {
        share
    }
}

impl Debit {
    fn new(period: Period, limit: Option<u64>, used: u64) -> Self {
        let amount = block_size(limit, used);
        // The counter may have risen since it was heard of: a block that is too large by then is refused,
        // rather than taken from under the others.
        let ceiling = limit.map(|limit| if amount == 1 { limit } else { limit - SINGLES - amount * (SHARE - 1) });
        Self { period, amount, ceiling, limit }
    }
}

impl Lease {
    /// A lease that holds nothing.
    pub const fn new() -> Self {
        Self { held: None }
    }

    /// Spends one unit of the month of `now` under the plan's `limit` (`None` is unlimited, and counted
    /// all the same).
    pub fn take(&mut self, now: Timestamp, limit: Option<u64>) -> Take {
        let period = Period::of(now);
        let refund = self.outdated(period, limit).then(|| self.give_back()).flatten();
        let Some(held) = self.held.as_mut().filter(|held| held.period == period) else {
            self.held = Some(Held { period, left: 0, limit, used: 0, exhausted_until: None });
            return Take::Need { debit: Debit::new(period, limit, 0), refund };
        };
        if held.left > 0 {
            held.left -= 1;
            return Take::Spent;
        }
        let reached = limit.is_some_and(|limit| held.used >= limit);
        if reached && held.exhausted_until.is_some_and(|until| now < until && until <= now + ASK_AGAIN) {
            return Take::Exhausted;
        }
        // Where the limit seemed reached a while ago, a single unit asks whether it still is.
        held.limit = limit;
        Take::Need { debit: Debit::new(period, limit, held.used), refund }
    }

    /// What to debit although there is still something to spend, so that it is there when that is used up. Near the
    /// limit nothing is: others may need it.
    pub fn ahead(&self, now: Timestamp, limit: Option<u64>) -> Option<Debit> {
        let held = self.held.filter(|held| held.limit == limit && held.left <= BLOCK_MAX / AHEAD)?;
        let debit = Debit::new(held.period, limit, held.used);
        let early = debit.amount > SINGLES && held.left <= debit.amount / AHEAD && held.period == Period::of(now);
        early.then_some(debit)
    }

    /// Whether what is held may not be spent: it is of another month, or was debited under a higher limit.
    fn outdated(&self, period: Period, limit: Option<u64>) -> bool {
        self.held.is_some_and(|held| {
            let lowered = limit.is_some_and(|limit| held.limit.is_none_or(|before| limit < before));
            held.period != period || (held.left > 0 && lowered)
        })
    }

    /// The debit was written, and the counter shows `used` now. Ask [`Self::take`] again. What can no
    /// longer be spent is to be given back.
    pub fn granted(&mut self, debit: &Debit, used: u64) -> Option<Refund> {
        match &mut self.held {
            Some(held) if held.period > debit.period => Some(Refund { period: debit.period, amount: debit.amount }),
            Some(held) if held.period == debit.period => {
                held.left += debit.amount;
                held.used = used;
                held.limit = debit.limit;
                held.exhausted_until = None;
                None
            }
            Some(_) | None => {
                let refund = self.give_back();
                self.held = Some(Held {
                    period: debit.period,
                    left: debit.amount,
                    limit: debit.limit,
                    used,
                    exhausted_until: None,
                });
                refund
            }
        }
    }

    /// The debit would have passed its ceiling; the counter shows `used` at `now`. Ask [`Self::take`]
    /// again: it asks for less, or says that the limit is reached.
    pub fn refused(&mut self, debit: &Debit, used: u64, now: Timestamp) {
        let Some(held) = self.held.as_mut().filter(|held| held.period == debit.period) else { return };
        held.used = used;
        held.exhausted_until = Some(now + ASK_AGAIN);
    }

    /// Takes back one unit that was spent in `period`, for a request that turned out not to count. What can no
    /// longer be spent is to be given back.
    pub fn unspend(&mut self, period: Period) -> Option<Refund> {
        match self.held.as_mut().filter(|held| held.period == period) {
            Some(held) => {
                held.left += 1;
                None
            }
            None => Some(Refund { period, amount: 1 }),
        }
    }

    /// Gives up what is held, for a shutdown or when the organization is not heard of any more.
    pub fn give_back(&mut self) -> Option<Refund> {
        let held = self.held.take()?;
        (held.left > 0).then_some(Refund { period: held.period, amount: held.left })
    }

    /// How many units of the month of `now` are debited and not spent: what a usage report subtracts from
    /// the counter.
    pub fn unspent(&self, now: Timestamp) -> u64 {
        let period = Period::of(now);
        self.held.filter(|held| held.period == period).map_or(0, |held| held.left)
    }

    /// How much of `limit` is left in the month of `now`, as far as this node knows: for the header
    /// `RateLimit`. `None` is unlimited.
    pub fn remaining(&self, now: Timestamp, limit: Option<u64>) -> Option<u64> {
        let period = Period::of(now);
        let spent =
            self.held.filter(|held| held.period == period).map_or(0, |held| held.used.saturating_sub(held.left));
        limit.map(|limit| limit.saturating_sub(spent))
    }
}

#[cfg(test)]
mod tests;
