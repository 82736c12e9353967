//! The starts of a pattern in a zone, searched from any time on, forwards and backwards.
//!
//! A local time that the clocks repeat is the first of the two. A local time that they skip is read with the offset
//! before the gap, and so moves forward by the length of the gap (RFC 5545 section 3.3.5). If several times a day are in
//! or after a gap, this changes their order; here they are in the order in which they take place.

use kalends_time::{SignedDuration, Timestamp, Zone};

use crate::cursor::{Cursor, SECONDS_A_DAY};
use crate::pattern::Pattern;

/// Clocks are never further from UTC, and never change by more, than this.
const MARGIN: i64 = 2 * SECONDS_A_DAY;

/// A search in the starts of a pattern. Times are seconds of UTC since 1970.
#[derive(Debug, Clone)]
pub(crate) struct Instants<'a> {
    cursor: Cursor<'a>,
    zone: Zone,
    period: Period,
}

/// The period of a zone around the last time that was asked for.
#[derive(Debug, Clone, Copy)]
struct Period {
    /// From this time up to but not including the other.
    start: i64,
    end: i64,
    ahead: i64,
    ahead_before: i64,
}

impl Period {
    fn at(zone: Zone, time: i64) -> Self {
        let period = zone.offset_period_at(Timestamp::EPOCH + SignedDuration::seconds(time));
        Self {
            start: period.start.map_or(i64::MIN, Timestamp::as_unix_seconds),
            end: period.end.map_or(i64::MAX, Timestamp::as_unix_seconds),
            ahead: period.offset.as_seconds(),
            ahead_before: period.offset_before.as_seconds(),
        }
    }

    /// The first local time that the clocks show for the first time in this period.
    fn first_local(&self) -> i64 {
        self.start.saturating_add(self.ahead.max(self.ahead_before))
    }

    /// The local times that the clocks skip at the start: from the first up to but not including the second.
    fn gap(&self) -> (i64, i64) {
        (self.start.saturating_add(self.ahead_before), self.start.saturating_add(self.ahead))
    }
}

impl<'a> Instants<'a> {
    pub(crate) fn new(pattern: &'a Pattern, zone: Zone) -> Self {
        Self { cursor: Cursor::new(pattern), zone, period: Period { start: 0, end: 0, ahead: 0, ahead_before: 0 } }
    }

    pub(crate) const fn steps(&self) -> u64 {
        self.cursor.steps()
    }

    fn period_at(&mut self, time: i64) -> Period {
        if time < self.period.start || time >= self.period.end {
            self.period = Period::at(self.zone, time);
        }
        self.period
    }

    /// The first start after `last`, which this search returned, up to but not including `end`.
    #[inline]
    pub(crate) fn after(&mut self, last: i64, end: i64) -> Option<i64> {
        let period = self.period;
        // At the start of a period, times that the clocks skipped or repeat need the whole search.
        let plain_from = period.start.saturating_add((period.ahead - period.ahead_before).abs());
        if last >= plain_from
            && let Some(local) = self.cursor.following(last + period.ahead)
            && local - period.ahead < period.end
        {
            return Some(local - period.ahead).filter(|start| *start < end);
        }
        self.at_or_after(last + 1, end)
    }

    /// The first start from `from` on, up to but not including `end`.
    pub(crate) fn at_or_after(&mut self, from: i64, end: i64) -> Option<i64> {
        let last = (end + MARGIN).div_euclid(SECONDS_A_DAY);
        let mut from = from;
        while from < end {
            let period = self.period_at(from);
            let shown = self.cursor.at_or_after((from + period.ahead).max(period.first_local()), last);
            let start = shown.map(|local| local - period.ahead).filter(|start| *start < period.end);
            let (skipped_from, skipped_to) = period.gap();
            let skipped = (from + period.ahead_before < skipped_to && skipped_from < skipped_to)
                .then(|| self.cursor.at_or_after((from + period.ahead_before).max(skipped_from), last))
                .flatten()
                .filter(|local| *local < skipped_to)
                .map(|local| local - period.ahead_before);
            if let Some(start) = start.into_iter().chain(skipped).min() {
                return (start < end).then_some(start);
            }
            // Nothing is left in this period. Continue where the next local time can be.
            from = period.end.max(shown? - MARGIN);
        }
        None
    }

    /// The last start up to and including `to`, from `least` on.
    pub(crate) fn at_or_before(&mut self, to: i64, least: i64) -> Option<i64> {
        let first = (least - MARGIN).div_euclid(SECONDS_A_DAY);
        let mut to = to;
        while to >= least {
            let period = self.period_at(to);
            let shown = self.cursor.at_or_before(to + period.ahead, first);
            let start = shown.filter(|local| *local >= period.first_local()).map(|local| local - period.ahead);
            let (skipped_from, skipped_to) = period.gap();
            let skipped = (skipped_from < skipped_to)
                .then(|| self.cursor.at_or_before((to + period.ahead_before).min(skipped_to - 1), first))
                .flatten()
                .filter(|local| *local >= skipped_from)
                .map(|local| local - period.ahead_before);
            if let Some(start) = start.into_iter().chain(skipped).max() {
                return (start >= least).then_some(start);
            }
            // Nothing is left in this period. Continue where the previous local time can be.
            to = (period.start.checked_sub(1)?).min(shown? + MARGIN);
        }
        None
    }
}
