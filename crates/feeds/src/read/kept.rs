//! Series that are kept as series.

use kalends_calendars::{EXDATES_MAX, OVERRIDES_MAX, Recurrence};
use kalends_recurrence::{Length, MAX_COUNTED, Rule, Series, SeriesError, Until};
use kalends_time::{CivilDate, SignedDuration, Timestamp, Zone};

use super::draft::Draft;
use super::expand::Expansion;
use super::feed::{SkipReason, What};
use super::gather::{Change, Changes, Gathered, Texts, item};
use super::timing::{Lasts, Timing, instant};
use super::values::DAY;
use crate::limits::{MORE_STARTS_MAX, TIMES_A_DAY_MAX};

/// A part of a series with one rule: the whole series, or the part before or after an override of all later
/// occurrences.
struct Piece<'a> {
    draft: &'a Draft,
    timing: Timing,
    /// Distinguishes it from the other piece.
    id: Option<Timestamp>,
    series: Series,
    exdates: Vec<Timestamp>,
    /// The overrides, by the start that this piece gives the occurrence.
    changes: Vec<(Timestamp, &'a Change<'a>)>,
}

/// The rule of a series, split so that it can get another end.
struct Ruled {
    /// The rule without its end.
    rule: Rule,
    zone: Zone,
    count: Option<u32>,
    until: Option<Until>,
}

impl Gathered<'_> {
    /// Adds a series that is kept as a series. `false` if it cannot be one.
    pub(super) fn add_series(
        &mut self,
        master: &Draft,
        timing: &Timing,
        changes: &Changes<'_>,
    ) -> Result<bool, SkipReason> {
        let Some(ruled) = self.ruled(master, timing) else { return Ok(false) };
        let Some((timing, ruled)) = self.since_1970(master, timing, ruled)? else { return Ok(false) };
        // The cost of counting the series. Reading a window costs little and is not counted.
        self.zones.steps.take(100 + u64::from(ruled.count.unwrap_or(0)))?;
        let Some(series) = ruled.series(&timing)? else { return Ok(false) };
        let piece = Piece {
            draft: master,
            id: None,
            exdates: self.excluded(master, &timing, changes)?,
            changes: changes.single.iter().map(|(start, change)| (instant(*start), change)).collect(),
            series,
            timing,
        };
        let mut and_later = changes.and_later.iter();
        let pieces = match (and_later.next(), and_later.next()) {
            (None, _) => Some(vec![piece]),
            (Some((from, change)), None) if master.dates.is_empty() => self.split(piece, &ruled, *from, change)?,
            _ => None,
        };
        let Some(pieces) = pieces else { return Ok(false) };
        if !self.bounded(&pieces)? {
            return Ok(false);
        }
        let more_starts = pieces.iter().map(|piece| times_a_day(piece.series.rule()) - 1).sum::<usize>();
        if self.more_starts + more_starts > MORE_STARTS_MAX {
            return Ok(false);
        }
        self.more_starts += more_starts;
        for piece in &pieces {
            self.add_piece(piece)?;
        }
        Ok(true)
    }

    /// The rule of a series, if it does not repeat more often than events of a calendar do.
    fn ruled(&self, master: &Draft, timing: &Timing) -> Option<Ruled> {
        let [rule] = master.rules.as_slice() else { return None };
        if occurs_often(rule) || !master.excluded_rules.is_empty() {
            return None;
        }
        let zone = timing.clock.zone()?;
        let endless = rule.to_builder().without_end().build().ok()?;
        Some(Ruled { rule: endless, zone, count: rule.count(), until: self.until(rule, timing) })
    }

    fn until(&self, rule: &Rule, timing: &Timing) -> Option<Until> {
        let until = rule.until()?;
        if timing.is_all_day() || matches!(until, Until::Date(_)) {
            let last = timing.clock.shows(instant(self.last_start(rule, timing)));
            return Some(Until::Date(CivilDate::from_days(last.div_euclid(DAY))));
        }
        Some(Until::Timestamp(instant(self.last_start(rule, timing))))
    }

    /// The part of a series from 1970 on. Birthdays, for example, may begin centuries earlier.
    fn since_1970(
        &mut self,
        master: &Draft,
        timing: &Timing,
        mut ruled: Ruled,
    ) -> Result<Option<(Timing, Ruled)>, SkipReason> {
        let earliest = Timestamp::EPOCH.as_unix_seconds();
        if timing.start >= earliest {
            return if timing.times().is_some() { Ok(Some((timing.clone(), ruled))) } else { Err(SkipReason::Years) };
        }
        let Some(rule) = master.rules.first() else { return Ok(None) };
        let expansion = Expansion::new(rule, timing.local);
        let mut generated = expansion.starts(-2 * DAY, Timestamp::HORIZON.as_unix_seconds());
        while let Some(local) = generated.next(&mut self.zones.steps)? {
            let moved = timing.moved_to(local);
            if moved.start >= earliest {
                if moved.start > self.last_start(rule, timing) {
                    break;
                }
                return Ok(moved.times().map(|_| (moved, ruled)));
            }
            ruled.count = ruled.count.map(|count| count.saturating_sub(1));
        }
        Err(SkipReason::Years)
    }

    fn excluded(
        &mut self,
        master: &Draft,
        timing: &Timing,
        changes: &Changes<'_>,
    ) -> Result<Vec<Timestamp>, SkipReason> {
        self.zones.steps.take(master.excluded.len().try_into().unwrap_or(u64::MAX))?;
        let starts = master.excluded.iter().map(|when| timing.start_of(*when, master.calendar, &mut self.zones));
        Ok(starts.filter(|start| !changes.and_later.contains_key(start)).map(instant).collect())
    }

    /// The series before an override of all later occurrences, and the one after it. `None` if the later occurrences do
    /// not repeat by the same rule.
    fn split<'d>(
        &mut self,
        piece: Piece<'d>,
        ruled: &Ruled,
        from: i64,
        change: &'d Change<'d>,
    ) -> Result<Option<Vec<Piece<'d>>>, SkipReason> {
        let at = instant(from);
        self.zones.steps.take(ruled.count.unwrap_or(0).into())?;
        // An override at the very start of the second piece would have the identifier of that piece.
        if !piece.series.is_occurrence(at) || piece.changes.iter().any(|(start, _)| *start == at) {
            return Ok(None);
        }
        let later = match &change.timing {
            // The feed has an override after the end of the series, which still takes place.
            None if piece.changes.iter().any(|(start, change)| *start > at && change.timing.is_some()) => {
                return Ok(None);
            }
            None => None,
            Some(timing) => {
                let Some(later) = self.later(&piece, ruled, at, change.draft, timing)? else { return Ok(None) };
                Some(later)
            }
        };
        let earlier = if at > piece.series.first_start() { piece.before(ruled, at)? } else { None };
        Ok(Some(earlier.into_iter().chain(later).collect()))
    }

    fn later<'d>(
        &mut self,
        piece: &Piece<'d>,
        ruled: &Ruled,
        at: Timestamp,
        draft: &'d Draft,
        timing: &Timing,
    ) -> Result<Option<Piece<'d>>, SkipReason> {
        // The rule would keep its times although the later occurrences have others.
        if ruled.rule.names_times() {
            return Ok(None);
        }
        let was = piece.local_time(at);
        let same_day = timing.local.div_euclid(DAY) == was.div_euclid(DAY);
        let same_clock = timing.clock.zone() == Some(ruled.zone) && timing.is_all_day() == piece.timing.is_all_day();
        if !same_day || !same_clock || timing.times().is_none() {
            return Ok(None);
        }
        let before = piece.series.starts(piece.series.first_start()..at);
        let before = u32::try_from(if ruled.count.is_some() { before.count() } else { 0 }).unwrap_or(u32::MAX);
        let shift = timing.start - at.as_unix_seconds();
        let rest = Ruled {
            rule: ruled.rule.clone(),
            zone: ruled.zone,
            count: ruled.count.map(|count| count.saturating_sub(before)),
            until: ruled.until.map(|until| match until {
                Until::Timestamp(until) => Until::Timestamp(until + SignedDuration::seconds(shift)),
                other => other,
            }),
        };
        let Some(series) = rest.series(timing)? else { return Ok(None) };
        let moved = |start: Timestamp| {
            timing.clock.at(piece.local_time(start).saturating_add(timing.local).saturating_sub(was))
        };
        let later = |start: &Timestamp| *start >= at;
        let exdates = piece.exdates.iter().copied().filter(later).map(moved).collect();
        let changes =
            piece.changes.iter().filter(|(start, _)| later(start)).map(|(start, change)| (moved(*start), *change));
        let changes = changes.collect();
        Ok(Some(Piece { draft, timing: timing.clone(), id: Some(at), series, exdates, changes }))
    }

    /// Whether the exceptions of all pieces are within the limits.
    fn bounded(&mut self, pieces: &[Piece<'_>]) -> Result<bool, SkipReason> {
        let mut fits = true;
        for piece in pieces {
            let looked_up = piece.exdates.len() + piece.changes.len();
            self.zones.steps.take(looked_up.try_into().unwrap_or(u64::MAX))?;
            let cancelled = piece.changes.iter().filter(|(_, change)| change.timing.is_none()).count();
            fits &= piece.exdates.len() + cancelled <= EXDATES_MAX && piece.changes.len() - cancelled <= OVERRIDES_MAX;
        }
        Ok(fits)
    }

    fn add_piece(&mut self, piece: &Piece<'_>) -> Result<(), SkipReason> {
        let mut exdates = piece.exdates.clone();
        let mut overridden = Vec::new();
        for (start, change) in &piece.changes {
            match change.timing {
                None => exdates.push(*start),
                Some(_) => overridden.push(*start),
            }
        }
        // An occurrence that is excluded but also overridden takes place as overridden.
        exdates.retain(|start| !overridden.contains(start));
        let recurrence = Recurrence::of_series(&piece.series, exdates, overridden);
        for (start, Change { draft, timing }) in &piece.changes {
            let Some(timing) = timing else { continue };
            let Some(times) = timing.times() else {
                self.skip(draft, SkipReason::Years);
                continue;
            };
            let of_series = recurrence.overridden().binary_search(start).is_ok();
            let what = if of_series { What::Override { series: piece.id } } else { What::Once };
            self.items.push(item(draft, timing, times, Some(*start), what));
        }
        self.add_dates_outside_rule(piece, &recurrence)?;
        let times = piece.timing.times().ok_or(SkipReason::Years)?;
        let what = What::Series(Box::new(recurrence));
        self.items.push(item(piece.draft, &piece.timing, times, piece.id, what));
        Ok(())
    }

    /// Adds the dates of `RDATE` that the rule does not have.
    fn add_dates_outside_rule(&mut self, piece: &Piece<'_>, recurrence: &Recurrence) -> Result<(), SkipReason> {
        if piece.draft.dates.is_empty() {
            return Ok(());
        }
        let mut found = std::collections::BTreeMap::new();
        self.add_dates(piece.draft, &piece.timing, &mut found)?;
        let texts = Texts::of(piece.draft);
        for (start, timing) in found {
            let start = instant(start);
            self.zones.steps.take(1)?;
            let changed = piece.changes.iter().any(|(changed, _)| *changed == start);
            if changed || piece.series.is_occurrence(start) || recurrence.exdates().binary_search(&start).is_ok() {
                continue;
            }
            self.add_occurrence(piece.draft, &timing, start, &texts)?;
        }
        Ok(())
    }
}

impl Ruled {
    /// The series with this first occurrence. `None` if there is none.
    fn series(&self, timing: &Timing) -> Result<Option<Series>, SkipReason> {
        let rule = self.rule.to_builder();
        let rule = match (self.count, self.until) {
            (Some(0), _) => return Err(SkipReason::Never),
            (Some(count), _) if count > MAX_COUNTED => return Ok(None),
            (Some(count), _) => rule.count(count),
            (None, Some(until)) => rule.until(until),
            (None, None) => rule,
        };
        let length = match timing.lasts {
            Lasts::Days(days) => u16::try_from(days).ok().and_then(|days| Length::days(days).ok()),
            // The start is in a gap. A series continues by the wall clock time of its start, which is then not the one
            // in the feed.
            Lasts::Time(_) if timing.clock.shows(instant(timing.start)) != timing.local => None,
            Lasts::Time(_) => Length::elapsed(timing.length()).ok(),
            // Nominal days have a fixed length only in UTC.
            Lasts::Nominal(_) if self.zone != Zone::UTC => None,
            Lasts::Nominal(_) => Length::elapsed(timing.length()).ok(),
        };
        let (Ok(rule), Some(length)) = (rule.build(), length) else { return Ok(None) };
        match Series::new(rule, instant(timing.start), self.zone, length) {
            Ok(series) => Ok(Some(series)),
            Err(SeriesError::UntilBeforeStart { .. }) => Err(SkipReason::Never),
            Err(SeriesError::Range { .. }) => Err(SkipReason::Years),
            // The start takes place even if the rule has no date, so there is one occurrence.
            Err(_) => Ok(None),
        }
    }
}

impl<'d> Piece<'d> {
    /// The local time of an occurrence. If it is in a gap, the time by the series, not the one that the clocks show.
    fn local_time(&self, start: Timestamp) -> i64 {
        let clock = &self.timing.clock;
        let clock_time = clock.shows(start);
        let of_series = clock_time.div_euclid(DAY) * DAY + self.timing.local.rem_euclid(DAY);
        if clock.at(of_series) == start { of_series } else { clock_time }
    }

    /// The part before `at`.
    fn before(mut self, ruled: &Ruled, at: Timestamp) -> Result<Option<Self>, SkipReason> {
        let until = Some(Until::Timestamp(at - SignedDuration::seconds(1)));
        let cut = Ruled { rule: ruled.rule.clone(), zone: ruled.zone, count: None, until };
        let Some(series) = cut.series(&self.timing)? else { return Ok(None) };
        self.series = series;
        self.exdates.retain(|start| *start < at);
        self.changes.retain(|(start, _)| *start < at);
        Ok(Some(self))
    }
}

/// Whether a rule repeats more often than [`TIMES_A_DAY_MAX`], or by a period shorter than a day. Its occurrences are too
/// many to be expanded whenever availability is asked for.
fn occurs_often(rule: &Rule) -> bool {
    rule.frequency().is_shorter_than_a_day() || times_a_day(rule) > TIMES_A_DAY_MAX
}

/// The number of times on each day of a rule that is not shorter than a day.
fn times_a_day(rule: &Rule) -> usize {
    rule.hours().count().max(1) * rule.minutes().count().max(1) * rule.seconds().count().max(1)
}
