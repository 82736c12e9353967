//! Leases of counted units. A node debits a block from the shared counter before it spends the units, so that the sum
//! over all nodes never exceeds the limit, and counting costs one write per block.
//!
//! [`Lease`] is the state of one node for one organization and metric. Its holder calls [`Lease::take`] for each
//! unit. On [`Take::Need`] the holder tries to add the [`Debit`] to the shared counter (add `amount` if the sum stays
//! at or below `ceiling`, in one statement), reports the outcome with [`Lease::granted`] or [`Lease::refused`], and
//! calls `take` again. Hold the lease exclusively during that exchange: two debits at once are still correct, but
//! cost one write more than needed.
//!
//! So that no request waits for that exchange, [`Lease::ahead`] returns the next debit early. Its outcome is reported
//! in the same way.
//!
//! Failures can only charge too much. A crash, or a debit with an unknown outcome, leaves at most [`HELD_MAX`] unspent
//! units charged. A [`Refund`] is returned once, and lost if its write fails.

use kalends_time::{SignedDuration, Timestamp};

use crate::Period;

/// The maximum number of units in one debit.
pub const BLOCK_MAX: u64 = 1_000;
/// The next block is debited when the units left are at most 1/`AHEAD` of its size.
const AHEAD: u64 = 4;
/// The maximum number of units that a node holds.
pub const HELD_MAX: u64 = BLOCK_MAX + BLOCK_MAX / AHEAD;
/// The number of units before the limit that are debited one by one.
pub const SINGLES: u64 = 64;
/// A block is at most 1/`SHARE` of the units left before the last [`SINGLES`], so that no node holds units that others
/// need.
const SHARE: u64 = 16;
/// How long a node assumes that the limit is reached before it asks again, because other nodes may have refunded
/// units.
pub const ASK_AGAIN: SignedDuration = SignedDuration::seconds(1);

/// A request to the shared counter: add `amount` in `period` if the sum stays at or below `ceiling`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Debit {
    /// The month to charge.
    pub period: Period,
    /// The number of units.
    pub amount: u64,
    /// The maximum value of the counter after the debit. It is the limit for a single unit, and less for a block, so
    /// that a block stays small compared with the units that are left. `None` is unlimited.
    pub ceiling: Option<u64>,
    /// The plan's limit at the time of the debit.
    pub limit: Option<u64>,
}

/// Units that were debited but not spent: subtract `amount` in `period`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "units that are not refunded stay charged"]
pub struct Refund {
    /// The month in which the units were debited.
    pub period: Period,
    /// The number of units.
    pub amount: u64,
}

/// The result of asking for one unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Take {
    /// The unit is spent.
    Spent,
    /// The lease is empty. Make this debit, report its outcome, and ask again.
    Need {
        /// The debit to add to the counter.
        debit: Debit,
        /// Units to refund as well: those of a month that is over, or of a limit that was lowered.
        refund: Option<Refund>,
    },
    /// The limit is reached. There is nothing to write.
    Exhausted,
}

/// The units of one organization's metric that one node holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Lease {
    held: Option<Held>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Held {
    period: Period,
    /// Units that were debited and not spent.
    left: u64,
    /// The limit when they were debited.
    limit: Option<u64>,
    /// The last known value of the shared counter.
    used: u64,
    /// The time until which the limit is assumed to be reached.
    exhausted_until: Option<Timestamp>,
}

/// The size of the next block when `used` of `limit` units are charged. It is at most [`BLOCK_MAX`], at most a
/// sixteenth of the units left before the last [`SINGLES`], and at least one.
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
        // The counter may have risen since its last known value. A block that is too large by then is refused, so
        // that it does not take the units that other nodes need.
        let ceiling = limit.map(|limit| if amount == 1 { limit } else { limit - SINGLES - amount * (SHARE - 1) });
        Self { period, amount, ceiling, limit }
    }
}

impl Lease {
    /// A lease that holds nothing.
    pub const fn new() -> Self {
        Self { held: None }
    }

    /// Spends one unit of the month of `now` under the plan's `limit`. `None` is unlimited, but still counted.
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
        // If the limit was reached a while ago, a single unit checks whether it still is.
        held.limit = limit;
        Take::Need { debit: Debit::new(period, limit, held.used), refund }
    }

    /// The next debit, to be made while there are still units to spend. Returns `None` if enough units are left.
    /// Near the limit, it always returns `None`, because other nodes may need the remaining units.
    pub fn ahead(&self, now: Timestamp, limit: Option<u64>) -> Option<Debit> {
        let held = self.held.filter(|held| held.limit == limit && held.left <= BLOCK_MAX / AHEAD)?;
        let debit = Debit::new(held.period, limit, held.used);
        let early = debit.amount > SINGLES && held.left <= debit.amount / AHEAD && held.period == Period::of(now);
        early.then_some(debit)
    }

    /// Whether the held units may not be spent, because they belong to another month or were debited under a higher
    /// limit.
    fn outdated(&self, period: Period, limit: Option<u64>) -> bool {
        self.held.is_some_and(|held| {
            let lowered = limit.is_some_and(|limit| held.limit.is_none_or(|before| limit < before));
            held.period != period || (held.left > 0 && lowered)
        })
    }

    /// Records that the debit was written and that the counter is now at `used`. Call [`Self::take`] again. Units
    /// that can no longer be spent are returned as a refund.
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

    /// Records that the debit would have exceeded its ceiling, with the counter at `used` at `now`. Call
    /// [`Self::take`] again: it asks for fewer units, or reports that the limit is reached.
    pub fn refused(&mut self, debit: &Debit, used: u64, now: Timestamp) {
        let Some(held) = self.held.as_mut().filter(|held| held.period == debit.period) else { return };
        held.used = used;
        held.exhausted_until = Some(now + ASK_AGAIN);
    }

    /// Takes back one unit that was spent in `period`, for a request that turned out not to count. A unit that can no
    /// longer be spent is returned as a refund.
    pub fn unspend(&mut self, period: Period) -> Option<Refund> {
        match self.held.as_mut().filter(|held| held.period == period) {
            Some(held) => {
                held.left += 1;
                None
            }
            None => Some(Refund { period, amount: 1 }),
        }
    }

    /// Gives up the held units, at shutdown or when the organization is no longer active.
    pub fn give_back(&mut self) -> Option<Refund> {
        let held = self.held.take()?;
        (held.left > 0).then_some(Refund { period: held.period, amount: held.left })
    }

    /// The units of the month of `now` that are debited and not spent. A usage report subtracts them from the
    /// counter.
    pub fn unspent(&self, now: Timestamp) -> u64 {
        let period = Period::of(now);
        self.held.filter(|held| held.period == period).map_or(0, |held| held.left)
    }

    /// The part of `limit` that is left in the month of `now`, as far as this node knows, for the `RateLimit` header.
    /// `None` is unlimited.
    pub fn remaining(&self, now: Timestamp, limit: Option<u64>) -> Option<u64> {
        let period = Period::of(now);
        let spent =
            self.held.filter(|held| held.period == period).map_or(0, |held| held.used.saturating_sub(held.left));
        limit.map(|limit| limit.saturating_sub(spent))
    }
}

#[cfg(test)]
mod tests;
