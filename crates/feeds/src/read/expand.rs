//! Expands a rule in local time, and counts each step.
//!
//! This is for rules that cannot stay series, and for the zones that a feed describes itself. The expansion of a rule
//! without `COUNT` starts at the window, however long ago the rule began.

use kalends_recurrence::{FloatingSeries, FloatingStarts, Rule};
use kalends_time::CivilDateTime;

use super::steps::{Exhausted, Steps};

/// A rule and its first start, by the clock of an event or a zone.
#[derive(Debug)]
pub(super) struct Expansion {
    series: FloatingSeries,
    start: i64,
    count: Option<u32>,
}

impl Expansion {
    /// `start` is in local seconds.
    pub(super) fn new(rule: &Rule, start: i64) -> Self {
        Self { series: FloatingSeries::new(rule, civil(start)), start, count: rule.count() }
    }

    /// The times that the rule generates up to and including `until`, all in local seconds. Times before `from` may be
    /// left out, unless the rule has a `COUNT`.
    pub(super) fn starts(&self, from: i64, until: i64) -> Generated<'_> {
        let from = if self.count.is_some() { self.start } else { from.max(self.start) };
        let starts = self.series.starts(civil(from)..civil(until.saturating_add(1)));
        Generated { starts, taken: 0, left: self.count }
    }
}

/// The local times of an [`Expansion`], ascending.
#[derive(Debug)]
pub(super) struct Generated<'a> {
    starts: FloatingStarts<'a>,
    taken: u64,
    /// The number of occurrences that `COUNT` leaves.
    left: Option<u32>,
}

impl Generated<'_> {
    /// The next local time.
    pub(super) fn next(&mut self, steps: &mut Steps) -> Result<Option<i64>, Exhausted> {
        if self.left == Some(0) {
            return Ok(None);
        }
        self.starts.limit_steps(self.taken.saturating_add(steps.left()));
        let next = self.starts.next();
        if self.starts.is_exhausted() {
            return Err(Exhausted);
        }
        steps.take(self.starts.steps() - self.taken)?;
        self.taken = self.starts.steps();
        self.left = self.left.map(|left| left - 1);
        Ok(next.and_then(CivilDateTime::as_micros).map(|micros| micros.div_euclid(1_000_000)))
    }
}

fn civil(local: i64) -> CivilDateTime {
    CivilDateTime::from_micros(local.saturating_mul(1_000_000))
}
