//! Leases of counted units. A process debits a block from a shared counter before it spends the units, so that the sum
//! over all processes never exceeds the limit, and counting costs one write per block.
//!
//! [`Lease`] is the state of one process for one counter, such as the calls of one customer. Its holder calls
//! [`Lease::take`] for each unit. On [`Take::Need`] the holder tries to add the [`Debit`] to the shared counter (add
//! [`Debit::amount`] if the sum stays at or below [`Debit::ceiling`], in one statement), reports the outcome with
//! [`Lease::granted`] or [`Lease::refused`], and calls `take` again. Hold the lease exclusively during that exchange: two
//! debits at once are still correct, but cost one write more than needed.
//!
//! So that no request waits for that exchange, [`Lease::ahead`] returns the next debit early. Its outcome is reported
//! in the same way.
//!
//! Failures can only charge too much. A crash, or a debit with an unknown outcome, leaves at most [`HELD_MAX`] unspent
//! units charged. Drop a debit whose outcome is unknown. A [`Refund`] is returned once, and lost if its write fails.
//!
//! ```
//! use kalends_quotas::{Debit, Lease, Period, Refund, Take};
//! use kalends_time::Timestamp;
//!
//! /// The counter that all processes share: one row for each month.
//! #[derive(Default)]
//! struct Counter(std::collections::BTreeMap<Period, u64>);
//!
//! impl Counter {
//!     /// Whether the debit was added, and the counted units. A database does this in one statement.
//!     fn add(&mut self, debit: &Debit) -> (bool, u64) {
//!         let used = self.0.entry(debit.period()).or_default();
//!         let fits = debit.fits(*used);
//!         if fits {
//!             *used += debit.amount();
//!         }
//!         (fits, *used)
//!     }
//!
//!     fn subtract(&mut self, refund: Refund) {
//!         let used = self.0.entry(refund.period()).or_default();
//!         *used = used.saturating_sub(refund.amount());
//!     }
//! }
//!
//! fn admit(lease: &mut Lease, counter: &mut Counter, now: Timestamp) -> bool {
//!     loop {
//!         match lease.take(now, Some(1_000)) {
//!             Take::Spent(_) => return true,
//!             Take::Exhausted => return false,
//!             Take::Need { debit, refund } => {
//!                 refund.into_iter().for_each(|refund| counter.subtract(refund));
//!                 match counter.add(&debit) {
//!                     (true, used) => lease.granted(debit, used).into_iter().for_each(|late| counter.subtract(late)),
//!                     (false, used) => lease.refused(debit, used, now),
//!                 }
//!             }
//!         }
//!     }
//! }
//!
//! let now: Timestamp = "2027-03-15T12:00:00Z".parse()?;
//! let (mut lease, mut counter) = (Lease::new(), Counter::default());
//! assert!((0..10).all(|_| admit(&mut lease, &mut counter, now)));
//! // One write counted a block of 58 units, of which 48 are still held.
//! assert_eq!((counter.0[&Period::of(now)], lease.unspent(now)), (58, 48));
//! // At the end, the process returns what it holds.
//! lease.give_back().into_iter().for_each(|refund| counter.subtract(refund));
//! assert_eq!(counter.0[&Period::of(now)], 10);
//! # Ok::<(), kalends_time::ParseTimestampError>(())
//! ```

use std::num::NonZeroU64;

use kalends_time::{SignedDuration, Timestamp};

use crate::Period;

/// The maximum number of units in one debit.
pub const BLOCK_MAX: u64 = 1_000;
/// The next block is debited when the units left are at most 1/`AHEAD` of its size.
const AHEAD: u64 = 4;
/// The maximum number of units that a process holds, unless it reports debits that it made at the same time.
pub const HELD_MAX: u64 = BLOCK_MAX + BLOCK_MAX / AHEAD;
/// The number of units before the limit that are debited one by one.
pub const SINGLES: u64 = 64;
/// A block is at most 1/`SHARE` of the units left before the last [`SINGLES`], so that no process holds units that others
/// need.
const SHARE: u64 = 16;
/// How long a process assumes that the limit is reached before it asks again, because other processes may have refunded
/// units.
pub const ASK_AGAIN: SignedDuration = SignedDuration::seconds(1);

/// A request to the shared counter: add [`Self::amount`] in [`Self::period`] if the sum stays at or below
/// [`Self::ceiling`].
///
/// It cannot be copied, because its outcome is reported once.
///
/// ```
/// use kalends_quotas::{Debit, Period};
///
/// let period = Period::of("2027-03-15T12:00:00Z".parse()?);
/// let debit = Debit::new(period, 3, Some(10))?;
/// assert_eq!((debit.amount(), debit.ceiling()), (3, Some(10)));
/// assert!(debit.fits(7) && !debit.fits(8));
/// assert!(Debit::new(period, 0, None).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, PartialEq, Eq)]
pub struct Debit {
    period: Period,
    amount: u64,
    ceiling: Option<u64>,
    limit: Option<u64>,
}

/// Units that were debited but not spent: subtract [`Self::amount`] in [`Self::period`].
///
/// It cannot be copied, because units are given back once.
///
/// ```
/// use std::num::NonZeroU64;
///
/// use kalends_quotas::{Period, Refund};
///
/// let period = Period::of("2027-03-15T12:00:00Z".parse()?);
/// let refund = Refund::new(period, NonZeroU64::MIN);
/// assert_eq!((refund.period(), refund.amount()), (period, 1));
/// # Ok::<(), kalends_time::ParseTimestampError>(())
/// ```
#[derive(Debug, PartialEq, Eq)]
#[must_use = "units that are not refunded stay charged"]
pub struct Refund {
    period: Period,
    amount: u64,
}

/// One unit that a lease spent. Drop it, or take the unit back with [`Lease::unspend`].
///
/// Only [`Lease::take`] makes one, and it cannot be copied, so a unit is taken back at most once.
///
/// ```
/// use kalends_quotas::{Lease, Take};
///
/// let now = "2027-03-15T12:00:00Z".parse()?;
/// let mut lease = Lease::new();
/// let Take::Need { debit, .. } = lease.take(now, None) else { return Err("a new lease is empty".into()) };
/// assert_eq!(lease.granted(debit, 1_000), None);
/// let Take::Spent(unit) = lease.take(now, None) else { return Err("a block was granted".into()) };
/// assert_eq!(lease.unspent(now), 999);
/// assert_eq!(lease.unspend(unit), None);
/// assert_eq!(lease.unspent(now), 1_000);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, PartialEq, Eq)]
pub struct Unit {
    period: Period,
}

/// The amount of a debit is 0 or more than [`BLOCK_MAX`].
///
/// ```
/// use kalends_quotas::{Debit, Period};
///
/// let period = Period::of("2027-03-15T12:00:00Z".parse()?);
/// let error = Debit::new(period, 1_001, None).map_err(|error| error.to_string());
/// assert_eq!(error, Err("a debit is of 1 to 1000 units, got 1001".to_owned()));
/// # Ok::<(), kalends_time::ParseTimestampError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a debit is of 1 to {BLOCK_MAX} units, got {0}")]
pub struct AmountError(u64);

/// The result of asking for one unit.
///
/// ```
/// use kalends_quotas::{Lease, Take};
///
/// let now = "2027-03-15T12:00:00Z".parse()?;
/// let mut lease = Lease::new();
/// // The limit is 0: the counter refuses the first debit, and after that nothing is asked for a second.
/// let Take::Need { debit, .. } = lease.take(now, Some(0)) else { return Err("a new lease is empty".into()) };
/// assert!(!debit.fits(0));
/// lease.refused(debit, 0, now);
/// assert_eq!(lease.take(now, Some(0)), Take::Exhausted);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, PartialEq, Eq)]
pub enum Take {
    /// The unit is spent.
    Spent(Unit),
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

/// The units of one counter that one process holds.
///
/// The [module](self) explains the protocol and has an example. A lease cannot be copied, because a copy would spend the
/// same units again.
///
/// ```
/// use kalends_quotas::{Lease, Take};
///
/// let now = "2027-03-15T12:00:00Z".parse()?;
/// let mut lease = Lease::new();
/// let Take::Need { debit, refund } = lease.take(now, Some(5_000)) else { return Err("a new lease is empty".into()) };
/// assert_eq!((debit.amount(), refund), (308, None));
/// // The debit was added to a counter that was at 0.
/// assert_eq!(lease.granted(debit, 308), None);
/// assert!(matches!(lease.take(now, Some(5_000)), Take::Spent(_)));
/// assert_eq!((lease.unspent(now), lease.remaining(now, Some(5_000))), (307, Some(4_999)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, PartialEq, Eq, Default)]
pub struct Lease {
    held: Option<Held>,
}

#[derive(Debug, PartialEq, Eq)]
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
///
/// ```
/// use kalends_quotas::lease::block_size;
///
/// assert_eq!(block_size(None, 0), 1_000);
/// assert_eq!(block_size(Some(1_000), 0), 58);
/// assert_eq!(block_size(Some(1_000), 936), 1);
/// ```
pub const fn block_size(limit: Option<u64>, used: u64) -> u64 {
    let share = match limit {
        Some(limit) => limit.saturating_sub(used).saturating_sub(SINGLES) / SHARE,
        // The counter cannot exceed its type.
        None => u64::MAX - used,
    };
    if share > BLOCK_MAX {
        BLOCK_MAX
    } else if share == 0 {
        1
    } else {
        share
    }
}

impl Debit {
    /// A debit that is not for a lease: `amount` units, up to `limit`. `None` is unlimited. [`Debit`] has an example.
    ///
    /// # Errors
    /// [`AmountError`] if the amount is 0 or more than [`BLOCK_MAX`].
    pub const fn new(period: Period, amount: u64, limit: Option<u64>) -> Result<Self, AmountError> {
        if amount == 0 || amount > BLOCK_MAX {
            return Err(AmountError(amount));
        }
        Ok(Self { period, amount, ceiling: limit, limit })
    }

    /// A debit of one unit that is not for a lease, up to `limit`. `None` is unlimited.
    ///
    /// ```
    /// use kalends_quotas::{Debit, Period};
    ///
    /// let debit = Debit::one(Period::of("2027-03-15T12:00:00Z".parse()?), Some(2));
    /// assert!(debit.fits(1) && !debit.fits(2));
    /// # Ok::<(), kalends_time::ParseTimestampError>(())
    /// ```
    pub const fn one(period: Period, limit: Option<u64>) -> Self {
        Self { period, amount: 1, ceiling: limit, limit }
    }

    /// The next block of a lease.
    fn block(period: Period, limit: Option<u64>, used: u64) -> Self {
        let amount = block_size(limit, used);
        // The counter may have risen since its last known value. A block that is too large by then is refused, so
        // that it does not take the units that other processes need.
        let others = if amount == 1 { 0 } else { SINGLES.saturating_add(amount.saturating_mul(SHARE - 1)) };
        Self { period, amount, ceiling: limit.map(|limit| limit.saturating_sub(others)), limit }
    }

    /// The month to charge.
    pub const fn period(&self) -> Period {
        self.period
    }

    /// The number of units, at least one.
    pub const fn amount(&self) -> u64 {
        self.amount
    }

    /// The maximum value of the counter after the debit. It is the limit for a single unit, and less for a block, so
    /// that a block stays small compared with the units that are left. `None` is unlimited.
    pub const fn ceiling(&self) -> Option<u64> {
        self.ceiling
    }

    /// The limit at the time of the debit; `None` is unlimited.
    pub const fn limit(&self) -> Option<u64> {
        self.limit
    }

    /// Whether a counter at `used` stays at or below the ceiling if the debit is added. A counter that would overflow
    /// does not.
    ///
    /// ```
    /// use kalends_quotas::{Debit, Period};
    ///
    /// let debit = Debit::one(Period::of("2027-03-15T12:00:00Z".parse()?), None);
    /// assert!(debit.fits(1_000_000) && !debit.fits(u64::MAX));
    /// # Ok::<(), kalends_time::ParseTimestampError>(())
    /// ```
    pub fn fits(&self, used: u64) -> bool {
        used.checked_add(self.amount).is_some_and(|sum| self.ceiling.is_none_or(|ceiling| sum <= ceiling))
    }
}

impl Refund {
    /// A refund of units that were debited in `period`. [`Refund`] has an example.
    pub const fn new(period: Period, amount: NonZeroU64) -> Self {
        Self { period, amount: amount.get() }
    }

    /// The month in which the units were debited.
    pub const fn period(&self) -> Period {
        self.period
    }

    /// The number of units, at least one.
    pub const fn amount(&self) -> u64 {
        self.amount
    }
}

impl Unit {
    /// The month in which the unit was spent.
    pub const fn period(&self) -> Period {
        self.period
    }
}

impl Lease {
    /// A lease that holds nothing. [`Lease`] has an example.
    pub const fn new() -> Self {
        Self { held: None }
    }

    /// Spends one unit of the month of `now` under `limit`. `None` is unlimited, but still counted. [`Lease`] has an
    /// example.
    pub fn take(&mut self, now: Timestamp, limit: Option<u64>) -> Take {
        let period = Period::of(now);
        let refund = self.outdated(period, limit).then(|| self.give_back()).flatten();
        let Some(held) = self.held.as_mut().filter(|held| held.period == period) else {
            self.held = Some(Held { period, left: 0, limit, used: 0, exhausted_until: None });
            return Take::Need { debit: Debit::block(period, limit, 0), refund };
        };
        if held.left > 0 {
            held.left -= 1;
            return Take::Spent(Unit { period });
        }
        let reached = held.used >= limit.unwrap_or(u64::MAX);
        if reached && held.exhausted_until.is_some_and(|until| now < until && until <= now + ASK_AGAIN) {
            return Take::Exhausted;
        }
        // If the limit was reached a while ago, a single unit checks whether it still is.
        held.limit = limit;
        Take::Need { debit: Debit::block(period, limit, held.used), refund }
    }

    /// The next debit, to be made while there are still units to spend. Returns `None` if enough units are left.
    /// Near the limit, it always returns `None`, because other processes may need the remaining units.
    ///
    /// ```
    /// use kalends_quotas::{Lease, Take};
    ///
    /// let now = "2027-03-15T12:00:00Z".parse()?;
    /// let mut lease = Lease::new();
    /// let Take::Need { debit, .. } = lease.take(now, None) else { return Err("a new lease is empty".into()) };
    /// assert_eq!(lease.granted(debit, 1_000), None);
    /// let mut spent = 0;
    /// let debit = loop {
    ///     match lease.ahead(now, None) {
    ///         Some(debit) => break debit,
    ///         None => spent += u32::from(matches!(lease.take(now, None), Take::Spent(_))),
    ///     }
    /// };
    /// assert_eq!((spent, debit.amount()), (750, 1_000));
    /// assert_eq!(lease.granted(debit, 2_000), None);
    /// assert_eq!(lease.unspent(now), 1_250);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn ahead(&self, now: Timestamp, limit: Option<u64>) -> Option<Debit> {
        let held = self.held.as_ref().filter(|held| held.limit == limit && held.left <= BLOCK_MAX / AHEAD)?;
        let debit = Debit::block(held.period, limit, held.used);
        let early = debit.amount > SINGLES && held.left <= debit.amount / AHEAD && held.period == Period::of(now);
        early.then_some(debit)
    }

    /// Whether the held units may not be spent, because they belong to another month or were debited under a higher
    /// limit.
    fn outdated(&self, period: Period, limit: Option<u64>) -> bool {
        self.held.as_ref().is_some_and(|held| {
            let lowered = limit.is_some_and(|limit| held.limit.is_none_or(|before| limit < before));
            held.period != period || (held.left > 0 && lowered)
        })
    }

    /// Records that the debit was written and that the counter is now at `used`. Call [`Self::take`] again. Units
    /// that can no longer be spent are returned as a refund. [`Lease`] has an example.
    #[expect(clippy::needless_pass_by_value, reason = "a debit must be reported once")]
    pub fn granted(&mut self, debit: Debit, used: u64) -> Option<Refund> {
        match &mut self.held {
            Some(held) if held.period > debit.period => Some(Refund { period: debit.period, amount: debit.amount }),
            Some(held) if held.period == debit.period => {
                held.left = held.left.saturating_add(debit.amount);
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
    /// [`Self::take`] again: it asks for fewer units, or reports that the limit is reached. [`Take`] has an example.
    #[expect(clippy::needless_pass_by_value, reason = "a debit must be reported once")]
    pub fn refused(&mut self, debit: Debit, used: u64, now: Timestamp) {
        let Some(held) = self.held.as_mut().filter(|held| held.period == debit.period) else { return };
        held.used = used;
        held.exhausted_until = Some(now + ASK_AGAIN);
    }

    /// Takes back one unit that was spent, for a request that turned out not to count. A unit of another month, or of a
    /// lease that was given back, can no longer be spent and is returned as a refund. [`Unit`] has an example.
    #[expect(clippy::needless_pass_by_value, reason = "a unit must be taken back once")]
    pub fn unspend(&mut self, unit: Unit) -> Option<Refund> {
        let Unit { period } = unit;
        match self.held.as_mut().filter(|held| held.period == period) {
            Some(held) => {
                held.left = held.left.saturating_add(1);
                None
            }
            None => Some(Refund { period, amount: 1 }),
        }
    }

    /// Gives up the held units, at shutdown or when nothing has been counted for a while.
    ///
    /// ```
    /// use kalends_quotas::{Lease, Take};
    ///
    /// let now = "2027-03-15T12:00:00Z".parse()?;
    /// let mut lease = Lease::new();
    /// let Take::Need { debit, .. } = lease.take(now, None) else { return Err("a new lease is empty".into()) };
    /// assert_eq!(lease.granted(debit, 1_000), None);
    /// assert_eq!(lease.give_back().map(|refund| refund.amount()), Some(1_000));
    /// assert_eq!(lease.give_back(), None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn give_back(&mut self) -> Option<Refund> {
        let held = self.held.take()?;
        (held.left > 0).then_some(Refund { period: held.period, amount: held.left })
    }

    /// The units of the month of `now` that are debited and not spent. A usage report subtracts them from the
    /// counter. [`Lease`] has an example.
    pub fn unspent(&self, now: Timestamp) -> u64 {
        let period = Period::of(now);
        self.held.as_ref().filter(|held| held.period == period).map_or(0, |held| held.left)
    }

    /// The part of `limit` that is left in the month of `now`, as far as this process knows. `None` is
    /// unlimited. [`Lease`] has an example.
    pub fn remaining(&self, now: Timestamp, limit: Option<u64>) -> Option<u64> {
        let period = Period::of(now);
        let held = self.held.as_ref().filter(|held| held.period == period);
        let spent = held.map_or(0, |held| held.used.saturating_sub(held.left));
        limit.map(|limit| limit.saturating_sub(spent))
    }
}

#[cfg(test)]
mod tests;
