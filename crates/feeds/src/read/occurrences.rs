//! Series that cannot be kept as series, expanded to their occurrences.

use std::collections::BTreeMap;

use kalends_recurrence::{Rule, Until};
use kalends_time::Timestamp;

use super::draft::Draft;
use super::expand::Expansion;
use super::feed::What;
use super::feed::{SkipReason, Warning};
use super::gather::{Change, Changes, Gathered, Texts, item};
use super::steps::Exhausted;
use super::timing::{Timing, instant};
use super::values::{DAY, Form, local_seconds};
use crate::limits::{EXPANDED_AHEAD, EXPANDED_BACK, OCCURRENCES_MAX};

/// The occurrences of a series by their starts, in seconds.
type Found = BTreeMap<i64, Timing>;

impl From<Exhausted> for SkipReason {
    fn from(_: Exhausted) -> Self {
        Self::Work
    }
}

impl Gathered<'_> {
    /// Adds the occurrences of a series around the present. Dates that are named one by one are added wherever they
    /// are, because their number is finite.
    pub(super) fn add_expanded(
        &mut self,
        master: &Draft,
        timing: &Timing,
        changes: &Changes<'_>,
    ) -> Result<(), SkipReason> {
        // An event that is longer than all supported years fits nowhere.
        if timing.length() > Timestamp::HORIZON - Timestamp::EPOCH {
            return Err(SkipReason::Years);
        }
        let mut found = Found::new();
        if master.rules.is_empty() {
            timing.times().ok_or(SkipReason::Years)?;
            found.insert(timing.start, timing.clone());
        }
        for rule in &master.rules {
            self.generate(rule, timing, &mut found)?;
        }
        self.add_dates(master, timing, &mut found)?;
        self.exclude(master, timing, changes, &mut found)?;
        let moved: BTreeMap<i64, i64> =
            changes.and_later.keys().filter_map(|start| Some((*start, found.get(start)?.local))).collect();
        for start in changes.single.keys() {
            found.remove(start);
        }
        if found.len() > OCCURRENCES_MAX {
            self.zones.warnings.insert(Warning::Shortened { uid: master.uid.clone() });
        }
        let texts: BTreeMap<i64, Texts> =
            changes.and_later.iter().map(|(start, change)| (*start, Texts::of(change.draft))).collect();
        let of_master = Texts::of(master);
        for (start, timing) in found.into_iter().take(OCCURRENCES_MAX) {
            let id = instant(start);
            match changes.and_later.range(..=start).next_back() {
                None => self.add_occurrence(master, &timing, id, &of_master)?,
                Some((_, Change { timing: None, .. })) => {}
                Some((from, Change { draft, timing: Some(changed) })) => {
                    let local_at = |start, local: Option<i64>| match local {
                        // In a gap, the clocks show another time than the series has.
                        Some(local) if changed.clock.is(&timing.clock) => local,
                        _ => changed.clock.shows(instant(start)),
                    };
                    let by = changed.local - local_at(*from, moved.get(from).copied());
                    let timing = changed.moved_to(local_at(start, Some(timing.local)) + by);
                    self.add_occurrence(draft, &timing, id, texts.get(from).unwrap_or(&of_master))?;
                }
            }
        }
        for (start, Change { draft, timing }) in &changes.single {
            let Some(timing) = timing else { continue };
            match timing.times() {
                Some(times) => self.items.push(item(draft, timing, times, Some(instant(*start)), What::Once)),
                None => self.skip(draft, SkipReason::Years),
            }
        }
        Ok(())
    }

    /// Adds the dates of `RDATE`. A date that the rule has too counts as the rule's.
    pub(super) fn add_dates(&mut self, master: &Draft, timing: &Timing, found: &mut Found) -> Result<(), SkipReason> {
        for (when, ends) in &master.dates {
            self.zones.steps.take(1)?;
            let local = timing.local_of(*when, master.calendar, &mut self.zones);
            let form = if timing.is_all_day() { Form::Date } else { Form::Floating };
            let start = super::values::When { local, form };
            let made = Timing::from(start, timing.clock.clone(), *ends, timing.lasts, master.calendar, &mut self.zones);
            match made {
                Ok(occurrence) => {
                    found.entry(occurrence.start).or_insert(occurrence);
                }
                // A period that ends before it begins is left out.
                Err(_) => {
                    self.zones.warnings.insert(Warning::Date { uid: master.uid.clone() });
                }
            }
        }
        Ok(())
    }

    fn exclude(
        &mut self,
        master: &Draft,
        timing: &Timing,
        changes: &Changes<'_>,
        found: &mut Found,
    ) -> Result<(), SkipReason> {
        for when in &master.excluded {
            self.zones.steps.take(1)?;
            let start = timing.start_of(*when, master.calendar, &mut self.zones);
            // An occurrence that is excluded but also overridden takes place.
            if !changes.and_later.contains_key(&start) {
                found.remove(&start);
            }
        }
        for rule in &master.excluded_rules {
            let mut excluded = Found::new();
            self.generate(rule, timing, &mut excluded)?;
            found.retain(|start, _| !excluded.contains_key(start));
        }
        Ok(())
    }

    /// Adds the occurrences of a rule around the present. Stops at one more than the limit, so that the caller notices.
    fn generate(&mut self, rule: &Rule, timing: &Timing, found: &mut Found) -> Result<(), SkipReason> {
        let now = self.zones.context.now;
        let (from, until) = (now - EXPANDED_BACK, now + EXPANDED_AHEAD);
        // Clock changes and days of different length make a difference of less than this.
        let margin = if timing.is_all_day() { 2 * DAY } else { DAY / 8 };
        let first = timing.clock.shows(from - timing.length()) - margin;
        let expansion = Expansion::new(rule, timing.local);
        let mut generated = expansion.starts(first, timing.clock.shows(until) + margin);
        let last = self.last_start(rule, timing);
        let mut count = 0;
        while let Some(local) = generated.next(&mut self.zones.steps)? {
            self.zones.steps.take(1)?;
            let occurrence = timing.moved_to(local);
            if occurrence.start > last || occurrence.start >= until.as_unix_seconds() {
                break;
            }
            if occurrence.end() > from.as_unix_seconds() {
                found.entry(occurrence.start).or_insert(occurrence);
                count += 1;
            }
            if count > OCCURRENCES_MAX {
                break;
            }
        }
        Ok(())
    }

    /// The last instant, in seconds, at which `UNTIL` lets an occurrence start.
    pub(super) fn last_start(&self, rule: &Rule, timing: &Timing) -> i64 {
        let after = |day: i64| timing.clock.seconds_at((day + 1) * DAY) - 1;
        match rule.until() {
            None => i64::MAX,
            Some(Until::Date(date)) => after(date.as_days()),
            // A series of whole days ends with a day, in whatever form a producer writes it. Midnight in UTC means the
            // day that it names. Any other instant is within the day that it means.
            Some(Until::Timestamp(until)) if timing.is_all_day() => {
                let seconds = until.as_unix_seconds();
                let local = if seconds.rem_euclid(DAY) == 0 { seconds } else { timing.clock.shows(until) };
                after(local.div_euclid(DAY))
            }
            Some(Until::Local(until)) if timing.is_all_day() => after(until.date.as_days()),
            Some(Until::Timestamp(until)) => until.as_unix_seconds(),
            Some(Until::Local(until)) => timing.clock.seconds_at(local_seconds(until)),
        }
    }
}
